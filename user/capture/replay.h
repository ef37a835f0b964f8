/* SPDX-License-Identifier: BSD-2-Clause */
/* The other half of capture: a trace file as the same stream of events that a live trace yields. */
#ifndef PGDNSTRACE_REPLAY_H
#define PGDNSTRACE_REPLAY_H

#include "model/event.h"

/*
 * Feeds the events of path ("-" is standard input) between from and to (NULL: all; RFC 3339 or
 * HH:MM:SS of the trace's first day, UTC) to the sink, whose error ends it and is returned.
 * Connections count by their accept; the end has the totals of the span. A file without its end
 * leaves a sentence in message, and so does every error but the sink's ("" then). 0, or -errno.
 */
int replay_file(const char *path, const char *from, const char *to, event_sink sink, void *ctx,
		char *message, size_t len);

/* The same, event by event: for those who choose their own pace. */
struct replay;
int replay_open(struct replay **out, const char *path, const char *from, const char *to,
		char *message, size_t len);
/* 1 and the next event, 0 at the end, or -errno with a sentence in message. */
int replay_next(struct replay *r, struct event *ev, char *message, size_t len);
bool replay_complete(const struct replay *r); /* the file's own end was read */
bool replay_filtered(const struct replay *r); /* it lacks short connections: no percentiles */
void replay_close(struct replay *r); /* accepts NULL */

#endif
