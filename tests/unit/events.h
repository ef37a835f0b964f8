/* SPDX-License-Identifier: BSD-2-Clause */
/* Events made by hand: connections as a server would make them, for the model and the views. */
#ifndef PGDNSTRACE_EVENTS_H
#define PGDNSTRACE_EVENTS_H

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/stats.h"

/* 2026-10-02 03:14:00 UTC */
#define EVENTS_T0 (1790910840LL * (int64_t)NS_PER_S)
#define US(n)	  ((uint64_t)(n)*NS_PER_US)
#define MS(n)	  ((uint64_t)(n)*NS_PER_MS)
#define SEC(n)	  ((uint64_t)(n)*NS_PER_S)

static inline void conn_set_phase(struct conn *c, enum phase p, uint64_t ns)
{
	c->phases_present |= 1U << p;
	c->phases_ns[p] = ns;
	if (p != PHASE_QUEUE) {
		c->has_total = true;
		c->total_ns += ns;
	}
	c->has_wait = true;
	c->wait_ns += ns;
}

/* A backend that got as far as its lookup, which took hostname_ns. */
static inline struct conn conn_begin(const char *client, int pid, uint64_t hostname_ns)
{
	struct conn c = { .pid = pid, .host_pid = pid, .client_port = 40000 };

	addr_parse(client, &c.client);
	c.outcome = OUTCOME_NONE;
	c.phase = PHASE_UNKNOWN;
	conn_set_phase(&c, PHASE_QUEUE, US(31));
	conn_set_phase(&c, PHASE_FORK, US(513));
	conn_set_phase(&c, PHASE_CHILD, US(402));
	conn_set_phase(&c, PHASE_HOSTNAME, hostname_ns);
	return c;
}

static inline void conn_set_names(struct conn *c, const char *user, const char *database)
{
	c->has_user = true;
	c->has_application = true;
	snprintf(c->user, sizeof(c->user), "%s", user);
	snprintf(c->database, sizeof(c->database), "%s", database);
	snprintf(c->application, sizeof(c->application), "app");
}

static inline void conn_add_lookup(struct conn *c, enum result result, int code, uint64_t ns)
{
	struct lookup *l = &c->lookups[c->lookups_told];

	c->lookup_count++;
	c->lookups_told++;
	l->by = ASKER_LOG_HOSTNAME;
	l->kind = DIRECTION_REVERSE;
	l->result = result;
	l->code = code;
	l->address = c->client;
	l->dur_ns = ns;
	c->has_dns = true;
	c->dns_ns += ns;
}

static inline struct conn conn_ready(const char *client, int pid, uint64_t hostname_ns)
{
	struct conn c = conn_begin(client, pid, hostname_ns);

	conn_set_phase(&c, PHASE_STARTUP, US(204));
	conn_set_phase(&c, PHASE_JOIN, US(310));
	conn_set_phase(&c, PHASE_AUTH, US(4012));
	conn_set_phase(&c, PHASE_PREPARE, US(807));
	conn_set_names(&c, "bench", "postgres");
	c.outcome = OUTCOME_READY;
	return c;
}

static inline struct conn conn_failed(const char *client, int pid, const char *sqlstate)
{
	struct conn c = conn_begin(client, pid, US(12));

	conn_set_phase(&c, PHASE_STARTUP, US(204));
	conn_set_phase(&c, PHASE_JOIN, US(310));
	conn_set_phase(&c, PHASE_AUTH, MS(3));
	conn_set_names(&c, "intruder", "postgres");
	c.outcome = OUTCOME_FAILED;
	c.phase = PHASE_AUTH;
	snprintf(c.sqlstate, sizeof(c.sqlstate), "%s", sqlstate);
	return c;
}

static inline struct conn conn_gave_up(const char *client, int pid, uint64_t gone_ns,
				       uint64_t hostname_ns)
{
	struct conn c = conn_begin(client, pid, hostname_ns);

	c.outcome = OUTCOME_GAVE_UP;
	c.phase = PHASE_HOSTNAME;
	c.has_client_gone = true;
	c.client_gone_ns = gone_ns;
	conn_add_lookup(&c, RESULT_FAILED, -3, hostname_ns);
	return c;
}

/* Still in its lookup after age_ns. */
static inline struct conn conn_stuck(const char *client, int pid, uint64_t age_ns)
{
	struct conn c = { .pid = pid, .host_pid = pid };

	addr_parse(client, &c.client);
	c.outcome = OUTCOME_NONE;
	c.phase = PHASE_HOSTNAME;
	c.in_phase_ns = age_ns - US(915);
	c.age_ns = age_ns;
	conn_add_lookup(&c, RESULT_PENDING, 0, c.in_phase_ns);
	c.has_dns = false;
	return c;
}

static inline struct event event_start(int64_t at_ns)
{
	struct event ev = { .type = EVENT_START, .at_ns = at_ns };
	struct session *s = &ev.start;

	strcpy(s->tool, "pgdnstrace 0.1.0");
	strcpy(s->host, "db1");
	strcpy(s->cluster_name, "main");
	strcpy(s->server_version, "15.18");
	s->server_major = 15;
	s->port = 5432;
	s->postmaster = 5017;
	s->settings.has_log_hostname = true;
	s->settings.log_hostname = true;
	s->missing_phases = 1U << PHASE_LOGIN;
	return ev;
}

static inline struct event event_conn(int64_t at_ns, struct conn c)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = at_ns };

	ev.conn = c;
	ev.conn.at_ns = at_ns - (int64_t)c.total_ns;
	return ev;
}

static inline struct event event_in_setup(int64_t at_ns, struct conn c)
{
	struct event ev = event_conn(at_ns, c);

	ev.type = EVENT_IN_SETUP;
	ev.conn.at_ns = at_ns - (int64_t)c.age_ns;
	return ev;
}

static inline struct event event_tick(int64_t at_ns, uint64_t lost, unsigned int queue)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = at_ns };

	ev.tick.has_accept_queue = true;
	ev.tick.accept_queue = queue;
	ev.tick.accept_queue_limit = 244;
	ev.tick.lost[LOSS_RING] = lost;
	return ev;
}

static inline int feed(struct stats *s, const struct event *ev)
{
	return stats_event(s, NULL, ev);
}

static inline int feed_conn(struct stats *s, int64_t at_ns, struct conn c)
{
	struct event ev = event_conn(at_ns, c);

	return stats_event(s, NULL, &ev);
}

#endif
