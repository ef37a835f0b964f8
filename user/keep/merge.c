/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "keep/merge_source.h"

#define MERGE_TICK_NS (10 * (int64_t)NS_PER_S)
#define MERGE_RECENT  64 /* connections: an overlap shows at once */

struct merge {
	FILE *out;
	struct merge_source *sources;
	unsigned int count;
	bool *incomplete;
	int64_t now_ns, ticked_ns;
	struct end totals;
	struct merge_ids in_setup;            /* told at the end of a file */
	struct merge_id recent[MERGE_RECENT]; /* those last written */
	unsigned int recent_next;
};

/* The earliest event at hand; NULL when all have ended. leading: only starts that come first. */
static struct merge_source *earliest(struct merge *m, bool leading)
{
	struct merge_source *first = NULL;

	for (unsigned int i = 0; i < m->count; i++) {
		struct merge_source *s = &m->sources[i];

		if (!s->reader || (leading && !(s->leading && s->head.type == EVENT_START)))
			continue;
		if (!first || s->head.at_ns < first->head.at_ns)
			first = s;
	}
	return first;
}

/* Files of one server may overlap; what both hold is at hand in both at about the same instant. */
static bool is_repeated(struct merge *m, const struct merge_id *id)
{
	for (int i = 0; i < MERGE_RECENT; i++)
		if (merge_id_equal(&m->recent[i], id))
			return true;
	m->recent[m->recent_next++ % MERGE_RECENT] = *id;
	return false;
}

static int take_conn(struct merge *m, struct merge_source *s)
{
	enum outcome outcome = s->head.conn.outcome;
	struct merge_id id;

	merge_source_id(s, &id);
	s->outcomes[outcome]++;
	if (is_repeated(m, &id))
		return 0;
	if (merge_ids_remove(&m->in_setup, &id)) /* in setup when another file ended */
		m->totals.in_setup--;
	m->totals.outcomes[outcome]++;
	return trace_write(m->out, &s->head);
}

static int take_in_setup(struct merge *m, struct merge_source *s)
{
	struct merge_id id;
	int err;

	merge_source_id(s, &id);
	err = merge_ids_add(&s->in_setup, &id);
	return err ? err : trace_write(m->out, &s->head);
}

static void add_tick(struct tick *sum, const struct tick *t)
{
	sum->in_setup += t->in_setup;
	sum->has_accept_queue |= t->has_accept_queue;
	sum->accept_queue += t->accept_queue;
	sum->accept_queue_limit += t->accept_queue_limit;
	sum->listen_drops += t->listen_drops;
	sum->before_start += t->before_start;
	for (int l = 0; l < LOSS_COUNT; l++)
		sum->lost[l] += t->lost[l];
}

static void sum_ticks(const struct merge *m, struct tick *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < m->count; i++) {
		add_tick(sum, &m->sources[i].before);
		add_tick(sum, &m->sources[i].tick);
	}
}

static int take_tick(struct merge *m, struct merge_source *s)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = s->head.at_ns };

	s->tick = s->head.tick;
	if (ev.at_ns - m->ticked_ns < MERGE_TICK_NS)
		return 0;
	m->ticked_ns = ev.at_ns;
	sum_ticks(m, &ev.tick);
	return trace_write(m->out, &ev);
}

/* Lines that a filter kept out of the file are known from its end alone. */
static int take_end(struct merge *m, struct merge_source *s)
{
	const struct end *end = &s->head.end;
	int err = 0;

	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		if (end->outcomes[o] > s->outcomes[o])
			m->totals.outcomes[o] += end->outcomes[o] - s->outcomes[o];
	m->totals.in_setup += end->in_setup;
	m->totals.before_start += end->before_start;
	m->totals.lost += end->lost;
	m->totals.filtered += end->filtered;
	for (size_t i = 0; i < s->in_setup.count && !err; i++) {
		if (merge_ids_remove(&m->in_setup, &s->in_setup.list[i])) /* of two files */
			m->totals.in_setup--;
		err = merge_ids_add(&m->in_setup, &s->in_setup.list[i]);
	}
	return err;
}

/* A start in the middle (a rotation) would end the others' figures: what it changes is told. */
static int take_start(struct merge *m, struct merge_source *s)
{
	struct event ev = { .type = EVENT_SETTINGS, .at_ns = s->head.at_ns, .server = s->server };

	if (s->leading)
		return trace_write(m->out, &s->head);
	ev.settings = s->head.start.settings;
	return trace_write(m->out, &ev);
}

static int take_event(struct merge *m, struct merge_source *s)
{
	if (s->head.at_ns > m->now_ns)
		m->now_ns = s->head.at_ns;
	switch (s->head.type) {
	case EVENT_START:
		return take_start(m, s);
	case EVENT_CONN:
		return take_conn(m, s);
	case EVENT_IN_SETUP:
		return take_in_setup(m, s);
	case EVENT_TICK:
		return take_tick(m, s);
	case EVENT_END:
		return take_end(m, s);
	default:
		return trace_write(m->out, &s->head);
	}
}

static int take_all(struct merge *m, bool leading)
{
	struct merge_source *s;
	int err = 0;

	while (!err && (s = earliest(m, leading))) {
		err = take_event(m, s);
		s->leading = s->leading && s->head.type == EVENT_START;
		if (!err)
			merge_source_next(s, m->incomplete);
	}
	return err;
}

static int write_end(struct merge *m)
{
	struct event ev = { .type = EVENT_END, .at_ns = m->now_ns, .end = m->totals };

	strcpy(ev.end.reason, "merged");
	end_sum(&ev.end);
	return trace_write(m->out, &ev);
}

int merge_traces(char *const *paths, unsigned int count, FILE *out, bool *incomplete)
{
	struct merge m = { .out = out, .count = count, .incomplete = incomplete };
	bool any = false;
	int err;

	m.sources = calloc(count, sizeof(*m.sources));
	if (!m.sources)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		merge_source_open(&m.sources[i], paths[i], incomplete);
		any |= m.sources[i].reader != NULL;
	}
	err = any ? take_all(&m, true) : -ENODATA;
	if (!err)
		err = take_all(&m, false);
	if (!err)
		err = write_end(&m);
	for (unsigned int i = 0; i < count; i++)
		merge_source_close(&m.sources[i]);
	free(m.sources);
	free(m.in_setup.list);
	return err;
}
