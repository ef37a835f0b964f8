/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 4180: a header, CRLF, one row per connection. A value that was not measured is an empty
 * field. Of several lookups the row shows the one that took longest; dns_us has their sum.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"
#include "export/export.h"

#define FIELD_LEN (2 * TEXT_LEN + 8) /* every byte a quote, the two around, an apostrophe */

struct csv {
	FILE *out;
	char host[FIELD_LEN]; /* as a field */
	int port;
};

struct row {
	FILE *out;
	const struct csv *csv;
	const struct conn *conn;
	const struct lookup *slowest; /* NULL: no lookup was told */
};

/* Integers without printf, which a million rows would notice. */
static void put_int(FILE *out, int64_t value)
{
	char buf[24], *end = buf + sizeof(buf), *p = end;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do
		*--p = '0' + rest % 10;
	while (rest /= 10);
	if (value < 0)
		*--p = '-';
	fwrite_unlocked(p, 1, end - p, out);
}

/* "13201.247" */
static void put_us(FILE *out, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char fraction[] = { '.', '0' + size / 100 % 10, '0' + size / 10 % 10, '0' + size % 10 };

	if (ns < 0)
		putc_unlocked('-', out);
	put_int(out, size / 1000);
	fwrite_unlocked(fraction, 1, sizeof(fraction), out);
}

/* Hostile text. */
static void put_text(const struct row *r, const char *text)
{
	char buf[FIELD_LEN];

	fputs_unlocked(safe_csv(text, buf, sizeof(buf)), r->out);
}

/* Text of our own: digits, letters and what addresses and times are made of. */
static void put_word(const struct row *r, const char *word)
{
	fputs_unlocked(word, r->out);
}

static void put_at(const struct row *r, int unused)
{
	char buf[CLOCK_TEXT_LEN];

	(void)unused;
	put_word(r, clock_rfc3339(r->conn->at_ns, buf));
}

static void put_host(const struct row *r, int unused)
{
	(void)unused;
	put_word(r, r->csv->host);
}

enum number { NUMBER_PORT, NUMBER_PID, NUMBER_CLIENT_PORT };

static void put_number(const struct row *r, int which)
{
	int64_t value = which == NUMBER_PORT ? r->csv->port :
			which == NUMBER_PID ? r->conn->pid :
					      r->conn->client_port;

	if (value)
		put_int(r->out, value);
}

static void put_session(const struct row *r, int unused)
{
	char buf[32];

	(void)unused;
	put_word(r, conn_session_id(r->conn, buf));
}

static void put_client(const struct row *r, int unused)
{
	char buf[ADDR_TEXT_LEN];

	(void)unused;
	put_word(r, addr_format(&r->conn->client, buf));
}

enum name { NAME_USER, NAME_DATABASE, NAME_APPLICATION };

static void put_name(const struct row *r, int which)
{
	const struct conn *c = r->conn;

	if (which == NAME_APPLICATION && c->has_application)
		put_text(r, c->application);
	else if (which != NAME_APPLICATION && c->has_user)
		put_text(r, which == NAME_USER ? c->user : c->database);
}

static void put_outcome(const struct row *r, int unused)
{
	enum outcome o = r->conn->outcome;

	(void)unused;
	put_word(r, o == OUTCOME_NONE ? "in_setup" : outcome_name(o));
}

static void put_phase(const struct row *r, int unused)
{
	const char *name = phase_name(r->conn->phase);

	(void)unused;
	if (r->conn->outcome != OUTCOME_READY && name)
		put_word(r, name);
}

static void put_sqlstate(const struct row *r, int unused)
{
	(void)unused;
	put_text(r, r->conn->sqlstate);
}

static void put_metric(const struct row *r, int metric)
{
	uint64_t ns;

	if (conn_metric(r->conn, metric, &ns))
		put_us(r->out, ns);
}

static void put_gone(const struct row *r, int unused)
{
	(void)unused;
	if (r->conn->has_client_gone)
		put_us(r->out, r->conn->client_gone_ns);
}

enum pg { PG_FORK, PG_AUTH };

static void put_pg(const struct row *r, int which)
{
	if (r->conn->has_pg)
		put_us(r->out, which == PG_FORK ? r->conn->pg_fork_ns : r->conn->pg_auth_ns);
}

static void put_lookup_count(const struct row *r, int unused)
{
	(void)unused;
	put_int(r->out, r->conn->lookup_count);
}

