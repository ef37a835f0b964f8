/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Incident windows: the connections from some time before a condition came true until some time
 * after it last held, as a trace of their own. Triggers that overlap extend one window; one that
 * does not end is closed after an hour, and the next one begins. A window that cannot be written
 * is told once; tracing goes on, and the next one is tried.
 */
#ifndef PGDNSTRACE_WINDOW_H
#define PGDNSTRACE_WINDOW_H

#include "keep/condition.h"
#include "model/filter.h"

#define WINDOW_CONDITIONS        16
#define WINDOW_BEFORE_DEFAULT_NS (60ULL * 1000000000)
#define WINDOW_AFTER_DEFAULT_NS  (60ULL * 1000000000)
#define WINDOW_REACH_MAX_NS      (86400ULL * 1000000000) /* of --before and --after */
#define WINDOW_KEEP_DEFAULT      10
/* What is kept in memory before a trigger: some 100,000 connections; without --on, 25,000. */
#define WINDOW_CAP_BYTES      (16 << 20)
#define WINDOW_CAP_IDLE_BYTES (4 << 20)

struct window_options {
	unsigned int condition_count;
	struct condition conditions[WINDOW_CONDITIONS];
	uint64_t before_ns, after_ns;
	const char *dir;
	unsigned int keep; /* files of this server in dir; at least 1 */
	size_t cap_bytes;
};

struct window;

/* o and f (what is told, as for -o) outlive it. 0 or -ENOMEM. */
int window_open(struct window **out, const struct window_options *o, const struct filter *f);
/* Every event of the stream, in order. 0 or -ENOMEM: trouble with files is logged. */
int window_event(struct window *w, const struct event *ev);
/* By hand: a person asks. The path that it will have, or NULL when it cannot be written. */
const char *window_trigger(struct window *w);
/* The path of the window being written, or NULL. */
const char *window_current(const struct window *w);
/* How many were written whole. */
unsigned int window_written(const struct window *w);
void window_close(struct window *w); /* accepts NULL; EVENT_END has made an open one whole */

#endif
