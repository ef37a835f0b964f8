/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP as the OpenTelemetry file exporter writes it: JSON lines, each an ExportTraceServiceRequest
 * (ids in hex, 64-bit integers as strings, enums as numbers). One trace a connection: a SERVER
 * span with a child for each phase, and those with a child for each lookup. Names follow the
 * semantic conventions for databases, clients and DNS; our own stand under "pgdnstrace.".
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "export/arpa.h"
#include "export/export.h"
#include "export/span.h"
#include "model/dns.h"

/* At most 40 kB each with the most hostile names: a line stays below the 1 MiB readers take. */
#define BATCH	 24
#define LINE_LEN (1 << 20)

enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CLIENT = 3 };
#define STATUS_ERROR 2

struct otlp {
	FILE *out;
	struct json_out j; /* one line */
	struct session session;
	unsigned int in_batch; /* connections in the open line; 0: no line is open */
	char line[LINE_LEN];
};

/* -- ids: the same trace gives the same ids -- */

struct span_ids {
	uint64_t trace[2], span;
};

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3; /* FNV-1a */
	return hash;
}

/* Spreads what FNV leaves in the low bits; never 0, which would be an invalid id. */
static uint64_t hash_finish(uint64_t hash)
{
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
	hash ^= hash >> 31;
	return hash ? hash : 1;
}

static uint64_t conn_hash(const struct otlp *o, const struct conn *c, uint64_t seed)
{
	int64_t numbers[] = { o->session.postmaster, o->session.port, c->at_ns, c->pid, c->host_pid };
	uint64_t hash = hash_bytes(seed, o->session.host, strlen(o->session.host));

	return hash_finish(hash_bytes(hash, numbers, sizeof(numbers)));
}

static struct span_ids root_ids(const struct otlp *o, const struct conn *c)
{
	struct span_ids ids = { { conn_hash(o, c, 0xcbf29ce484222325), conn_hash(o, c, 0x70676e73) },
				0 };

	ids.span = hash_finish(ids.trace[0] ^ ids.trace[1]);
	return ids;
}

static struct span_ids child_ids(const struct span_ids *parent, unsigned int number)
{
	struct span_ids ids = *parent;

	ids.span = hash_finish(parent->span + number + 1);
	return ids;
}

static void put_id(struct json_out *j, const char *key, const uint64_t *words, unsigned int count)
{
	char hex[33];

	for (unsigned int i = 0; i < count; i++)
		snprintf(hex + 16 * i, 17, "%016llx", (unsigned long long)words[i]);
	json_put_text(j, key, hex);
}

/* -- attributes -- */

static void attribute_open(struct json_out *j, const char *key)
{
	json_put_open(j, NULL, '{');
	json_put_text(j, "key", key);
	json_put_open(j, "value", '{');
}

static void attribute_close(struct json_out *j)
{
	json_put_close(j, '}');
	json_put_close(j, '}');
}

/* Nothing is written for "": absent is absent. */
static void attribute_text(struct json_out *j, const char *key, const char *text)
{
	if (!text || !text[0])
		return;
	attribute_open(j, key);
	json_put_text(j, "stringValue", text);
	attribute_close(j);
}

/* "123": how protobuf's JSON has 64 bits. */
static void put_int_text(struct json_out *j, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	json_put_text(j, key, text);
}

static void attribute_int(struct json_out *j, const char *key, int64_t value)
{
	attribute_open(j, key);
	put_int_text(j, "intValue", value);
	attribute_close(j);
}

static void attribute_addr(struct json_out *j, const char *key, const struct addr *a)
{
	char text[ADDR_TEXT_LEN];

	attribute_text(j, key, addr_format(a, text));
}

/* Durations that no span shows, in ns. */
static void attribute_ns(struct json_out *j, const char *name, int64_t ns)
{
	char key[64];

	snprintf(key, sizeof(key), "pgdnstrace.%s_ns", name);
	attribute_int(j, key, ns);
}

/* -- spans -- */

/* Begins a span; its list of attributes is left open. */
static void span_begin(struct otlp *o, const struct span_ids *ids, uint64_t parent,
		       const char *name, enum span_kind kind, const struct span *s)
{
	struct json_out *j = &o->j;

	json_put_open(j, NULL, '{');
	put_id(j, "traceId", ids->trace, 2);
	put_id(j, "spanId", &ids->span, 1);
	if (parent)
		put_id(j, "parentSpanId", &parent, 1);
	json_put_text(j, "name", name);
	json_put_int(j, "kind", kind);
	put_int_text(j, "startTimeUnixNano", s->from_ns);
	put_int_text(j, "endTimeUnixNano", s->to_ns);
	json_put_open(j, "attributes", '[');
}

