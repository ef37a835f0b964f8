/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace format (JSON Lines, format 1): events to lines and back. Pure text, no file handling
 * but a stream; files and their rules are in keep/file.h.
 */
#ifndef PGDNSTRACE_TRACE_H
#define PGDNSTRACE_TRACE_H

#include <stdio.h>

#include "model/event.h"

#define TRACE_FORMAT   1
#define TRACE_LINE_MAX (1 << 20) /* a longer line is not ours */

#define TRACE_TEXT_MAX (1 << 16) /* no event's line is longer */
/*
 * The event's line, newline included, in buf (no NUL). Its length, 0 for EVENT_SWEEP, or
 * -ENOBUFS when len is too short; TRACE_TEXT_MAX never is.
 */
int trace_line(const struct event *ev, char *buf, size_t len);

/*
 * Writes one event as one line. EVENT_SWEEP writes nothing. Names are made valid UTF-8. 0 or
 * -errno (also -ENOSPC of the stream's buffer being written out).
 */
int trace_write(FILE *out, const struct event *ev);

struct trace_reader; /* reads one trace, line by line, in constant memory */

/* Room for any message of this module. */
#define TRACE_ERR_LEN 1280

/* path "-" is standard input. 0 or -errno with a message for the user in err. */
int trace_open(struct trace_reader **r, const char *path, char *err, size_t err_len);
/*
 * The next event: 1, or 0 at the end of the file, or -errno (bad line, foreign file) with a
 * message naming file and line in err. Unknown types and fields are skipped.
 */
int trace_next(struct trace_reader *r, struct event *ev, char *err, size_t err_len);
/* True once an "end" line was read: without it the file was cut off, and every reader says so. */
bool trace_complete(const struct trace_reader *r);
/* True when "start" names a filter that drops short connections: no percentiles then. */
bool trace_filtered(const struct trace_reader *r);
/* The path as messages have it. */
const char *trace_name(const struct trace_reader *r);
void trace_close(struct trace_reader *r); /* accepts NULL */

#endif
