/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened when, in slots of equal width: 1 s at first, doubled whenever the trace outgrows
 * them. Memory does not grow with the trace. Connections count where they were accepted.
 */
#ifndef PGDNSTRACE_TIMELINE_H
#define PGDNSTRACE_TIMELINE_H

#include "model/event.h"

#define TIMELINE_SLOTS 240

struct slot {
	uint32_t outcomes[OUTCOME_COUNT];
	uint64_t phases_ns[PHASE_COUNT]; /* sums */
	bool has_tick, has_queue;
	uint32_t in_setup, accept_queue; /* the highest told by a tick */
};

struct timeline {
	int64_t base_ns, width_ns; /* base: a multiple of width, since 1970 */
	unsigned int used; /* slots; 0: nothing yet */
	struct slot slots[TIMELINE_SLOTS];
};

void timeline_reset(struct timeline *t);
void timeline_conn(struct timeline *t, const struct conn *c);
void timeline_tick(struct timeline *t, int64_t at_ns, const struct tick *tick);

#endif
