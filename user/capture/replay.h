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

#endif
