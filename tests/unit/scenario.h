/* SPDX-License-Identifier: BSD-2-Clause */
/* An incident made by hand: a DNS server that answers in 3 ms, then not at all. */
#ifndef PGDNSTRACE_SCENARIO_H
#define PGDNSTRACE_SCENARIO_H

#include "events.h"

static inline struct conn scenario_conn(int i)
{
	static const char *const clients[] = { "10.42.1.5", "10.42.1.6", "10.42.2.9", "2001:db8::7" };
	const char *client = clients[i % 4];
	uint64_t fast_ns = MS(2) + US(i * 37 % 1900);
	struct conn c;

	if (i % 40 == 7)
		return conn_failed(client, i, i % 80 == 7 ? "28P01" : "3D000");
	if (i % 50 == 13) {
		c = conn_begin(client, i, fast_ns);
		c.outcome = OUTCOME_CLOSED;
		c.phase = PHASE_STARTUP;
		conn_add_lookup(&c, RESULT_NO_NAME, 0, fast_ns);
		return c;
	}
	if (i >= 300 && i % 3)
		return conn_gave_up(client, i, SEC(3) + MS(i * 7), SEC(10) + MS(i % 90));
	c = conn_ready(client, i, i >= 300 ? SEC(10) + MS(i % 90) : fast_ns);
	conn_add_lookup(&c, i >= 300 ? RESULT_FAILED : RESULT_NAME, i >= 300 ? -3 : 0,
			c.phases_ns[PHASE_HOSTNAME]);
	if (i % 10 == 0)
		snprintf(c.user, sizeof(c.user), "report");
	return c;
}

static inline void scenario_sweep(struct stats *s, int64_t at_ns)
{
	struct event ev = { .type = EVENT_SWEEP, .at_ns = at_ns };
	struct conn list[12];

	list[0] = conn_stuck("10.42.1.5", 7200, SEC(14));
	list[0].phase = PHASE_UNKNOWN;
	for (int i = 1; i < 10; i++)
		list[i] = conn_stuck("10.42.1.5", 7207 + i, MS(9800 - i * 700));
	list[10] = conn_stuck("10.42.2.9", 7300, MS(40));
	list[10].phase = PHASE_AUTH;
	list[10].lookups_told = list[10].lookup_count = 0;
	list[11] = conn_stuck("2001:db8::7", 7301, MS(2));
	list[11].phase = PHASE_STARTUP;
	list[11].lookups_told = list[11].lookup_count = 0;
	ev.sweep.list = list;
	ev.sweep.count = 12;
	feed(s, &ev);
}

/* 539 connections, one every so many ms; 45: 25 s in all. */
static inline struct stats *scenario_build(unsigned int every_ms)
{
	int64_t end_ns = EVENTS_T0 + (int64_t)MS(555 * every_ms + 25);
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);

	feed(s, &ev);
	for (int i = 1; i < 540; i++)
		feed_conn(s, EVENTS_T0 + (int64_t)MS(every_ms) * i, scenario_conn(i));
	ev = event_tick(end_ns, 0, 2);
	ev.tick.before_start = 1;
	feed(s, &ev);
	scenario_sweep(s, end_ns);
	return s;
}

#endif
