/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/trace_decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"
#include "keep/trace_fields.h"
#include "keep/trace_keys.h"

/* A printer that we do not know is of a later version. */
static void take_printers(struct fields *d, struct json_value *o, struct settings *s)
{
	struct json_value *list = fields_find(d, o, "name_shown_by", JSON_IN_LIST);

	s->has_printers = list;
	for (struct json_value *v = fields_child(list); v; v = v->next) {
		int printer = v->kind == JSON_IN_TEXT ? printer_parse(v->text) : -EINVAL;

		if (printer >= 0)
			s->printers |= 1U << printer;
		else if (v->kind != JSON_IN_TEXT)
			fields_bad(d, "name_shown_by");
	}
}

static void take_settings(struct fields *d, struct json_value *o, struct settings *s)
{
	if (!o)
		return;
	s->has_log_hostname = fields_bool(d, o, "log_hostname", &s->log_hostname);
	s->has_log_line_prefix = FIELDS_TEXT(d, o, "log_line_prefix", s->log_line_prefix);
	take_printers(d, o, s);
	s->missing_phases = fields_bits(d, o, "missing_phases", phase_parse, PHASE_COUNT);
}

static void take_resolver(struct fields *d, struct json_value *o, struct resolver *r)
{
	if (!o)
		return;
	r->has = true;
	r->host_count = FIELDS_LIST(d, o, "hosts", r->hosts);
	r->nameserver_count = FIELDS_LIST(d, o, "nameservers", r->nameservers);
	r->search_count = FIELDS_LIST(d, o, "search", r->search);
	r->timeout_s = fields_number(d, o, "timeout_s", 0, INT32_MAX);
	r->attempts = fields_number(d, o, "attempts", 0, INT32_MAX);
	fields_bool(d, o, "rotate", &r->rotate);
	fields_bool(d, o, "single_request", &r->single_request);
	fields_bool(d, o, "nscd", &r->nscd);
	fields_bool(d, o, "nss_resolve", &r->nss_resolve);
	FIELDS_TEXT(d, o, "libc", r->libc);
}

static void take_missing(struct fields *d, struct json_value *o, struct session *s)
{
	unsigned int directions =
		fields_bits(d, o, "missing_lookups", direction_parse, DIRECTION_COUNT);

	s->missing_phases = fields_bits(d, o, "missing_phases", phase_parse, PHASE_COUNT);
	s->missing_within = fields_bits(d, o, "missing_within", within_parse, WITHIN_COUNT);
	s->missing_forward = directions & 1u << DIRECTION_FORWARD;
}

static void take_start(struct fields *d, struct json_value *o, struct session *s)
{
	FIELDS_TEXT(d, o, "tool", s->tool);
	FIELDS_TEXT(d, o, "host", s->host);
	FIELDS_TEXT(d, o, "kernel", s->kernel);
	s->postmaster = fields_number(d, o, "postmaster", 0, INT32_MAX);
	FIELDS_TEXT(d, o, "server_version", s->server_version);
	s->server_major = atoi(s->server_version);
	s->port = fields_number(d, o, "port", 0, UINT16_MAX);
	FIELDS_TEXT(d, o, "cluster_name", s->cluster_name);
	FIELDS_TEXT(d, o, "data_directory", s->data_directory);
	FIELDS_TEXT(d, o, "container", s->container);
	FIELDS_TEXT(d, o, "time_zone", s->time_zone);
	FIELDS_TEXT(d, o, "socket_directory", s->socket_directory);
	take_settings(d, fields_find(d, o, "settings", JSON_IN_OBJECT), &s->settings);
	take_resolver(d, fields_find(d, o, "resolver", JSON_IN_OBJECT), &s->resolver);
	take_missing(d, o, s);
	FIELDS_TEXT(d, o, "filter", s->filter);
}

static void take_address(struct fields *d, struct json_value *o, const char *key, struct addr *a)
{
	struct json_value *value = fields_find(d, o, key, JSON_IN_TEXT);

	if (value && addr_parse(value->text, a))
		fields_bad(d, key);
}

