/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chrome's trace event format, JSON object form, for ui.perfetto.dev and chrome://tracing: a
 * process per traced server, a thread per connection. Begin and end events rather than complete
 * ones: readers take ts and dur as floats of us, and what they round may make a child outlast its
 * parent by a nanosecond; pairs nest by order.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_out.h"
#include "export/export.h"
#include "export/span.h"

#define NS_PER_DAY (86400 * (int64_t)NS_PER_S)

#define BUFFER_LEN 65536 /* the events of one connection with the most hostile names take half */

struct perfetto {
	FILE *out;
	struct json_out j; /* of one event of the stream */
	int64_t base_ns; /* ts 0: a midnight (UTC) before everything, so that a double holds the ns */
	bool has_events;
	int server; /* "pid" of the events: the postmaster's */
	int64_t track; /* "tid" of the last connection: pids come again, tracks do not */
	int64_t second; /* the rate's: seconds since 1970; 0: none yet */
	uint64_t in_second[OUTCOME_COUNT];
	char buf[BUFFER_LEN];
};

static int flush(struct perfetto *p)
{
	fwrite_unlocked(p->j.buf, 1, p->j.used, p->out);
	p->j.used = 0;
	return export_status(p->out);
}

void *perfetto_open(FILE *out)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	json_put_start(&p->j, p->buf, sizeof(p->buf));
	json_put_open(&p->j, NULL, '{');
	json_put_text(&p->j, "displayTimeUnit", "ms");
	json_put_open(&p->j, "traceEvents", '[');
	return p;
}

/* A line of its own: the writer puts no comma behind a newline. */
static void event_open(struct perfetto *p, const char *ph, const char *name, int64_t track)
{
	json_put_raw(&p->j, p->has_events ? ",\n" : "\n", p->has_events ? 2 : 1);
	p->has_events = true;
	json_put_open(&p->j, NULL, '{');
	json_put_text(&p->j, "ph", ph);
	json_put_int(&p->j, "pid", p->server);
	json_put_int(&p->j, "tid", track);
	if (name)
		json_put_text(&p->j, "name", name);
}

static void event_args(struct perfetto *p)
{
	json_put_open(&p->j, "args", '{');
}

static void event_close(struct perfetto *p)
{
	json_put_close(&p->j, '}');
	json_put_close(&p->j, '}');
}

static void put_time(struct perfetto *p, int64_t at_ns)
{
	json_put_us(&p->j, "ts", at_ns - p->base_ns);
}

static void metadata(struct perfetto *p, const char *what, int64_t track, const char *name)
{
	event_open(p, "M", what, track);
	event_args(p);
	json_put_text(&p->j, "name", name);
	event_close(p);
}

/* A slice begins; its args are open until event_close(). */
static void begin(struct perfetto *p, const char *cat, const char *name, int64_t at_ns)
{
	event_open(p, "B", name, p->track);
	json_put_text(&p->j, "cat", cat);
	put_time(p, at_ns);
	event_args(p);
}

static void end(struct perfetto *p, int64_t at_ns)
{
	event_open(p, "E", NULL, p->track);
	put_time(p, at_ns);
	json_put_close(&p->j, '}');
}

/* -- counters -- */

static void write_rate(struct perfetto *p, int64_t second)
{
	event_open(p, "C", "connections/s", 0);
	put_time(p, second * (int64_t)NS_PER_S);
	event_args(p);
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++) {
		json_put_int(&p->j, outcome_name(o), p->in_second[o]);
		p->in_second[o] = 0;
	}
	event_close(p);
}

static void count(struct perfetto *p, enum outcome o, int64_t end_ns)
{
	int64_t second = end_ns / (int64_t)NS_PER_S;

	if (p->second && second > p->second) {
		write_rate(p, p->second);
		if (second > p->second + 1)
			write_rate(p, p->second + 1); /* zeros: the next one may be far */
	}
	if (second > p->second)
		p->second = second;
	p->in_second[o]++;
}

static void counter(struct perfetto *p, const char *name, int64_t at_ns, int64_t value)
{
	event_open(p, "C", name, 0);
	put_time(p, at_ns);
	event_args(p);
	json_put_int(&p->j, "count", value);
	event_close(p);
}

static void write_tick(struct perfetto *p, int64_t at_ns, const struct tick *t)
{
	counter(p, "in setup", at_ns, t->in_setup);
	if (t->has_accept_queue)
		counter(p, "accept queue", at_ns, t->accept_queue);
}

/* -- a connection -- */

static void lookup_args(struct perfetto *p, const struct lookup *l)
{
	char address[ADDR_TEXT_LEN], code[24];

	json_put_text(&p->j, "by", asker_name(l->by));
	if (l->address.family != ADDR_NONE)
		json_put_text(&p->j, "address", addr_format(&l->address, address));
	json_put_text(&p->j, "result", result_name(l->result));
	if (l->result == RESULT_FAILED)
		json_put_text(&p->j, "code", eai_name(l->code, code));
	if (l->name[0])
		json_put_text(&p->j, "name", l->name);
	if (l->question_count)
		json_put_int(&p->j, "questions", l->question_count);
}

