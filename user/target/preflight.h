/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can it trace here? Everything that is known without attaching a probe, as a list: what holds,
 * what will be missing from the picture, what bars tracing altogether, and how to get it.
 */
#ifndef PGDNSTRACE_PREFLIGHT_H
#define PGDNSTRACE_PREFLIGHT_H

#include "target/target.h"

/* (CONSTANT, "name as it is shown"). */
#define CHECK_STATES(X)                                                                            \
	X(OK, "ok")                                                                                \
	X(DEGRADED, "degraded") /* it traces, and the text says what goes missing */               \
	X(MISSING, "missing")   /* it cannot trace: exit code 3 */

#define CHECK_ENUM(name, text) CHECK_##name,
enum check_state { CHECK_STATES(CHECK_ENUM) CHECK_STATE_COUNT };
#undef CHECK_ENUM

struct check {
	const char *name; /* "kernel", "symbols": a constant, several checks may share it */
	enum check_state state;
	char text[512];   /* one sentence without a full stop */
	char remedy[256]; /* what to do, "" when nothing is wrong */
};

#define PREFLIGHT_MAX 48

struct preflight {
	int count;
	struct check checks[PREFLIGHT_MAX];
};

const char *check_state_name(enum check_state state);

/* Appends what can be said of the host. btf: the file to take the kernel's types from, NULL: the
 * kernel's. */
void preflight_host(struct preflight *p, const char *btf);
/* Appends what can be said of an opened target. */
void preflight_target(struct preflight *p, const struct target *t);
/* For findings of others, such as an experiment with return probes. The text is set by the caller.
 */
struct check *preflight_add(struct preflight *p, const char *name, enum check_state state);
/*
 * 0, or -ENOTSUP with the first thing that bars tracing, its remedy and exit code 3 in problem.
 */
int preflight_verdict(const struct preflight *p, struct problem *problem);

/* All of it before anything is attached: the verdict, and each finding as a debug message. */
int preflight_run(const struct target *t, const char *btf, struct problem *problem);

/* Whether the text of /sys/kernel/security/lockdown says that kernel memory may not be read. */
bool preflight_locked_down(const char *lockdown);

#endif