enum of_lookup { LOOKUP_BY, LOOKUP_KIND, LOOKUP_ADDRESS, LOOKUP_DUR, LOOKUP_RESULT, LOOKUP_CODE,
		 LOOKUP_NAME };

static void put_lookup(const struct row *r, int which)
{
	const struct lookup *l = r->slowest;
	char buf[ADDR_TEXT_LEN];

	if (!l)
		return;
	switch (which) {
	case LOOKUP_BY:
		return put_word(r, asker_name(l->by));
	case LOOKUP_KIND:
		return put_word(r, direction_name(l->kind));
	case LOOKUP_ADDRESS:
		return put_word(r, addr_format(&l->address, buf));
	case LOOKUP_DUR:
		return put_us(r->out, l->dur_ns);
	case LOOKUP_RESULT:
		return put_word(r, result_name(l->result));
	case LOOKUP_CODE:
		return put_int(r->out, l->code);
	default:
		return put_text(r, l->name);
	}
}

#define PHASE_COLUMN(name, text)  { text "_us", put_metric, METRIC_PHASE(PHASE_##name) },
#define WITHIN_COLUMN(name, text) { text "_us", put_metric, METRIC_WITHIN(WITHIN_##name) },

static const struct column {
	const char *name;
	void (*put)(const struct row *r, int which);
	int which;
} columns[] = {
	{ "at", put_at, 0 },
	{ "host", put_host, 0 },
	{ "port", put_number, NUMBER_PORT },
	{ "pid", put_number, NUMBER_PID },
	{ "session_id", put_session, 0 },
	{ "client", put_client, 0 },
	{ "client_port", put_number, NUMBER_CLIENT_PORT },
	{ "user", put_name, NAME_USER },
	{ "database", put_name, NAME_DATABASE },
	{ "application", put_name, NAME_APPLICATION },
	{ "outcome", put_outcome, 0 },
	{ "phase", put_phase, 0 },
	{ "sqlstate", put_sqlstate, 0 },
	{ "wait_us", put_metric, METRIC_WAIT },
	{ "total_us", put_metric, METRIC_TOTAL },
	{ "dns_us", put_metric, METRIC_DNS },
	PHASES(PHASE_COLUMN)
	WITHINS(WITHIN_COLUMN)
	{ "client_gone_us", put_gone, 0 },
	{ "pg_fork_us", put_pg, PG_FORK },
	{ "pg_authentication_us", put_pg, PG_AUTH },
	{ "lookup_count", put_lookup_count, 0 },
	{ "lookup_by", put_lookup, LOOKUP_BY },
	{ "lookup_kind", put_lookup, LOOKUP_KIND },
	{ "lookup_address", put_lookup, LOOKUP_ADDRESS },
	{ "lookup_us", put_lookup, LOOKUP_DUR },
	{ "lookup_result", put_lookup, LOOKUP_RESULT },
	{ "lookup_code", put_lookup, LOOKUP_CODE },
	{ "lookup_name", put_lookup, LOOKUP_NAME },
	{ 0 },
};

static void write_header(FILE *out)
{
	for (const struct column *col = columns; col->name; col++)
		fprintf(out, "%s%s", col->name, col[1].name ? "," : "\r\n");
}

static const struct lookup *slowest_lookup(const struct conn *c)
{
	const struct lookup *slowest = NULL;

	for (unsigned int i = 0; i < c->lookups_told; i++)
		if (!slowest || c->lookups[i].dur_ns > slowest->dur_ns)
			slowest = &c->lookups[i];
	return slowest;
}

static void write_row(const struct csv *csv, const struct conn *c)
{
	struct row r = { .out = csv->out, .csv = csv, .conn = c, .slowest = slowest_lookup(c) };

	for (const struct column *col = columns; col->name; col++) {
		col->put(&r, col->which);
		fputs_unlocked(col[1].name ? "," : "\r\n", csv->out);
	}
}

void *csv_open(FILE *out)
{
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return NULL;
	csv->out = out;
	write_header(out);
	return csv;
}

int csv_event(void *state, const struct event *ev)
{
	struct csv *csv = state;

	if (ev->type == EVENT_START) {
		safe_csv(ev->start.host, csv->host, sizeof(csv->host));
		csv->port = ev->start.port;
	} else if (ev->type == EVENT_CONN || ev->type == EVENT_IN_SETUP) {
		write_row(csv, &ev->conn);
	}
	return export_status(csv->out);
}

int csv_close(void *state)
{
	struct csv *csv = state;
	FILE *out = csv->out;

	free(csv);
	return export_status(out);
}
