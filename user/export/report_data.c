/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/report_data.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

struct report_data *report_data_new(const struct hide *hide)
{
	struct report_data *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->hide = *hide;
	d->random = 0x9e3779b97f4a7c15;
	timeline_reset(&d->timeline);
	d->stats = stats_new();
	if (d->stats)
		return d;
	free(d);
	return NULL;
}

void report_data_free(struct report_data *d)
{
	if (!d)
		return;
	stats_free(d->stats);
	free(d);
}

bool report_wait(const struct conn *c, uint64_t *ns)
{
	return conn_metric(c, METRIC_WAIT, ns) || conn_metric(c, METRIC_TOTAL, ns);
}

/* -- the sample: algorithm R, every connection has the same chance -- */

static uint64_t random_below(struct report_data *d, uint64_t limit)
{
	d->random ^= d->random << 13; /* xorshift64 */
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return d->random % limit;
}

static void sample(struct report_data *d, const struct conn *c, uint64_t wait_ns)
{
	uint64_t place = d->dots_seen++;

	if (place >= REPORT_DOTS)
		place = random_below(d, d->dots_seen);
	else
		d->dot_count++;
	if (place < REPORT_DOTS)
		d->dots[place] = (struct dot){ c->at_ns, wait_ns, c->outcome };
}

static void count_waited(struct report_data *d, uint64_t wait_ns)
{
	static const uint64_t limits_ms[] = {
#define WAIT_LIMIT(ms) ms,
		REPORT_WAITS(WAIT_LIMIT)
	};

	for (int i = 0; i < REPORT_WAIT_COUNT; i++)
		d->waited[i] += wait_ns >= limits_ms[i] * NS_PER_MS;
}

/* -- the slowest -- */

static int slower_first(const void *left, const void *right)
{
	uint64_t a = 0, b = 0;

	report_wait(left, &a);
	report_wait(right, &b);
	return (a < b) - (a > b);
}

void report_data_sort(struct report_data *d)
{
	qsort(d->slowest, d->slowest_count, sizeof(d->slowest[0]), slower_first);
}

/* Where a connection as slow as this one goes; NULL: the kept ones are all slower. */
static struct conn *slowest_place(struct report_data *d, uint64_t wait_ns)
{
	struct conn *least = d->slowest;
	uint64_t least_ns = UINT64_MAX, ns = 0;

	if (d->slowest_count < REPORT_SLOWEST)
		return &d->slowest[d->slowest_count++];
	for (unsigned int i = 0; i < d->slowest_count; i++) {
		report_wait(&d->slowest[i], &ns);
		if (ns >= least_ns)
			continue;
		least = &d->slowest[i];
		least_ns = ns;
	}
	return wait_ns > least_ns ? least : NULL;
}

static void keep_slowest(struct report_data *d, const struct conn *c, uint64_t wait_ns)
{
	struct conn *place = slowest_place(d, wait_ns);

	if (place)
		*place = *c;
}

/* -- events -- */

static void take_conn(struct report_data *d, const struct conn *c)
{
	uint64_t wait_ns;

	timeline_conn(&d->timeline, c);
	if (!report_wait(c, &wait_ns))
		return;
	sample(d, c, wait_ns);
	count_waited(d, wait_ns);
	keep_slowest(d, c, wait_ns);
}

static void take_start(struct report_data *d, int64_t at_ns, const struct session *s)
{
	if (d->session_count < REPORT_SESSIONS)
		d->sessions[d->session_count++] = (struct report_session){ at_ns, *s };
}

static void take_settings(struct report_data *d, int64_t at_ns, const struct settings *s)
{
	if (d->change_count < REPORT_CHANGES)
		d->changes[d->change_count++] = (struct report_change){ at_ns, *s };
}

static void take_trigger(struct report_data *d, int64_t at_ns, const struct trigger *t)
{
	if (d->trigger_count < REPORT_TRIGGERS)
		d->triggers[d->trigger_count++] = (struct report_trigger){ at_ns, *t };
}

static void take_time(struct report_data *d, const struct event *ev)
{
	int64_t at_ns = ev->type == EVENT_CONN ? ev->conn.at_ns : ev->at_ns;

	if (!d->from_ns || at_ns < d->from_ns)
		d->from_ns = at_ns;
	if (ev->at_ns > d->to_ns)
		d->to_ns = ev->at_ns;
}

static void take(struct report_data *d, const struct event *ev)
{
	take_time(d, ev);
	switch (ev->type) {
	case EVENT_START:
		take_start(d, ev->at_ns, &ev->start);
		break;
	case EVENT_CONN:
		take_conn(d, &ev->conn);
		break;
	case EVENT_TICK:
		timeline_tick(&d->timeline, ev->at_ns, &ev->tick);
		break;
	case EVENT_SETTINGS:
		take_settings(d, ev->at_ns, &ev->settings);
		break;
	case EVENT_TRIGGER:
		take_trigger(d, ev->at_ns, &ev->trigger);
		break;
	default:
		break;
	}
}

int report_data_event(void *data, const struct event *ev)
{
	struct report_data *d = data;
	bool hides = (ev->type == EVENT_CONN || ev->type == EVENT_IN_SETUP) && hide_any(&d->hide);
	struct event hidden;

	if (hides) { /* before anything keeps a name */
		hidden = *ev;
		hide_conn(&d->hide, &hidden.conn);
		ev = &hidden;
	}
	take(d, ev);
	return stats_event(d->stats, NULL, ev);
}
