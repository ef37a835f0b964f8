/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces in other people's formats. A format is a consumer of the stream that writes as it reads:
 * constant memory on any length. One row of the table is one format.
 */
#ifndef PGDNSTRACE_EXPORT_H
#define PGDNSTRACE_EXPORT_H

#include <stdio.h>

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
 * A format at work. Of the connections in setup it gets to see those that still were at the end:
 * the list that a window holds as of its trigger is of connections that end or are listed again.
 * Which list it was shows in what follows it, so they are held until then. Those that were under
 * way before tracing began are left out: nothing of them was measured.
 */
struct exporter {
	const struct export_format *format;
	void *state;
	struct event *held; /* EVENT_IN_SETUP each */
	size_t held_count, held_room;
};
int exporter_open(struct exporter *x, const struct export_format *format, FILE *out);
int exporter_event(void *exporter, const struct event *ev); /* an event_sink */
int exporter_close(struct exporter *x); /* writes what is left; 0 or -errno */

/* -errno of a stream that failed, 0 of one that did not. Call right after writing. */
int export_status(FILE *out);

#endif
