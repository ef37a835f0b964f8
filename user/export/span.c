/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/span.h"

static bool in_setup(const struct conn *c)
{
	return c->outcome == OUTCOME_NONE;
}

/* Duration of a phase, that of the phase under way included. */
static bool phase_ns(const struct conn *c, enum phase p, int64_t *ns)
{
	bool under_way = in_setup(c) && p == c->phase;

	*ns = 0;
	if (c->phases_present & 1u << p)
		*ns = c->phases_ns[p];
	else if (under_way)
		*ns = c->in_phase_ns;
	else
		return false;
	return true;
}

bool span_phase(const struct conn *c, enum phase p, struct span *s)
{
	int64_t ns, from = c->at_ns;

	if (!phase_ns(c, p, &ns))
		return false;
	if (p == PHASE_QUEUE) {
		*s = (struct span){ from - ns, from };
		return true;
	}
	for (enum phase q = PHASE_QUEUE + 1; q < p; q++) {
		int64_t before;

		if (phase_ns(c, q, &before))
			from += before;
	}
	*s = (struct span){ from, from + ns };
	return true;
}

struct span span_conn(const struct conn *c)
{
	struct span all = { c->at_ns, c->at_ns }, s;

	for (enum phase p = 0; p < PHASE_COUNT; p++) {
		if (!span_phase(c, p, &s))
			continue;
		if (s.from_ns < all.from_ns)
			all.from_ns = s.from_ns;
		if (s.to_ns > all.to_ns)
			all.to_ns = s.to_ns;
	}
	if (c->has_total && c->at_ns + (int64_t)c->total_ns > all.to_ns)
		all.to_ns = c->at_ns + c->total_ns;
	return all;
}

bool span_lookup(const struct conn *c, const struct lookup *l, const struct span *phase,
		 int64_t *after_ns, struct span *s)
{
	int64_t from = c->at_ns + l->at_ns, to = from + l->dur_ns;

	if (from < phase->from_ns || from >= phase->to_ns)
		return false;
	if (from < *after_ns)
		from = *after_ns;
	if (to > phase->to_ns)
		to = phase->to_ns;
	if (to < from)
		to = from;
	*after_ns = to;
	*s = (struct span){ from, to };
	return true;
}
