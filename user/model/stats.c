/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/stats_private.h"

struct stats *stats_new(void)
{
	return calloc(1, sizeof(struct stats));
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (int i = 0; i < METRIC_COUNT; i++)
		free(s->hists[i]);
	for (int i = 0; i < SLOTS; i++)
		for (int metric = 0; metric < METRIC_COUNT; metric++)
			slice_free(&s->slots[i].slices[metric]);
	stats_tables_free(s);
	setup_list_free(&s->setup);
	free(s);
}

static int unshare_hists(struct hist **hists)
{
	int err = 0;

	for (int i = 0; i < METRIC_COUNT; i++) {
		const struct hist *from = hists[i];

		if (!from)
			continue;
		hists[i] = malloc(sizeof(*from));
		if (hists[i])
			*hists[i] = *from;
		else
			err = -ENOMEM;
	}
	return err;
}

/* Every pointer is replaced, also after a failure: the copy can be freed in any case. */
struct stats *stats_clone(const struct stats *s)
{
	struct stats *copy = malloc(sizeof(*copy));
	int err;

	if (!copy)
		return NULL;
	*copy = *s;
	err = unshare_hists(copy->hists);
	for (int i = 0; i < SLOTS; i++)
		for (int metric = 0; metric < METRIC_COUNT; metric++)
			err |= slice_unshare(&copy->slots[i].slices[metric]);
	err |= stats_tables_unshare(copy);
	err |= setup_list_unshare(&copy->setup);
	if (err == 0)
		return copy;
	stats_free(copy);
	return NULL;
}

/* -- time -- */

static int64_t slot_number(int64_t at_ns)
{
	return at_ns / (int64_t)(STRIP_SLOT_S * NS_PER_S);
}

static struct slot *slot_at(struct stats *s, int64_t number)
{
	struct slot *slot = &s->slots[number % SLOTS];

	if (slot->number == number)
		return slot;
	slot->number = number;
	memset(slot->outcomes, 0, sizeof(slot->outcomes));
	for (int i = 0; i < METRIC_COUNT; i++)
		slice_reset(&slot->slices[i]);
	return slot;
}

static struct strip_column *column_at(struct stats *s, int64_t number)
{
	struct strip_column *column = &s->columns[number % STRIP_COLUMNS];

	if (column->number != number) {
		memset(column, 0, sizeof(*column));
		column->number = number;
	}
	return column;
}

/* The slot, when it lies within the last count ones. */
static const struct slot *slot_recent(const struct stats *s, unsigned int back)
{
	int64_t number = slot_number(s->now_ns) - back;
	const struct slot *slot;

	if (number < 0 || back >= SLOTS)
		return NULL;
	slot = &s->slots[number % SLOTS];
	return slot->number == number ? slot : NULL;
}

/* Row 0 ends at 4^6 ns, about 4 us. */
static unsigned int strip_row(uint64_t ns)
{
	unsigned int row = 0;

	for (ns >>= 12; ns != 0 && row < STRIP_ROWS - 1; ns >>= 2)
		row++;
	return row;
}

/* -- connections -- */

static int hist_add(struct hist **h, uint64_t ns)
{
	if (!*h)
		*h = calloc(1, sizeof(**h));
	if (!*h)
		return -ENOMEM;
	hist_record(*h, ns);
	return 0;
}

static int add_metrics(struct stats *s, const struct conn *c)
{
	struct slot *slot = slot_at(s, slot_number(s->now_ns));
	struct strip_column *column = column_at(s, slot->number);
	uint64_t ns;

	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		if (!conn_metric(c, metric, &ns))
			continue;
		if (hist_add(&s->hists[metric], ns) < 0 ||
		    slice_record(&slot->slices[metric], ns) < 0)
			return -ENOMEM;
		column->counts[metric][strip_row(ns)]++;
	}
	return 0;
}

/* What was accepted before a reload and ends after it still belongs to the time before. */
static void add_felt(struct stats *s, const struct conn *c)
{
	struct reload *r = &s->reload;
	uint64_t ns;

	if (c->client.family == ADDR_UNIX || !conn_felt(c, &ns))
		return;
	hist_record(&s->felt, ns);
	if (r->at_ns)
		hist_record(c->at_ns < r->at_ns ? &r->before : &r->since, ns);
}