/* "68de4f12.1c27": the first half is the start, the second the pid, which has a field of its own.
 */
static void take_session_id(struct fields *d, struct json_value *o, struct conn *c)
{
	struct json_value *value = fields_find(d, o, "session_id", JSON_IN_TEXT);
	unsigned long long start;
	char *end;

	if (!value)
		return;
	errno = 0;
	start = strtoull(value->text, &end, 16);
	if (*end != '.' || errno || start > INT64_MAX)
		fields_bad(d, "session_id");
	else
		c->backend_start = start;
}

static void take_pg(struct fields *d, struct json_value *o, struct conn *c)
{
	if (!o)
		return;
	c->has_pg = fields_us(d, o, "fork", &c->pg_fork_ns);
	c->has_pg &= fields_us(d, o, "authentication", &c->pg_auth_ns);
}

static void take_question(struct fields *d, struct json_value *o, struct question *q)
{
	take_address(d, o, "nameserver", &q->nameserver);
	fields_us(d, o, "at_us", &q->at_ns);
	q->answered = json_in_find(o, "rcode");
	q->rcode = (uint8_t)fields_word(d, o, "rcode", dns_rcode_parse, 0);
	q->has_rtt = fields_us(d, o, "rtt_us", &q->rtt_ns);
}

static void take_questions(struct fields *d, struct json_value *o, struct lookup *l)
{
	struct json_value *list = fields_find(d, o, "questions", JSON_IN_LIST);
	unsigned int told = 0;

	l->question_count = (unsigned int)fields_number(d, o, "question_count", 0, INT32_MAX);
	for (struct json_value *v = fields_child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			fields_bad(d, "questions");
		else if (told < QUESTIONS_TOLD)
			take_question(d, v, &l->questions[told++]);
	}
	if (l->question_count < told || told < QUESTIONS_TOLD)
		l->question_count = told;
}

static void take_lookup(struct fields *d, struct json_value *o, struct lookup *l)
{
	l->by = fields_word(d, o, "by", asker_parse, -ENOENT);
	l->kind = fields_word(d, o, "kind", direction_parse, -ENOENT);
	l->result = fields_word(d, o, "result", result_parse, -ENOENT);
	take_address(d, o, "address", &l->address);
	fields_us(d, o, "at_us", &l->at_ns);
	if (!fields_us(d, o, "dur_us", &l->dur_ns))
		fields_bad(d, "dur_us");
	l->code = fields_number(d, o, "code", INT32_MIN, INT32_MAX);
	FIELDS_TEXT(d, o, "name", l->name);
	take_questions(d, o, l);
}

static void take_lookups(struct fields *d, struct json_value *o, struct conn *c)
{
	struct json_value *list = fields_find(d, o, "lookups", JSON_IN_LIST);

	c->lookup_count = fields_number(d, o, "lookup_count", 0, INT32_MAX);
	for (struct json_value *v = fields_child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			fields_bad(d, "lookups");
		else if (c->lookups_told < LOOKUPS_TOLD)
			take_lookup(d, v, &c->lookups[c->lookups_told++]);
	}
	if (c->lookup_count < c->lookups_told)
		c->lookup_count = c->lookups_told;
}

static void take_client(struct fields *d, struct json_value *o, struct conn *c)
{
	c->pid = fields_number(d, o, "pid", 0, INT32_MAX);
	c->host_pid =
		json_in_find(o, "host_pid") ? fields_number(d, o, "host_pid", 0, INT32_MAX) : c->pid;
	take_session_id(d, o, c);
	take_address(d, o, "client", &c->client);
	c->client_port = fields_number(d, o, "client_port", 0, UINT16_MAX);
	c->has_user = FIELDS_TEXT(d, o, "user", c->user);
	c->has_user |= FIELDS_TEXT(d, o, "database", c->database);
	c->has_application = FIELDS_TEXT(d, o, "application", c->application);
}

