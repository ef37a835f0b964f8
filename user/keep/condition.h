/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --on CONDITION: what opens an incident window. A single value, a percentile, a rate, the number
 * in setup, or the age of the oldest of them. Values of connections still in setup count as far
 * as they go, so that a stuck one is seen before it ends.
 */
#ifndef PGDNSTRACE_CONDITION_H
#define PGDNSTRACE_CONDITION_H

#include <stdio.h>

#include "model/event.h"

/* (CONSTANT, what is asked, an example, what it means): parser, help and man page follow it. */
#define CONDITIONS(X)                                                                              \
	X(VALUE, "METRIC>DURATION", "dns>500ms", "one connection's value")                         \
	X(PERCENTILE, "METRIC.pNN>DURATION", "wait.p99>2s", "percentile over the last 10 s")       \
	X(RATE, "OUTCOME>NUMBER/s", "failed>10/s", "rate over the last 10 s")                      \
	X(IN_SETUP, "in_setup>COUNT", "in_setup>50", "connections in setup now")                   \
	X(OLDEST, "oldest>DURATION", "oldest>3s", "age of the oldest in setup")

#define CONDITION_ENUM(name, form, example, text) CONDITION_##name,
enum condition_kind { CONDITIONS(CONDITION_ENUM) CONDITION_KINDS };
#undef CONDITION_ENUM

#define CONDITION_TEXT_LEN 64
struct condition {
	enum condition_kind kind;
	char text[CONDITION_TEXT_LEN]; /* as the user wrote it */
	int metric;                    /* VALUE, PERCENTILE */
	double percentile;
	enum outcome outcome; /* RATE */
	uint64_t threshold_ns;
	double threshold; /* RATE, IN_SETUP */
};

/* 0, or -EINVAL with the mistake and where it stands in err. */
int condition_parse(const char *text, struct condition *c, char *err, size_t err_len);
/* What --on help prints. */
void condition_help(FILE *out);

struct condition_watch; /* what one condition has to remember: the last 10 s */

struct condition_watch *condition_watch_new(const struct condition *c); /* NULL: out of memory */
void condition_watch_free(struct condition_watch *w);                   /* accepts NULL */
/*
 * True when the condition holds as of this event; value is in its own unit (seconds, a count, a
 * rate per second). Connections answer at once, everything else at each EVENT_SWEEP.
 */
bool condition_holds(struct condition_watch *w, const struct event *ev, double *value);

#endif
