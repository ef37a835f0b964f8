/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection laid out on the clock: where each phase and lookup begins and ends. The exports that
 * draw time (perfetto, otlp, report) share it. Times are wall clock ns since 1970.
 */
#ifndef PGDNSTRACE_EXPORT_SPAN_H
#define PGDNSTRACE_EXPORT_SPAN_H

#include "model/conn.h"

struct span {
	int64_t from_ns, to_ns; /* from <= to */
};

/* From the handshake (from accept where it was not seen) to the end, or to now while in setup. */
struct span span_conn(const struct conn *c);
/* False when the connection has no such phase. A phase under way ends now. */
bool span_phase(const struct conn *c, enum phase p, struct span *s);

/*
 * The lookup's part of a phase; false when it began in another. Lookups of a phase are in order
 * and do not overlap: *after is where the last one ended, to be passed on (start with 0).
 */
bool span_lookup(const struct conn *c, const struct lookup *l, const struct span *phase,
		 int64_t *after_ns, struct span *s);

#endif