/* Behind the attributes. */
static void span_end(struct otlp *o, bool error)
{
	struct json_out *j = &o->j;

	if (error) {
		json_put_open(j, "status", '{');
		json_put_int(j, "code", STATUS_ERROR);
		json_put_close(j, '}');
	}
	json_put_close(j, '}');
}

static void write_question(struct otlp *o, const struct question *q, int64_t at_ns)
{
	char rcode[DNS_RCODE_TEXT_LEN];
	struct json_out *j = &o->j;

	json_put_open(j, NULL, '{');
	put_int_text(j, "timeUnixNano", at_ns);
	json_put_text(j, "name", "dns.query");
	json_put_open(j, "attributes", '[');
	attribute_addr(j, "server.address", &q->nameserver);
	if (q->answered)
		attribute_text(j, "pgdnstrace.dns.rcode", dns_rcode_name(q->rcode, rcode));
	if (q->has_rtt)
		attribute_ns(j, "dns.rtt", q->rtt_ns);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

/* The questions that were sent, where packets were watched. */
static void write_questions(struct otlp *o, const struct lookup *l, const struct span *s)
{
	if (!l->question_count)
		return;
	json_put_open(&o->j, "events", '[');
	for (unsigned int i = 0; i < l->question_count && i < QUESTIONS_TOLD; i++)
		write_question(o, &l->questions[i], s->from_ns + l->questions[i].at_ns);
	json_put_close(&o->j, ']');
}

static void write_lookup(struct otlp *o, const struct span_ids *ids, uint64_t parent,
			 const struct lookup *l, const struct span *s)
{
	bool failed = l->result == RESULT_FAILED;
	struct json_out *j = &o->j;
	char name[ARPA_LEN], code[24];

	span_begin(o, ids, parent, l->kind == DIRECTION_REVERSE ? "reverse lookup" : "forward lookup",
		   SPAN_CLIENT, s);
	attribute_text(j, "dns.question.name",
		       l->kind == DIRECTION_FORWARD ? l->name : arpa_name(&l->address, name));
	if (failed)
		attribute_text(j, "error.type", eai_name(l->code, code));
	attribute_text(j, "pgdnstrace.lookup.by", asker_name(l->by));
	attribute_text(j, "pgdnstrace.lookup.kind", direction_name(l->kind));
	attribute_text(j, "pgdnstrace.lookup.result", result_name(l->result));
	attribute_addr(j, "pgdnstrace.lookup.address", &l->address);
	if (l->kind == DIRECTION_REVERSE)
		attribute_text(j, "pgdnstrace.lookup.name", l->name);
	json_put_close(j, ']');
	write_questions(o, l, s);
	span_end(o, failed);
}

static void write_lookups(struct otlp *o, const struct conn *c, const struct span_ids *phase_ids,
			  const struct span *phase)
{
	int64_t after_ns = 0;
	struct span s;

	for (unsigned int i = 0; i < c->lookups_told; i++) {
		struct span_ids ids = child_ids(phase_ids, i);

		if (span_lookup(c, &c->lookups[i], phase, &after_ns, &s))
			write_lookup(o, &ids, phase_ids->span, &c->lookups[i], &s);
	}
}

static void write_phases(struct otlp *o, const struct conn *c, const struct span_ids *root)
{
	struct span s;

	for (enum phase p = 0; p < PHASE_COUNT; p++) {
		struct span_ids ids = child_ids(root, p);

		if (!span_phase(c, p, &s))
			continue;
		span_begin(o, &ids, root->span, phase_name(p), SPAN_INTERNAL, &s);
		json_put_close(&o->j, ']');
		span_end(o, false);
		write_lookups(o, c, &ids, &s);
	}
}

/* Why a connection is an error; "" when it is none: probes and cancel requests do their job. */
static const char *error_type(const struct conn *c)
{
	switch (c->outcome) {
	case OUTCOME_GAVE_UP:
	case OUTCOME_KILLED:
		return outcome_name(c->outcome);
	case OUTCOME_FAILED:
		return c->sqlstate[0] ? c->sqlstate : outcome_name(c->outcome);
	default:
		return "";
	}
}

static void write_client(struct otlp *o, const struct conn *c)
{
	struct json_out *j = &o->j;

	attribute_text(j, "db.system.name", "postgresql");
	attribute_text(j, "db.namespace", c->has_user ? c->database : "");
	attribute_text(j, "user.name", c->has_user ? c->user : "");
	attribute_addr(j, "client.address", &c->client);
	if (c->client_port)
		attribute_int(j, "client.port", c->client_port);
	if (c->client.family != ADDR_NONE)
		attribute_text(j, "network.transport",
			       c->client.family == ADDR_UNIX ? "unix" : "tcp");
}

static void write_own(struct otlp *o, const struct conn *c)
{
	struct json_out *j = &o->j;
	uint64_t ns;

	attribute_text(j, "pgdnstrace.application", c->has_application ? c->application : "");
	attribute_int(j, "pgdnstrace.pid", c->pid);
	attribute_text(j, "pgdnstrace.outcome",
		       c->outcome == OUTCOME_NONE ? "in_setup" : outcome_name(c->outcome));
	if (c->outcome != OUTCOME_READY)
		attribute_text(j, "pgdnstrace.phase", phase_name(c->phase));
	for (int m = 0; m < METRIC_COUNT; m++)
		if ((m < METRIC_PHASE(0) || m >= METRIC_WITHIN(0)) && conn_metric(c, m, &ns))
			attribute_ns(j, metric_name(m), ns);
	if (c->has_client_gone)
		attribute_ns(j, "client_gone", c->client_gone_ns);
	attribute_int(j, "pgdnstrace.lookup_count", c->lookup_count);
}

static void write_conn(struct otlp *o, const struct conn *c)
{
	struct span_ids ids = root_ids(o, c);
	const char *error = error_type(c);
	struct span all = span_conn(c);

	span_begin(o, &ids, 0, "postgresql connect", SPAN_SERVER, &all);
	write_client(o, c);
	attribute_text(&o->j, "db.response.status_code", c->sqlstate);
	attribute_text(&o->j, "error.type", error);
	write_own(o, c);
	json_put_close(&o->j, ']');
	span_end(o, error[0]);
	write_phases(o, c, &ids);
}

/* -- lines -- */

static void write_resource(struct json_out *j, const struct session *s)
{
	char instance[TEXT_LEN + 16];

	snprintf(instance, sizeof(instance), "%s:%d", s->host, s->port);
	json_put_open(j, "resource", '{');
	json_put_open(j, "attributes", '[');
	attribute_text(j, "service.name", "postgresql");
	attribute_text(j, "service.version", s->server_version);
	attribute_text(j, "service.instance.id", instance);
	attribute_text(j, "host.name", s->host);
	attribute_text(j, "pgdnstrace.cluster_name", s->cluster_name);
	attribute_text(j, "pgdnstrace.container", s->container);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

static void line_open(struct otlp *o)
{
	struct json_out *j = &o->j;

	json_put_start(j, o->line, sizeof(o->line));
	json_put_open(j, NULL, '{');
	json_put_open(j, "resourceSpans", '[');
	json_put_open(j, NULL, '{');
	write_resource(j, &o->session);
	json_put_open(j, "scopeSpans", '[');
	json_put_open(j, NULL, '{');
	json_put_open(j, "scope", '{');
	json_put_text(j, "name", "pgdnstrace");
	json_put_text(j, "version", PGDNSTRACE_VERSION);
	json_put_close(j, '}');
	json_put_open(j, "spans", '[');
}

static int line_close(struct otlp *o)
{
	if (!o->in_batch)
		return 0;
	json_put_raw(&o->j, "]}]}]}\n", 7);
	o->in_batch = 0;
	fwrite_unlocked(o->line, 1, o->j.used, o->out);
	return export_status(o->out);
}

void *otlp_open(FILE *out)
{
	struct otlp *o = calloc(1, sizeof(*o));

	if (o)
		o->out = out;
	return o;
}

int otlp_event(void *state, const struct event *ev)
{
	struct otlp *o = state;
	int rc = 0;

	if (ev->type == EVENT_START) {
		rc = line_close(o);
		o->session = ev->start;
	} else if (ev->type == EVENT_CONN || ev->type == EVENT_IN_SETUP) {
		if (!o->in_batch)
			line_open(o);
		write_conn(o, &ev->conn);
		if (++o->in_batch == BATCH)
			rc = line_close(o);
	}
	return rc;
}

int otlp_close(void *state)
{
	struct otlp *o = state;
	int rc = line_close(o);

	free(o);
	return rc;
}