static int add_conn(struct stats *s, const struct filter *f, const struct conn *c)
{
	int err;

	if (c->outcome >= OUTCOME_COUNT)
		return 0;
	s->outcomes[c->outcome]++;
	s->section[c->outcome]++;
	slot_at(s, slot_number(s->now_ns))->outcomes[c->outcome]++;
	setup_list_remove(&s->setup, c);
	if (f && !filter_tell(f, c))
		s->filtered++;
	if (f && !filter_match(f, c))
		return 0;
	s->ended_in[c->outcome][c->phase < PHASE_COUNT ? c->phase : PHASE_UNKNOWN]++;
	if (c->outcome == OUTCOME_GAVE_UP && c->has_client_gone)
		hist_record(&s->gave_up_after, c->client_gone_ns > 0 ? c->client_gone_ns : 0);
	add_felt(s, c);
	err = add_metrics(s, c);
	return err < 0 ? err : stats_tables_add(s, c);
}

/* -- the other events -- */

static uint64_t lost_now(const struct tick *t)
{
	uint64_t lost = 0;

	for (int i = 0; i < LOSS_COUNT; i++)
		lost += t->lost[i];
	return lost;
}

/* After a rotation or in a merged trace counters begin anew, the connections stay counted. */
static void begin_section(struct stats *s, const struct event *ev)
{
	if (!s->started)
		s->first_ns = ev->at_ns;
	s->started = true;
	s->ended = false;
	s->session = ev->start;
	s->settings = ev->start.settings;
	s->lost_before = stats_lost(s);
	memset(&s->tick, 0, sizeof(s->tick));
	memset(&s->end, 0, sizeof(s->end));
	s->has_dns = false;
	memset(s->section, 0, sizeof(s->section));
	setup_list_clear(&s->setup);
	memset(&s->reload, 0, sizeof(s->reload));
	hist_reset(&s->felt);
}

/* What a filter kept out of the file is known from its end line alone. */
static void add_filtered(struct stats *s)
{
	uint64_t missing;

	for (int o = 0; o < OUTCOME_COUNT; o++) {
		if (s->end.outcomes[o] <= s->section[o])
			continue;
		missing = s->end.outcomes[o] - s->section[o];
		s->outcomes[o] += missing;
		s->section[o] += missing;
		s->filtered += missing;
	}
}

static void end_section(struct stats *s, const struct end *end)
{
	s->ended = true;
	s->end = *end;
	s->tick.before_start = end->before_start;
	if (s->session.filter[0] != '\0')
		add_filtered(s);
}

static void take_settings(struct stats *s, const struct event *ev)
{
	const struct settings *now = &s->settings, *next = &ev->settings;

	if (next->has_log_hostname && now->has_log_hostname &&
	    next->log_hostname != now->log_hostname) {
		s->reload.at_ns = ev->at_ns;
		s->reload.log_hostname = next->log_hostname;
		s->reload.before = s->felt;
		hist_reset(&s->reload.since);
	}
	settings_apply(&s->settings, next);
	s->session.missing_phases |= next->missing_phases;
}

int stats_event(struct stats *s, const struct filter *f, const struct event *ev)
{
	if (ev->at_ns > s->now_ns)
		s->now_ns = ev->at_ns;
	if (s->first_ns == 0)
		s->first_ns = ev->at_ns;
	switch (ev->type) {
	case EVENT_START:
		begin_section(s, ev);
		break;
	case EVENT_CONN:
		return add_conn(s, f, &ev->conn);
	case EVENT_TICK:
		s->tick = ev->tick;
		break;
	case EVENT_SETTINGS:
		take_settings(s, ev);
		break;
	case EVENT_DNS:
		s->dns = ev->dns;
		s->has_dns = true;
		break;
	case EVENT_TRIGGER:
		break;
	case EVENT_IN_SETUP:
		return setup_list_put(&s->setup, f, &ev->conn, ev->at_ns);
	case EVENT_SWEEP:
		return setup_list_replace(&s->setup, f, ev->sweep.list, ev->sweep.count, ev->at_ns);
	case EVENT_END:
		end_section(s, &ev->end);
		break;
	}
	return 0;
}

/* -- what the views read -- */

const struct session *stats_session(const struct stats *s)
{
	return &s->session;
}

const struct settings *stats_settings(const struct stats *s)
{
	return &s->settings;
}

const struct tick *stats_tick(const struct stats *s)
{
	return &s->tick;
}

const struct dns_report *stats_dns(const struct stats *s)
{
	return s->has_dns ? &s->dns : NULL;
}

const struct end *stats_end(const struct stats *s)
{
	return s->ended ? &s->end : NULL;
}

int64_t stats_first_ns(const struct stats *s)
{
	return s->first_ns;
}

int64_t stats_now_ns(const struct stats *s)
{
	return s->now_ns;
}

