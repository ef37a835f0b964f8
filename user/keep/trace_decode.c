/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/trace_decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"
#include "keep/trace_keys.h"

/* The first field that is not what it should be; everything goes on, the line is refused at the
 * end. */
struct decoder {
	const char *bad;
};

static void bad(struct decoder *d, const char *field)
{
	if (!d->bad)
		d->bad = field;
}

static struct json_value *find_kind(struct decoder *d, struct json_value *o, const char *key,
				    enum json_kind kind)
{
	struct json_value *value = json_in_find(o, key);

	if (!value || value->kind == kind)
		return value;
	bad(d, key);
	return NULL;
}

static struct json_value *child(const struct json_value *v)
{
	return v ? v->first : NULL;
}

static void copy_text(const char *text, char *buf, size_t len)
{
	size_t size = strlen(text);

	if (size < len)
		memcpy(buf, text, size + 1);
	else
		safe_utf8(text, buf, len);
}

static bool take_text(struct decoder *d, struct json_value *o, const char *key, char *buf,
		      size_t len)
{
	struct json_value *value = find_kind(d, o, key, JSON_IN_TEXT);

	if (value)
		copy_text(value->text, buf, len);
	return value;
}

#define TAKE_TEXT(d, o, key, array) take_text(d, o, key, array, sizeof(array))

static bool take_bool(struct decoder *d, struct json_value *o, const char *key, bool *out)
{
	struct json_value *value = json_in_find(o, key);

	if (!value)
		return false;
	if (value->kind != JSON_IN_BOOL)
		bad(d, key);
	*out = value->truth;
	return true;
}

static bool take_int(struct decoder *d, struct json_value *o, const char *key, int64_t least,
		     int64_t most, int64_t *out)
{
	struct json_value *value = json_in_find(o, key);

	if (!value)
		return false;
	if (json_in_int(value, out) && *out >= least && *out <= most)
		return true;
	bad(d, key);
	return false;
}

static int take_number(struct decoder *d, struct json_value *o, const char *key, int least,
		       int most)
{
	int64_t value = 0;

	take_int(d, o, key, least, most, &value);
	return value;
}

static uint64_t take_count(struct decoder *d, struct json_value *o, const char *key)
{
	int64_t value = 0;

	take_int(d, o, key, 0, INT64_MAX, &value);
	return value;
}

static bool take_signed_us(struct decoder *d, struct json_value *o, const char *key, int64_t *ns)
{
	struct json_value *value = json_in_find(o, key);

	if (value && json_in_us(value, ns))
		return true;
	if (value)
		bad(d, key);
	return false;
}

static bool take_us(struct decoder *d, struct json_value *o, const char *key, uint64_t *ns)
{
	int64_t value;

	if (!take_signed_us(d, o, key, &value))
		return false;
	if (value < 0)
		bad(d, key);
	*ns = value;
	return value >= 0;
}

static int64_t take_time(struct decoder *d, struct json_value *o)
{
	struct json_value *value = find_kind(d, o, "at", JSON_IN_TEXT);
	int64_t ns = 0;

	if (!value || clock_parse(value->text, 0, &ns))
		bad(d, "at");
	return ns;
}

/* A word of one of the model's tables; fallback when it is absent. */
static int take_word(struct decoder *d, struct json_value *o, const char *key,
		     int (*parse)(const char *), int fallback)
{
	struct json_value *value = find_kind(d, o, key, JSON_IN_TEXT);
	int number = value ? parse(value->text) : fallback;

	if (number < 0)
		bad(d, key);
	return number < 0 ? 0 : number;
}

/* Durations by name; names we do not know are of a later version. Returns bits. */
static unsigned int take_spans(struct decoder *d, struct json_value *o, const char *key,
			       uint64_t *spans_ns, int (*parse)(const char *), int count)
{
	struct json_value *spans = find_kind(d, o, key, JSON_IN_OBJECT);
	unsigned int present = 0;

	for (struct json_value *v = child(spans); v; v = v->next) {
		int number = parse(v->key);
		int64_t ns;

		if (number < 0 || number >= count || v->kind == JSON_IN_NULL)
			continue;
		if (!json_in_us(v, &ns) || ns < 0) {
			bad(d, v->key);
			continue;
		}
		spans_ns[number] = ns;
		present |= 1u << number;
	}
	return present;
}

/* Names as bits; names we do not know are of a later version. */
static unsigned int take_bits(struct decoder *d, struct json_value *o, const char *key,
			      int (*parse)(const char *), int count)
{
	struct json_value *list = find_kind(d, o, key, JSON_IN_LIST);
	unsigned int bits = 0;

	for (struct json_value *v = child(list); v; v = v->next) {
		int number = v->kind == JSON_IN_TEXT ? parse(v->text) : -EINVAL;

		if (number == -EINVAL)
			bad(d, key);
		else if (number >= 0 && number < count)
			bits |= 1u << number;
	}
	return bits;
}

