/* SPDX-License-Identifier: BSD-2-Clause */
/* Which probe sits where: the plan for a server's version and the symbols that it has. */
#ifndef PGDNSTRACE_ATTACH_H
#define PGDNSTRACE_ATTACH_H

#include "target/target.h"

/*
 * The uprobe programs, as the skeleton names them: (CONSTANT, program, function, at its return,
 * phase that goes missing without it).
 */
#define PROBES(X)                                                                                  \
	X(GETNAMEINFO_ENTER, on_getnameinfo_enter, GETNAMEINFO, false, PHASE_HOSTNAME)             \
	X(GETNAMEINFO_RETURN, on_getnameinfo_return, GETNAMEINFO, true, PHASE_STARTUP)             \
	X(TLS_ENTER, on_tls_enter, SECURE_OPEN_SERVER, false, PHASE_UNKNOWN)                       \
	X(TLS_RETURN, on_tls_return, SECURE_OPEN_SERVER, true, PHASE_UNKNOWN)                      \
	X(GSS_ENTER, on_gss_enter, SECURE_OPEN_GSSAPI, false, PHASE_UNKNOWN)                       \
	X(GSS_RETURN, on_gss_return, SECURE_OPEN_GSSAPI, true, PHASE_UNKNOWN)                      \
	X(INIT_PROCESS, on_init_process, INIT_PROCESS, false, PHASE_JOIN)                          \
	X(INIT_POSTGRES, on_init_postgres, INIT_POSTGRES, false, PHASE_UNKNOWN)                    \
	X(AUTH_ENTER, on_auth_enter, CLIENT_AUTHENTICATION, false, PHASE_AUTH)                     \
	X(AUTH_RETURN, on_auth_return, CLIENT_AUTHENTICATION, true, PHASE_PREPARE)                 \
	X(ERRCODE, on_errcode, ERRCODE, false, PHASE_UNKNOWN)                                      \
	X(LOGIN_ENTER, on_login_enter, EVENT_TRIGGER_LOGIN, false, PHASE_LOGIN)                    \
	X(READY_LOGIN, on_ready_return, EVENT_TRIGGER_LOGIN, true, PHASE_LOGIN)                    \
	X(READY_REPORT, on_ready_enter, REPORT_CONNECT, false, PHASE_UNKNOWN)                      \
	X(READY_BEGIN, on_ready_enter, BEGIN_REPORTING, false, PHASE_UNKNOWN)                      \
	X(ACCEPT_STREAM, on_accept_return, STREAM_CONNECTION, true, PHASE_FORK)                    \
	X(ACCEPT, on_accept_return, ACCEPT_CONNECTION, true, PHASE_FORK)

#define ATTACH_ENUM(name, ...) PROBE_##name,
enum probe { PROBES(ATTACH_ENUM) PROBE_COUNT };
#undef ATTACH_ENUM

enum function probe_function(enum probe p);
bool probe_at_return(enum probe p);
/* Bits of the phases that go missing without it: queue goes with fork. */
unsigned int probe_missing_phases(enum probe p);

#define RETURN_SITES_MAX 16

/* File offsets at which a return of the function is seen without a return probe. */
struct return_sites {
	uint64_t offsets[RETURN_SITES_MAX];
	int count;
};

struct plan {
	bool use[PROBE_COUNT]; /* in this order: what opens records comes last */
	bool return_sites; /* plain probes on sites[] instead of return probes */
	struct return_sites sites[PROBE_COUNT];
	unsigned int missing_phases;
};

struct plan_options {
	bool sqlstate; /* probe errcode() */
	bool return_probes; /* false: return sites */
};

/*
 * Plans for t->symbols. Each function that this version should have and the file has not, or whose
 * return sites cannot be told for sure, is named once (log_warn) with what goes missing. -ENOENT
 * with problem filled when nothing can be told without it: pg_getnameinfo_all, or every ready marker.
 */
int plan_make(struct plan *plan, const struct target *t, const struct plan_options *o,
	      struct problem *problem);
/*
 * These probes (a bit each) never fire: names their functions (log_warn) and what is missing, and moves on
 * to the next ready marker. True when that has to be attached: plan_ready().
 */
bool plan_silence(struct plan *plan, const struct target *t, unsigned int bits);
/* The marker used for ready, PROBE_COUNT: none. */
enum probe plan_ready(const struct plan *plan);

#endif