static void take_times(struct fields *d, struct json_value *o, struct conn *c)
{
	c->has_wait = fields_us(d, o, "wait_us", &c->wait_ns);
	c->has_total = fields_us(d, o, "total_us", &c->total_ns);
	c->has_dns = fields_us(d, o, "dns_us", &c->dns_ns);
	c->phases_present = fields_spans(d, o, "phases_us", c->phases_ns, phase_parse, PHASE_COUNT);
	c->within_present = fields_spans(d, o, "within_us", c->within_ns, within_parse, WITHIN_COUNT);
	take_pg(d, fields_find(d, o, "pg_us", JSON_IN_OBJECT), c);
}

static void take_conn(struct fields *d, struct json_value *o, struct conn *c, bool ended)
{
	take_client(d, o, c);
	c->outcome = ended ? fields_word(d, o, "outcome", outcome_parse, -ENOENT) : OUTCOME_NONE;
	c->phase = fields_word(d, o, "phase", phase_parse, PHASE_UNKNOWN);
	if (!ended) {
		fields_us(d, o, "phase_us", &c->in_phase_ns);
		fields_us(d, o, "age_us", &c->age_ns);
	}
	FIELDS_TEXT(d, o, "sqlstate", c->sqlstate);
	c->has_client_gone = fields_signed_us(d, o, "client_gone_us", &c->client_gone_ns);
	take_times(d, o, c);
	take_lookups(d, o, c);
}

/* A connection's line carries its accept; it was told when it ended. */
static int64_t conn_told_ns(const struct conn *c)
{
	uint64_t ns = 0;

	if (c->outcome == OUTCOME_NONE)
		return c->at_ns + c->age_ns;
	if (c->has_total)
		return c->at_ns + c->total_ns;
	for (enum phase p = PHASE_FORK; p < PHASE_COUNT; p++)
		if (c->phases_present >> p & 1)
			ns += c->phases_ns[p];
	return c->at_ns + (ns < FIELDS_SPAN_MAX ? ns : FIELDS_SPAN_MAX);
}

static void take_tick(struct fields *d, struct json_value *o, struct tick *t)
{
	struct json_value *by = fields_find(d, o, "lost_by", JSON_IN_OBJECT);
	char key[LOSS_KEY_LEN];

	t->in_setup = fields_number(d, o, "in_setup", 0, INT32_MAX);
	t->has_accept_queue = json_in_find(o, "accept_queue");
	t->accept_queue = fields_number(d, o, "accept_queue", 0, INT32_MAX);
	t->accept_queue_limit = fields_number(d, o, "accept_queue_limit", 0, INT32_MAX);
	t->listen_drops = fields_count(d, o, "listen_drops");
	if (!by)
		t->lost[0] = fields_count(d, o, "lost");
	for (enum loss l = 0; by && l < LOSS_COUNT; l++)
		t->lost[l] = fields_count(d, by, loss_key(l, key));
	t->before_start = fields_count(d, o, "before_start");
}

static void take_trigger(struct fields *d, struct json_value *o, struct trigger *t)
{
	struct json_value *value = json_in_find(o, "value");

	FIELDS_TEXT(d, o, "condition", t->condition);
	t->has_value = value && json_in_real(value, &t->value);
	if (value && !t->has_value)
		fields_bad(d, "value");
	t->cut_off = fields_count(d, o, "cut_off");
}

static void take_end(struct fields *d, struct json_value *o, struct end *e)
{
	FIELDS_TEXT(d, o, "reason", e->reason);
	e->connections = fields_count(d, o, "connections");
	for (enum outcome out = 0; out < OUTCOME_COUNT; out++)
		e->outcomes[out] = fields_count(d, o, outcome_name(out));
	e->in_setup = fields_count(d, o, "in_setup");
	e->before_start = fields_count(d, o, "before_start");
	e->lost = fields_count(d, o, "lost");
	e->filtered = fields_count(d, o, "filtered");
	e->verdict_count = FIELDS_LIST(d, o, "verdict", e->verdict);
}

/* Counts by name; names we do not know are of a later version. */
static void take_rcodes(struct fields *d, struct json_value *o, struct dns_server *s)
{
	for (struct json_value *v = fields_child(o); v; v = v->next) {
		int rcode = dns_rcode_parse(v->key);

		if (rcode >= 0)
			s->rcodes[rcode] = fields_count(d, o, v->key);
	}
}