/* A printer that we do not know is of a later version. */
static void take_printers(struct decoder *d, struct json_value *o, struct settings *s)
{
	struct json_value *list = find_kind(d, o, "name_shown_by", JSON_IN_LIST);

	s->has_printers = list;
	for (struct json_value *v = child(list); v; v = v->next) {
		int printer = v->kind == JSON_IN_TEXT ? printer_parse(v->text) : -EINVAL;

		if (printer >= 0)
			s->printers |= 1U << printer;
		else if (v->kind != JSON_IN_TEXT)
			bad(d, "name_shown_by");
	}
}

static void take_settings(struct decoder *d, struct json_value *o, struct settings *s)
{
	if (!o)
		return;
	s->has_log_hostname = take_bool(d, o, "log_hostname", &s->log_hostname);
	s->has_log_line_prefix = TAKE_TEXT(d, o, "log_line_prefix", s->log_line_prefix);
	take_printers(d, o, s);
	s->missing_phases = take_bits(d, o, "missing_phases", phase_parse, PHASE_COUNT);
}

static unsigned int take_list(struct decoder *d, struct json_value *o, const char *key, char *first,
			      size_t stride, size_t max)
{
	struct json_value *list = find_kind(d, o, key, JSON_IN_LIST);
	unsigned int count = 0;

	for (struct json_value *v = child(list); v; v = v->next) {
		if (v->kind != JSON_IN_TEXT)
			bad(d, key);
		else if (count < max)
			copy_text(v->text, first + count++ * stride, stride);
	}
	return count;
}

#define TAKE_LIST(d, o, key, array)                                                                \
	take_list(d, o, key, array[0], sizeof(array[0]), sizeof(array) / sizeof(array[0]))

static void take_resolver(struct decoder *d, struct json_value *o, struct resolver *r)
{
	if (!o)
		return;
	r->has = true;
	r->host_count = TAKE_LIST(d, o, "hosts", r->hosts);
	r->nameserver_count = TAKE_LIST(d, o, "nameservers", r->nameservers);
	r->search_count = TAKE_LIST(d, o, "search", r->search);
	r->timeout_s = take_number(d, o, "timeout_s", 0, INT32_MAX);
	r->attempts = take_number(d, o, "attempts", 0, INT32_MAX);
	take_bool(d, o, "rotate", &r->rotate);
	take_bool(d, o, "single_request", &r->single_request);
	take_bool(d, o, "nscd", &r->nscd);
	take_bool(d, o, "nss_resolve", &r->nss_resolve);
	TAKE_TEXT(d, o, "libc", r->libc);
}

static void take_missing(struct decoder *d, struct json_value *o, struct session *s)
{
	unsigned int directions =
		take_bits(d, o, "missing_lookups", direction_parse, DIRECTION_COUNT);

	s->missing_phases = take_bits(d, o, "missing_phases", phase_parse, PHASE_COUNT);
	s->missing_within = take_bits(d, o, "missing_within", within_parse, WITHIN_COUNT);
	s->missing_forward = directions & 1u << DIRECTION_FORWARD;
}

static void take_start(struct decoder *d, struct json_value *o, struct session *s)
{
	TAKE_TEXT(d, o, "tool", s->tool);
	TAKE_TEXT(d, o, "host", s->host);
	TAKE_TEXT(d, o, "kernel", s->kernel);
	s->postmaster = take_number(d, o, "postmaster", 0, INT32_MAX);
	TAKE_TEXT(d, o, "server_version", s->server_version);
	s->server_major = atoi(s->server_version);
	s->port = take_number(d, o, "port", 0, UINT16_MAX);
	TAKE_TEXT(d, o, "cluster_name", s->cluster_name);
	TAKE_TEXT(d, o, "data_directory", s->data_directory);
	TAKE_TEXT(d, o, "container", s->container);
	TAKE_TEXT(d, o, "time_zone", s->time_zone);
	TAKE_TEXT(d, o, "socket_directory", s->socket_directory);
	take_settings(d, find_kind(d, o, "settings", JSON_IN_OBJECT), &s->settings);
	take_resolver(d, find_kind(d, o, "resolver", JSON_IN_OBJECT), &s->resolver);
	take_missing(d, o, s);
	TAKE_TEXT(d, o, "filter", s->filter);
}

static void take_address(struct decoder *d, struct json_value *o, const char *key, struct addr *a)
{
	struct json_value *value = find_kind(d, o, key, JSON_IN_TEXT);

	if (value && addr_parse(value->text, a))
		bad(d, key);
}

/* "68de4f12.1c27": the first half is the start, the second the pid, which has a field of its own.
 */
