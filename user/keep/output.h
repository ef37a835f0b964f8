/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -o FILE and -o -: the stream as a trace that grows in place. Flushed at least every second;
 * ticks every 10 s of the stream's; SIGHUP reopens it. When the disk is full one message is
 * logged, and the trace goes on without the file.
 */
#ifndef PGDNSTRACE_OUTPUT_H
#define PGDNSTRACE_OUTPUT_H

#include "model/stats.h"

struct output;

/* path "-" is standard output; an existing file is refused. -errno with a sentence in err. f
 * outlives it. */
int output_open(struct output **out, const char *path, const struct filter *f, char *err,
		size_t err_len);
/* 0 also when the disk is full (output_failed() tells); -EPIPE when standard output was closed. */
int output_event(struct output *o, const struct event *ev);
/* Call at least every 100 ms: flushes when a second has passed. Errors as output_event(). */
int output_tick(struct output *o);
/*
 * SIGHUP: the old file gets its end (reason "reopened", the verdict of s, its own
 * totals), a new one the last start again. The old one must have been renamed; when the path still
 * exists it is gone on with.
 */
int output_reopen(struct output *o, struct stats *s);
/*
 * The server of this part of the trace has ended and another one will be traced: the part gets its end
 * (ev), with its own totals; the next start begins another part in the same file.
 */
int output_part(struct output *o, const struct event *ev);
/* True when something could not be written: the program exits with 1. */
bool output_failed(const struct output *o);
void output_close(struct output *o); /* accepts NULL */

#endif
