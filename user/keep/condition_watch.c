/* SPDX-License-Identifier: BSD-2-Clause */
/* Conditions held against the stream. */
#include "keep/condition.h"

#include <stdlib.h>

#include "base/clock.h"
#include "model/hist.h"

#define WATCH_SECONDS 10

/* One second of the last ten. hist is there for percentiles alone. */
struct slot {
	int64_t second;
	uint64_t count;
	struct hist hist;
};

struct condition_watch {
	const struct condition *condition;
	struct slot slots[WATCH_SECONDS];
	struct hist merged;
};

struct condition_watch *condition_watch_new(const struct condition *c)
{
	struct condition_watch *w = calloc(1, sizeof(*w));

	if (w)
		w->condition = c;
	return w;
}

void condition_watch_free(struct condition_watch *w)
{
	free(w);
}

static int64_t second_of(int64_t at_ns)
{
	return at_ns / (int64_t)NS_PER_S;
}

/* The slot of an instant, emptied when it still holds a second long gone. */
static struct slot *slot_at(struct condition_watch *w, int64_t at_ns)
{
	int64_t second = second_of(at_ns);
	struct slot *slot = &w->slots[second % WATCH_SECONDS];

	if (slot->second != second) {
		slot->second = second;
		slot->count = 0;
		hist_reset(&slot->hist);
	}
	return slot;
}

static bool slot_is_recent(const struct slot *slot, int64_t at_ns)
{
	int64_t age = second_of(at_ns) - slot->second;

	return age >= 0 && age < WATCH_SECONDS; /* below 0: the clock was set back */
}

static bool holds_value(const struct condition *c, const struct conn *conn, double *value)
{
	uint64_t ns;

	if (!conn_metric(conn, c->metric, &ns) || ns <= c->threshold_ns)
		return false;
	*value = ns / 1e9;
	return true;
}

static bool holds_rate(struct condition_watch *w, int64_t now_ns, double *value)
{
	uint64_t count = 0;

	for (int i = 0; i < WATCH_SECONDS; i++)
		if (slot_is_recent(&w->slots[i], now_ns))
			count += w->slots[i].count;
	*value = (double)count / WATCH_SECONDS;
	return *value > w->condition->threshold;
}

static bool holds_percentile(struct condition_watch *w, int64_t now_ns, double *value)
{
	uint64_t ns;

	hist_reset(&w->merged);
	for (int i = 0; i < WATCH_SECONDS; i++)
		if (slot_is_recent(&w->slots[i], now_ns))
			hist_merge(&w->merged, &w->slots[i].hist);
	ns = hist_percentile(&w->merged, w->condition->percentile);
	*value = ns / 1e9;
	return w->merged.count && ns > w->condition->threshold_ns;
}

static bool holds_conn(struct condition_watch *w, const struct event *ev, double *value)
{
	const struct condition *c = w->condition;
	uint64_t ns;

	if (c->kind == CONDITION_VALUE)
		return holds_value(c, &ev->conn, value);
	if (c->kind == CONDITION_RATE && ev->conn.outcome == c->outcome)
		slot_at(w, ev->at_ns)->count++;
	if (c->kind == CONDITION_PERCENTILE && conn_metric(&ev->conn, c->metric, &ns))
		hist_record(&slot_at(w, ev->at_ns)->hist, ns);
	return false;
}

/* Those already under way when tracing began have no phase, no known age, and are not ours. */
static bool holds_in_setup(const struct condition *c, const struct event *ev, double *value)
{
	unsigned int traced = 0;

	for (size_t i = 0; i < ev->sweep.count; i++) {
		const struct conn *conn = &ev->sweep.list[i];

		if (conn->phase == PHASE_UNKNOWN)
			continue;
		traced++;
		if (c->kind == CONDITION_VALUE && holds_value(c, conn, value))
			return true;
		if (c->kind == CONDITION_OLDEST && conn->age_ns > c->threshold_ns) {
			*value = conn->age_ns / 1e9; /* the list begins with the oldest */
			return true;
		}
	}
	*value = traced;
	return c->kind == CONDITION_IN_SETUP && traced > c->threshold;
}

static bool holds_sweep(struct condition_watch *w, const struct event *ev, double *value)
{
	switch (w->condition->kind) {
	case CONDITION_RATE:
		return holds_rate(w, ev->at_ns, value);
	case CONDITION_PERCENTILE:
		return holds_percentile(w, ev->at_ns, value);
	default:
		return holds_in_setup(w->condition, ev, value);
	}
}

bool condition_holds(struct condition_watch *w, const struct event *ev, double *value)
{
	if (ev->type == EVENT_CONN)
		return holds_conn(w, ev, value);
	return ev->type == EVENT_SWEEP && holds_sweep(w, ev, value);
}