static void take_session_id(struct decoder *d, struct json_value *o, struct conn *c)
{
	struct json_value *value = find_kind(d, o, "session_id", JSON_IN_TEXT);
	unsigned long long start;
	char *end;

	if (!value)
		return;
	errno = 0;
	start = strtoull(value->text, &end, 16);
	if (*end != '.' || errno || start > INT64_MAX)
		bad(d, "session_id");
	else
		c->backend_start = start;
}

static void take_pg(struct decoder *d, struct json_value *o, struct conn *c)
{
	if (!o)
		return;
	c->has_pg = take_us(d, o, "fork", &c->pg_fork_ns);
	c->has_pg &= take_us(d, o, "authentication", &c->pg_auth_ns);
}

static void take_question(struct decoder *d, struct json_value *o, struct question *q)
{
	take_address(d, o, "nameserver", &q->nameserver);
	take_us(d, o, "at_us", &q->at_ns);
	q->answered = json_in_find(o, "rcode");
	q->rcode = (uint8_t)take_word(d, o, "rcode", dns_rcode_parse, 0);
	q->has_rtt = take_us(d, o, "rtt_us", &q->rtt_ns);
}

static void take_questions(struct decoder *d, struct json_value *o, struct lookup *l)
{
	struct json_value *list = find_kind(d, o, "questions", JSON_IN_LIST);
	unsigned int told = 0;

	l->question_count = (unsigned int)take_number(d, o, "question_count", 0, INT32_MAX);
	for (struct json_value *v = child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			bad(d, "questions");
		else if (told < QUESTIONS_TOLD)
			take_question(d, v, &l->questions[told++]);
	}
	if (l->question_count < told || told < QUESTIONS_TOLD)
		l->question_count = told;
}

static void take_lookup(struct decoder *d, struct json_value *o, struct lookup *l)
{
	l->by = take_word(d, o, "by", asker_parse, -ENOENT);
	l->kind = take_word(d, o, "kind", direction_parse, -ENOENT);
	l->result = take_word(d, o, "result", result_parse, -ENOENT);
	take_address(d, o, "address", &l->address);
	take_us(d, o, "at_us", &l->at_ns);
	if (!take_us(d, o, "dur_us", &l->dur_ns))
		bad(d, "dur_us");
	l->code = take_number(d, o, "code", INT32_MIN, INT32_MAX);
	TAKE_TEXT(d, o, "name", l->name);
	take_questions(d, o, l);
}

static void take_lookups(struct decoder *d, struct json_value *o, struct conn *c)
{
	struct json_value *list = find_kind(d, o, "lookups", JSON_IN_LIST);

	c->lookup_count = take_number(d, o, "lookup_count", 0, INT32_MAX);
	for (struct json_value *v = child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			bad(d, "lookups");
		else if (c->lookups_told < LOOKUPS_TOLD)
			take_lookup(d, v, &c->lookups[c->lookups_told++]);
	}
	if (c->lookup_count < c->lookups_told)
		c->lookup_count = c->lookups_told;
}

static void take_client(struct decoder *d, struct json_value *o, struct conn *c)
{
	c->pid = take_number(d, o, "pid", 0, INT32_MAX);
	c->host_pid =
		json_in_find(o, "host_pid") ? take_number(d, o, "host_pid", 0, INT32_MAX) : c->pid;
	take_session_id(d, o, c);
	take_address(d, o, "client", &c->client);
	c->client_port = take_number(d, o, "client_port", 0, UINT16_MAX);
	c->has_user = TAKE_TEXT(d, o, "user", c->user);
	c->has_user |= TAKE_TEXT(d, o, "database", c->database);
	c->has_application = TAKE_TEXT(d, o, "application", c->application);
}

static void take_times(struct decoder *d, struct json_value *o, struct conn *c)
{
	c->has_wait = take_us(d, o, "wait_us", &c->wait_ns);
	c->has_total = take_us(d, o, "total_us", &c->total_ns);
	c->has_dns = take_us(d, o, "dns_us", &c->dns_ns);
	c->phases_present = take_spans(d, o, "phases_us", c->phases_ns, phase_parse, PHASE_COUNT);
	c->within_present = take_spans(d, o, "within_us", c->within_ns, within_parse, WITHIN_COUNT);
	take_pg(d, find_kind(d, o, "pg_us", JSON_IN_OBJECT), c);
}

static void take_conn(struct decoder *d, struct json_value *o, struct conn *c, bool ended)
{
	take_client(d, o, c);
	c->outcome = ended ? take_word(d, o, "outcome", outcome_parse, -ENOENT) : OUTCOME_NONE;
	c->phase = take_word(d, o, "phase", phase_parse, PHASE_UNKNOWN);
	if (!ended) {
		take_us(d, o, "phase_us", &c->in_phase_ns);
		take_us(d, o, "age_us", &c->age_ns);
	}
	TAKE_TEXT(d, o, "sqlstate", c->sqlstate);
	c->has_client_gone = take_signed_us(d, o, "client_gone_us", &c->client_gone_ns);
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
	return c->at_ns + ns;
}