uint64_t stats_outcome(const struct stats *s, enum outcome o)
{
	return s->outcomes[o];
}

uint64_t stats_ended_in(const struct stats *s, enum outcome o, enum phase p)
{
	return s->ended_in[o][p];
}

/* The end line knows of losses after the last tick. */
uint64_t stats_lost(const struct stats *s)
{
	uint64_t lost = lost_now(&s->tick);

	if (s->ended && s->end.lost > lost)
		lost = s->end.lost;
	return s->lost_before + lost;
}

uint64_t stats_connections(const struct stats *s)
{
	uint64_t sum = stats_in_setup(s) + stats_lost(s);

	for (int o = 0; o < OUTCOME_COUNT; o++)
		sum += s->outcomes[o];
	return sum;
}

uint64_t stats_filtered(const struct stats *s)
{
	return s->filtered;
}

uint64_t stats_outcome_recent(const struct stats *s, enum outcome o, unsigned int minutes)
{
	uint64_t sum = 0;

	for (unsigned int back = 0; back < minutes * 60 / STRIP_SLOT_S; back++) {
		const struct slot *slot = slot_recent(s, back);

		sum += slot ? slot->outcomes[o] : 0;
	}
	return sum;
}

static uint64_t slot_ended(const struct slot *slot)
{
	uint64_t sum = 0;

	for (int o = 0; slot && o < OUTCOME_COUNT; o++)
		sum += slot->outcomes[o];
	return sum;
}

/* The newest slot is under way: its own part of the time counts, so that the rate is no zigzag. */
double stats_rate(const struct stats *s, unsigned int seconds)
{
	unsigned int slots = seconds / STRIP_SLOT_S < SLOTS ? seconds / STRIP_SLOT_S : SLOTS - 1;
	int64_t from_ns = (slot_number(s->now_ns) - slots) * (int64_t)(STRIP_SLOT_S * NS_PER_S);
	uint64_t ended = 0;

	if (s->first_ns > from_ns)
		from_ns = s->first_ns;
	if (s->now_ns <= from_ns)
		return 0;
	for (unsigned int back = 0; back <= slots; back++)
		ended += slot_ended(slot_recent(s, back));
	return ended / ((s->now_ns - from_ns) / (double)NS_PER_S);
}

const struct hist *stats_hist(const struct stats *s, int metric, unsigned int minutes,
			      struct hist *scratch)
{
	if (minutes == STATS_ALL)
		return s->hists[metric] ? s->hists[metric] : &s->empty;
	hist_reset(scratch);
	for (unsigned int back = 0; back < minutes * 60 / STRIP_SLOT_S; back++) {
		const struct slot *slot = slot_recent(s, back);

		if (slot)
			slice_merge(scratch, &slot->slices[metric]);
	}
	return scratch;
}

static uint64_t metric_sum(const struct stats *s, int metric, unsigned int minutes)
{
	uint64_t sum = 0;

	if (minutes == STATS_ALL)
		return s->hists[metric] ? s->hists[metric]->sum_ns : 0;
	for (unsigned int back = 0; back < minutes * 60 / STRIP_SLOT_S; back++) {
		const struct slot *slot = slot_recent(s, back);

		if (slot)
			sum += slot->slices[metric].sum_ns;
	}
	return sum;
}

double stats_share(const struct stats *s, int metric, unsigned int minutes)
{
	uint64_t total = metric_sum(s, METRIC_TOTAL, minutes);

	if (total == 0)
		return -1;
	return metric_sum(s, metric, minutes) / (double)total;
}

unsigned int stats_strip(const struct stats *s, int metric, unsigned int columns,
			 uint32_t (*counts)[STRIP_ROWS])
{
	int64_t last = slot_number(s->now_ns);
	int64_t first = slot_number(s->first_ns);

	if (columns > STRIP_COLUMNS)
		columns = STRIP_COLUMNS;
	if (last - first + 1 < columns)
		columns = last - first + 1;
	for (unsigned int i = 0; i < columns; i++) {
		int64_t number = last - columns + 1 + i;
		const struct strip_column *column = &s->columns[number % STRIP_COLUMNS];

		if (column->number == number)
			memcpy(counts[i], column->counts[metric], sizeof(counts[i]));
		else
			memset(counts[i], 0, sizeof(counts[i]));
	}
	return columns;
}

const struct hist *stats_gave_up_after(const struct stats *s)
{
	return &s->gave_up_after;
}

const struct lie *stats_lie(const struct stats *s)
{
	return &s->lie;
}

const struct reload *stats_reload(const struct stats *s)
{
	return s->reload.at_ns ? &s->reload : NULL;
}
