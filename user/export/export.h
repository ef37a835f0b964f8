/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces in other people's formats. A format is a consumer of the stream that writes as it reads:
 * constant memory on any length. One row of the table is one format.
 */
#ifndef PGDNSTRACE_EXPORT_H
#define PGDNSTRACE_EXPORT_H

#include <stdio.h>

#include "keep/trace.h"
#include "model/event.h"

#define EXPORT_FORMATS(X)                                                                          \
	X(csv, "one row per connection, for spreadsheets and databases (RFC 4180)")                \
	X(perfetto, "Chrome trace events, for ui.perfetto.dev: a track per connection")            \
	X(otlp, "OpenTelemetry spans as JSON lines, as its file exporter writes them")

struct export_format {
	const char *name, *about;
	void *(*open)(FILE *out); /* NULL: out of memory */
	int (*event)(void *state, const struct event *ev); /* 0 or -errno */
	int (*close)(void *state); /* writes what is left, frees; 0 or -errno */
};

#define EXPORT_DECLARE(name, about)                                                                \
	void *name##_open(FILE *out);                                                              \
	int name##_event(void *state, const struct event *ev);                                     \
	int name##_close(void *state);
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

extern const struct export_format export_formats[]; /* ends with a row without a name */
const struct export_format *export_find(const char *name); /* NULL: no such format */

/*
 * The events a format gets to see: not the lists of those in setup that stand behind a trigger
 * (they end or are listed again later) and not those that were under way before tracing began
 * (nothing of them was measured).
 */
struct export_sift {
	bool behind_trigger;
};
bool export_wants(struct export_sift *sift, const struct event *ev);

/*
 * Reads r to its end into out. 0 or -errno; err gets the reader's message, and is empty when it
 * was the writing that failed. What was read before a bad line is written in any case.
 */
int export_run(const struct export_format *f, struct trace_reader *r, FILE *out, char *err,
	       size_t err_len);

/* -errno of a stream that failed, 0 of one that did not. Call right after writing. */
int export_status(FILE *out);

#endif