static void take_tick(struct decoder *d, struct json_value *o, struct tick *t)
{
	struct json_value *by = find_kind(d, o, "lost_by", JSON_IN_OBJECT);
	char key[LOSS_KEY_LEN];

	t->in_setup = take_number(d, o, "in_setup", 0, INT32_MAX);
	t->has_accept_queue = json_in_find(o, "accept_queue");
	t->accept_queue = take_number(d, o, "accept_queue", 0, INT32_MAX);
	t->accept_queue_limit = take_number(d, o, "accept_queue_limit", 0, INT32_MAX);
	t->listen_drops = take_count(d, o, "listen_drops");
	if (!by)
		t->lost[0] = take_count(d, o, "lost");
	for (enum loss l = 0; by && l < LOSS_COUNT; l++)
		t->lost[l] = take_count(d, by, loss_key(l, key));
	t->before_start = take_count(d, o, "before_start");
}

static void take_trigger(struct decoder *d, struct json_value *o, struct trigger *t)
{
	struct json_value *value = json_in_find(o, "value");

	TAKE_TEXT(d, o, "condition", t->condition);
	t->has_value = value && json_in_real(value, &t->value);
	if (value && !t->has_value)
		bad(d, "value");
	t->cut_off = take_count(d, o, "cut_off");
}

static void take_end(struct decoder *d, struct json_value *o, struct end *e)
{
	TAKE_TEXT(d, o, "reason", e->reason);
	e->connections = take_count(d, o, "connections");
	for (enum outcome out = 0; out < OUTCOME_COUNT; out++)
		e->outcomes[out] = take_count(d, o, outcome_name(out));
	e->in_setup = take_count(d, o, "in_setup");
	e->before_start = take_count(d, o, "before_start");
	e->lost = take_count(d, o, "lost");
	e->filtered = take_count(d, o, "filtered");
	e->verdict_count = TAKE_LIST(d, o, "verdict", e->verdict);
}

/* Counts by name; names we do not know are of a later version. */
static void take_rcodes(struct decoder *d, struct json_value *o, struct dns_server *s)
{
	for (struct json_value *v = child(o); v; v = v->next) {
		int rcode = dns_rcode_parse(v->key);

		if (rcode >= 0)
			s->rcodes[rcode] = take_count(d, o, v->key);
	}
}

static void take_rtt(struct decoder *d, struct json_value *o, struct dns_server *s)
{
	struct json_value *bins = o ? find_kind(d, o, "bins", JSON_IN_OBJECT) : NULL;
	char key[16];

	if (!o)
		return;
	s->rtt_count = take_count(d, o, "count");
	take_us(d, o, "p50", &s->rtt_p50_ns);
	take_us(d, o, "p99", &s->rtt_p99_ns);
	take_us(d, o, "max", &s->rtt_max_ns);
	for (unsigned int i = 0; bins && i < DNS_RTT_BINS; i++) {
		snprintf(key, sizeof(key), "%u", 1u << i);
		s->rtt_bins[i] = take_count(d, bins, key);
	}
}

static void take_dns_server(struct decoder *d, struct json_value *o, struct dns_server *s)
{
	take_address(d, o, "nameserver", &s->address);
	s->queries = take_count(d, o, "queries");
	s->answers = take_count(d, o, "answers");
	s->unanswered = take_count(d, o, "unanswered");
	s->retries = take_count(d, o, "retries");
	take_rcodes(d, find_kind(d, o, "rcodes", JSON_IN_OBJECT), s);
	take_rtt(d, find_kind(d, o, "rtt_us", JSON_IN_OBJECT), s);
}

static void take_dns(struct decoder *d, struct json_value *o, struct dns_report *r)
{
	struct json_value *list = find_kind(d, o, "nameservers", JSON_IN_LIST);

	r->packets = take_count(d, o, "packets");
	r->lost = take_count(d, o, "lost");
	r->others = take_count(d, o, "others");
	for (struct json_value *v = child(list); v; v = v->next) {
		if (v->kind != JSON_IN_OBJECT)
			bad(d, "nameservers");
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

static void take_body(struct decoder *d, struct json_value *o, struct event *ev)
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
		take_settings(d, find_kind(d, o, "changed", JSON_IN_OBJECT), &ev->settings);
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
	struct decoder d = { 0 };
	struct json_value *server, *type = find_kind(&d, line, "type", JSON_IN_TEXT);
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
	ev->at_ns = take_time(&d, line);
	server = find_kind(&d, line, "server", JSON_IN_TEXT);
	ev->server = server ? server->text : NULL;
	take_body(&d, line, ev);
	*field = d.bad;
	return d.bad ? -EINVAL : 1;
}