static void write_lookups(struct perfetto *p, const struct conn *c, const struct span *phase)
{
	int64_t after_ns = 0;
	struct span s;

	for (unsigned int i = 0; i < c->lookups_told; i++) {
		const struct lookup *l = &c->lookups[i];

		if (!span_lookup(c, l, phase, &after_ns, &s))
			continue;
		begin(p, "lookup", l->kind == DIRECTION_REVERSE ? "reverse lookup" : "forward lookup",
		      s.from_ns);
		lookup_args(p, l);
		event_close(p);
		end(p, s.to_ns);
	}
}

static void write_phases(struct perfetto *p, const struct conn *c)
{
	struct span s;

	for (enum phase ph = 0; ph < PHASE_COUNT; ph++) {
		if (!span_phase(c, ph, &s))
			continue;
		begin(p, "phase", phase_name(ph), s.from_ns);
		event_close(p);
		write_lookups(p, c, &s);
		end(p, s.to_ns);
	}
}

static void conn_args(struct perfetto *p, const struct conn *c)
{
	char client[ADDR_TEXT_LEN];
	uint64_t ns;

	json_put_int(&p->j, "pid", c->pid);
	json_put_text(&p->j, "client", addr_format(&c->client, client));
	if (c->has_user) {
		json_put_text(&p->j, "user", c->user);
		json_put_text(&p->j, "database", c->database);
	}
	if (c->has_application)
		json_put_text(&p->j, "application", c->application);
	if (c->outcome != OUTCOME_READY)
		json_put_text(&p->j, "phase", phase_name(c->phase));
	if (c->sqlstate[0])
		json_put_text(&p->j, "sqlstate", c->sqlstate);
	for (enum within w = 0; w < WITHIN_COUNT; w++)
		if (conn_metric(c, METRIC_WITHIN(w), &ns))
			json_put_us(&p->j, within_name(w), ns);
}

static void write_conn(struct perfetto *p, const struct conn *c)
{
	struct span all = span_conn(c);
	char client[ADDR_TEXT_LEN], title[ADDR_TEXT_LEN + 2 * PG_NAME_LEN + 32];

	p->track++;
	snprintf(title, sizeof(title), "%d %s %s%s%s", c->pid, addr_format(&c->client, client),
		 c->has_user ? c->user : "", c->has_user ? "@" : "", c->has_user ? c->database : "");
	metadata(p, "thread_name", p->track, title);
	begin(p, "connection", c->outcome == OUTCOME_NONE ? "in setup" : outcome_name(c->outcome),
	      all.from_ns);
	conn_args(p, c);
	event_close(p);
	write_phases(p, c);
	end(p, all.to_ns);
	if (c->outcome != OUTCOME_NONE)
		count(p, c->outcome, all.to_ns);
}

/* -- the rest of the stream -- */

static void write_start(struct perfetto *p, const struct session *s)
{
	char title[2 * TEXT_LEN + 128];

	p->server = s->postmaster;
	snprintf(title, sizeof(title), "%s %s PostgreSQL %s port %d", s->host, s->cluster_name,
		 s->server_version, s->port);
	metadata(p, "process_name", 0, title);
}

static void write_instant(struct perfetto *p, int64_t at_ns, const char *name)
{
	event_open(p, "i", name, 0);
	json_put_text(&p->j, "s", "g"); /* a line through all tracks */
	put_time(p, at_ns);
	json_put_close(&p->j, '}');
}

static void write_settings(struct perfetto *p, int64_t at_ns, const struct settings *s)
{
	if (s->has_log_hostname)
		write_instant(p, at_ns, s->log_hostname ? "log_hostname = on" : "log_hostname = off");
	if (s->has_log_line_prefix)
		write_instant(p, at_ns, "log_line_prefix changed");
}

static void write_trigger(struct perfetto *p, int64_t at_ns, const struct trigger *t)
{
	char name[TEXT_LEN + 16];

	snprintf(name, sizeof(name), "trigger %s", t->condition);
	write_instant(p, at_ns, name);
}

static void set_base(struct perfetto *p, int64_t at_ns)
{
	if (!p->base_ns)
		p->base_ns = (at_ns / NS_PER_DAY - 1) * NS_PER_DAY;
}

int perfetto_event(void *state, const struct event *ev)
{
	struct perfetto *p = state;

	set_base(p, ev->at_ns);
	switch (ev->type) {
	case EVENT_START:
		write_start(p, &ev->start);
		break;
	case EVENT_CONN:
	case EVENT_IN_SETUP:
		write_conn(p, &ev->conn);
		break;
	case EVENT_TICK:
		write_tick(p, ev->at_ns, &ev->tick);
		break;
	case EVENT_SETTINGS:
		write_settings(p, ev->at_ns, &ev->settings);
		break;
	case EVENT_TRIGGER:
		write_trigger(p, ev->at_ns, &ev->trigger);
		break;
	default:
		break;
	}
	return flush(p);
}

int perfetto_close(void *state)
{
	struct perfetto *p = state;
	char base[CLOCK_TEXT_LEN];
	int rc;

	if (p->second) {
		write_rate(p, p->second);
		write_rate(p, p->second + 1);
	}
	json_put_close(&p->j, ']');
	json_put_open(&p->j, "otherData", '{');
	json_put_text(&p->j, "ts 0 is", clock_rfc3339(p->base_ns, base));
	json_put_close(&p->j, '}');
	json_put_close(&p->j, '}');
	json_put_raw(&p->j, "\n", 1);
	rc = flush(p);
	free(p);
	return rc;
}
