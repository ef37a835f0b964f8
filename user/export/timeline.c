/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/timeline.h"

#include <string.h>

#include "base/clock.h"

static int64_t floor_to(int64_t value, int64_t width)
{
	int64_t rest = value % width;

	return value - (rest < 0 ? rest + width : rest);
}

static void slot_add(struct slot *into, const struct slot *from)
{
	for (int o = 0; o < OUTCOME_COUNT; o++)
		into->outcomes[o] += from->outcomes[o];
	for (int p = 0; p < PHASE_COUNT; p++)
		into->phases_ns[p] += from->phases_ns[p];
	into->has_tick |= from->has_tick;
	into->has_queue |= from->has_queue;
	if (from->in_setup > into->in_setup)
		into->in_setup = from->in_setup;
	if (from->accept_queue > into->accept_queue)
		into->accept_queue = from->accept_queue;
}

/* Twice the width: each slot joins its neighbour, in place, since no slot moves to the right. */
static void timeline_widen(struct timeline *t)
{
	int64_t base = floor_to(t->base_ns, 2 * t->width_ns);
	unsigned int last = 0;

	for (unsigned int i = 0; i < t->used; i++) {
		struct slot slot = t->slots[i];

		last = (t->base_ns + i * t->width_ns - base) / (2 * t->width_ns);
		memset(&t->slots[i], 0, sizeof(slot));
		slot_add(&t->slots[last], &slot);
	}
	t->used = last + 1;
	t->base_ns = base;
	t->width_ns *= 2;
}

/* Slots to put before the first one so that at_ns has its own. */
static int64_t slots_missing(const struct timeline *t, int64_t at_ns)
{
	return at_ns < t->base_ns ? (t->base_ns - floor_to(at_ns, t->width_ns)) / t->width_ns : 0;
}

static bool is_beyond(const struct timeline *t, int64_t at_ns)
{
	int64_t missing = slots_missing(t, at_ns);

	return missing + t->used > TIMELINE_SLOTS ||
	       (at_ns - t->base_ns) / t->width_ns >= TIMELINE_SLOTS;
}

static void timeline_shift(struct timeline *t, unsigned int slots)
{
	memmove(t->slots + slots, t->slots, t->used * sizeof(t->slots[0]));
	memset(t->slots, 0, slots * sizeof(t->slots[0]));
	t->base_ns -= slots * t->width_ns;
	t->used += slots;
}

static struct slot *timeline_at(struct timeline *t, int64_t at_ns)
{
	unsigned int index;

	if (!t->used) {
		t->base_ns = floor_to(at_ns, t->width_ns);
		t->used = 1;
	}
	while (is_beyond(t, at_ns))
		timeline_widen(t);
	timeline_shift(t, slots_missing(t, at_ns));
	index = (at_ns - t->base_ns) / t->width_ns;
	if (index >= t->used)
		t->used = index + 1;
	return &t->slots[index];
}

void timeline_reset(struct timeline *t)
{
	memset(t, 0, sizeof(*t));
	t->width_ns = NS_PER_S;
}

void timeline_conn(struct timeline *t, const struct conn *c)
{
	struct slot *slot = timeline_at(t, c->at_ns);

	slot->outcomes[c->outcome]++;
	for (int p = 0; p < PHASE_COUNT; p++)
		if (c->phases_present & 1u << p)
			slot->phases_ns[p] += c->phases_ns[p];
}

void timeline_tick(struct timeline *t, int64_t at_ns, const struct tick *tick)
{
	struct slot *slot = timeline_at(t, at_ns);

	slot->has_tick = true;
	if (tick->in_setup > slot->in_setup)
		slot->in_setup = tick->in_setup;
	if (!tick->has_accept_queue)
		return;
	slot->has_queue = true;
	if (tick->accept_queue > slot->accept_queue)
		slot->accept_queue = tick->accept_queue;
}