static void take_rtt(struct fields *d, struct json_value *o, struct dns_server *s)
{
	struct json_value *bins = o ? fields_find(d, o, "bins", JSON_IN_OBJECT) : NULL;
	char key[16];

	if (!o)
		return;
	s->rtt_count = fields_count(d, o, "count");
	fields_us(d, o, "p50", &s->rtt_p50_ns);
	fields_us(d, o, "p99", &s->rtt_p99_ns);
	fields_us(d, o, "max", &s->rtt_max_ns);
	for (unsigned int i = 0; bins && i < DNS_RTT_BINS; i++) {
		snprintf(key, sizeof(key), "%u", 1u << i);
		s->rtt_bins[i] = fields_count(d, bins, key);
	}
}

static void take_dns_server(struct fields *d, struct json_value *o, struct dns_server *s)
{
	take_address(d, o, "nameserver", &s->address);
	s->queries = fields_count(d, o, "queries");
	s->answers = fields_count(d, o, "answers");
	s->unanswered = fields_count(d, o, "unanswered");
	s->retries = fields_count(d, o, "retries");
	take_rcodes(d, fields_find(d, o, "rcodes", JSON_IN_OBJECT), s);
	take_rtt(d, fields_find(d, o, "rtt_us", JSON_IN_OBJECT), s);
}

static void take_dns(struct fields *d, struct json_value *o, struct dns_report *r)
{
	struct json_value *list = fields_find(d, o, "nameservers", JSON_IN_LIST);

	r->packets = fields_count(d, o, "packets");
	r->lost = fields_count(d, o, "lost");
	r->others = fields_count(d, o, "others");
	for (struct json_value *v = fields_child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			fields_bad(d, "nameservers");
		else if (r->count < DNS_SERVERS)
			take_dns_server(d, v, &r->servers[r->count++]);
	}
}

static int event_type(const char *name)
{
	static const struct {
		const char *name;
		enum event_type type;
	} types[] = {
		{ "conn", EVENT_CONN },         { "tick", EVENT_TICK },
		{ "start", EVENT_START },       { "settings", EVENT_SETTINGS },
		{ "end", EVENT_END },           { "trigger", EVENT_TRIGGER },
		{ "in_setup", EVENT_IN_SETUP }, { "dns", EVENT_DNS },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return types[i].type;
	return -ENOENT;
}

static void take_body(struct fields *d, struct json_value *o, struct event *ev)
{
	switch (ev->type) {
	case EVENT_START:
		take_start(d, o, &ev->start);
		break;
	case EVENT_CONN:
	case EVENT_IN_SETUP:
		ev->conn.at_ns = ev->at_ns;
		take_conn(d, o, &ev->conn, ev->type == EVENT_CONN);
		ev->at_ns = conn_told_ns(&ev->conn);
		break;
	case EVENT_TICK:
		take_tick(d, o, &ev->tick);
		break;
	case EVENT_DNS:
		take_dns(d, o, &ev->dns);
		break;
	case EVENT_SETTINGS:
		take_settings(d, fields_find(d, o, "changed", JSON_IN_OBJECT), &ev->settings);
		break;
	case EVENT_TRIGGER:
		take_trigger(d, o, &ev->trigger);
		break;
	case EVENT_END:
		take_end(d, o, &ev->end);
		break;
	case EVENT_SWEEP:
		break;
	}
}

int trace_decode(struct json_value *line, struct event *ev, const char **field)
{
	struct fields d = { 0 };
	struct json_value *server, *type = fields_find(&d, line, "type", JSON_IN_TEXT);
	int number;

	if (!type) {
		*field = "type";
		return -EINVAL;
	}
	number = event_type(type->text);
	if (number < 0)
		return 0;
	memset(ev, 0, sizeof(*ev));
	ev->type = number;
	ev->at_ns = fields_time(&d, line);
	server = fields_find(&d, line, "server", JSON_IN_TEXT);
	ev->server = server ? server->text : NULL;
	take_body(&d, line, ev);
	*field = d.bad;
	return d.bad ? -EINVAL : 1;
}
