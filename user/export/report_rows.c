/* SPDX-License-Identifier: BSD-2-Clause */
/* The report's data as JSON: connections and tables. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/report_json.h"
#include "export/resolve.h"
#include "model/dns.h"

#define TABLE_ROWS    50
#define IN_SETUP_ROWS 200

void report_put_ms(struct json_out *j, const char *key, int64_t at_ns)
{
	json_put_int(j, key, at_ns / (int64_t)NS_PER_MS);
}

void report_put_us(struct json_out *j, const char *key, uint64_t ns)
{
	json_put_uint(j, key, (ns + 500) / 1000);
}

void report_put_sentence(struct page_json *r, const char *key, const char *text)
{
	char buf[1024];

	json_put_text(&r->j, key, hide_sentence(&r->d->hide, r->resolver, text, buf, sizeof(buf)));
}

void report_put_client(struct page_json *r, const char *key, const char *address)
{
	char buf[ADDR_TEXT_LEN];

	json_put_text(&r->j, key, hide_client(&r->d->hide, address, buf));
}

void report_put_addr(struct page_json *r, const char *key, const struct addr *a)
{
	char buf[ADDR_TEXT_LEN];

	if (a->family != ADDR_NONE)
		report_put_client(r, key, addr_format(a, buf));
}

void report_put_percentiles(struct json_out *j, const struct hist *h)
{
	json_put_uint(j, "count", h->count);
	if (!h->count)
		return;
	report_put_us(j, "p50", hist_percentile(h, 50));
	report_put_us(j, "p90", hist_percentile(h, 90));
	report_put_us(j, "p99", hist_percentile(h, 99));
	report_put_us(j, "max", h->max_ns);
}

/* -- connections -- */

/* What was sent for it: which nameserver, and whether it answered. */
static void put_questions(struct json_out *j, const struct lookup *l)
{
	char text[ADDR_TEXT_LEN];

	json_put_open(j, "questions", '[');
	for (unsigned int i = 0; i < l->question_count && i < QUESTIONS_TOLD; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "nameserver", addr_format(&l->questions[i].nameserver, text));
		if (l->questions[i].answered)
			json_put_text(j, "rcode", dns_rcode_name(l->questions[i].rcode, text));
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

static void put_lookup(struct page_json *r, const struct lookup *l)
{
	struct json_out *j = &r->j;
	char code[24];

	json_put_open(j, NULL, '{');
	json_put_text(j, "by", asker_name(l->by));
	json_put_text(j, "kind", direction_name(l->kind));
	json_put_text(j, "result", result_name(l->result));
	report_put_us(j, "dur", l->dur_ns);
	report_put_addr(r, "address", &l->address);
	if (l->result == RESULT_FAILED)
		json_put_text(j, "code", eai_name(l->code, code));
	json_put_text(j, "name", l->name);
	if (l->question_count)
		put_questions(j, l);
	json_put_close(j, '}');
}

static void put_conn_times(struct json_out *j, const struct conn *c)
{
	uint64_t wait_ns;

	if (report_wait(c, &wait_ns))
		report_put_us(j, "wait", wait_ns);
	if (c->outcome == OUTCOME_NONE)
		report_put_us(j, "age", c->age_ns);
	if (c->has_client_gone)
		json_put_int(j, "gone", c->client_gone_ns / 1000);
	json_put_open(j, "phases", '[');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		if (c->phases_present & 1u << p)
			report_put_us(j, NULL, c->phases_ns[p]);
		else
			json_put_null(j, NULL);
	json_put_close(j, ']');
}

static void put_conn(struct page_json *r, const struct conn *c)
{
	struct json_out *j = &r->j;

	json_put_open(j, NULL, '{');
	if (c->at_ns)
		report_put_ms(j, "at", c->at_ns);
	json_put_int(j, "pid", c->pid);
	report_put_addr(r, "client", &c->client);
	if (c->has_user) {
		json_put_text(j, "user", c->user);
		json_put_text(j, "database", c->database);
	}
	if (c->has_application)
		json_put_text(j, "application", c->application);
	if (c->outcome != OUTCOME_NONE)
		json_put_text(j, "outcome", outcome_name(c->outcome));
	if (c->outcome != OUTCOME_READY)
		json_put_text(j, "phase", c->phase < PHASE_COUNT ? phase_name(c->phase) : "unknown");
	json_put_text(j, "sqlstate", c->sqlstate);
	put_conn_times(j, c);
	json_put_uint(j, "lookup_count", c->lookup_count);
	json_put_open(j, "lookups", '[');
	for (unsigned int i = 0; i < c->lookups_told; i++)
		put_lookup(r, &c->lookups[i]);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

static void put_conns(struct page_json *r, const char *key, const struct conn *list, size_t count)
{
	json_put_open(&r->j, key, '[');
	for (size_t i = 0; i < count; i++)
		put_conn(r, &list[i]);
	json_put_close(&r->j, ']');
}

void report_put_connections(struct page_json *r)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(r->d->stats, &count); /* the oldest of them */
	uint64_t all = stats_in_setup(r->d->stats);

	put_conns(r, "slowest", r->d->slowest, r->d->slowest_count);
	json_put_uint(&r->j, "in_setup_count", count > all ? count : all);
	put_conns(r, "in_setup", list, count < IN_SETUP_ROWS ? count : IN_SETUP_ROWS);
}

/* -- tables -- */

static void put_row_value(struct page_json *r, enum key key, const char *value)
{
	char buf[HIDE_TEXT_LEN];

	if (key == KEY_CLIENT)
		report_put_client(r, "value", value);
	else if (key == KEY_NETWORK && r->d->hide.keys[KEY_CLIENT] && value[0] != '(' &&
		 value[0] != '[')
		json_put_text(&r->j, "value", hide_pseudonym(&r->d->hide, "network", value, buf));
	else
		json_put_text(&r->j, "value", value);
}

static void put_row(struct page_json *r, enum key key, const struct key_row *row)
{
	struct json_out *j = &r->j;

	json_put_open(j, NULL, '{');
	put_row_value(r, key, row->value);
	report_put_percentiles(j, &row->wait);
	json_put_uint(j, "connections", row->count);
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		json_put_uint(j, outcome_name(o), row->outcomes[o]);
	report_put_us(j, "waited", row->wait_ns);
	report_put_us(j, "dns", row->dns_ns);
	json_put_close(j, '}');
}

static void put_table(struct page_json *r, enum key key)
{
	struct json_out *j = &r->j;
	size_t count;
	const struct key_row *const *rows = stats_table(r->d->stats, key, &count);

	json_put_open(j, NULL, '{');
	json_put_text(j, "key", key_word(key));
	json_put_uint(j, "of", count);
	json_put_open(j, "rows", '[');
	for (size_t i = 0; i < count && i < TABLE_ROWS; i++)
		put_row(r, key, rows[i]);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

/* -- names of the clients, asked now -- */

/* The clients of the table, as far as they have an address. */
static size_t list_clients(struct page_json *r, struct resolved *list)
{
	size_t count, used = 0;
	const struct key_row *const *rows = stats_table(r->d->stats, KEY_CLIENT, &count);

	for (size_t i = 0; i < count && used < TABLE_ROWS; i++) {
		struct addr *a = &list[used].addr;

		if (!addr_parse(rows[i]->value, a) && (a->family == ADDR_V4 || a->family == ADDR_V6))
			used++;
	}
	return used;
}

/* With clients hidden their names are too; whether they are true is not. */
static void put_names(struct page_json *r)
{
	struct resolved *list = calloc(TABLE_ROWS, sizeof(*list));
	size_t count = list ? list_clients(r, list) : 0;
	struct json_out *j = &r->j;

	if (list && !resolve_all(list, count)) {
		json_put_open(j, "names", '[');
		for (size_t i = 0; i < count; i++) {
			json_put_open(j, NULL, '{');
			report_put_addr(r, "address", &list[i].addr);
			if (!r->d->hide.keys[KEY_CLIENT])
				json_put_text(j, "name", list[i].name);
			json_put_text(j, "state", resolve_state_name(list[i].state));
			json_put_close(j, '}');
		}
		json_put_close(j, ']');
	}
	free(list);
}

/* -- failures, lookups -- */

static void put_failures(struct page_json *r)
{
	struct json_out *j = &r->j;
	size_t count;
	const struct failure_row *rows = stats_failures(r->d->stats, &count);

	json_put_open(j, "failures", '[');
	for (size_t i = 0; i < count; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "sqlstate", rows[i].sqlstate);
		json_put_text(j, "outcome", outcome_name(rows[i].outcome));
		json_put_uint(j, "count", rows[i].count);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

static void put_addresses(struct page_json *r)
{
	struct json_out *j = &r->j;
	size_t count;
	const struct address_row *const *rows = stats_addresses(r->d->stats, &count);

	json_put_uint(j, "addresses_of", count);
	json_put_open(j, "addresses", '[');
	for (size_t i = 0; i < count && i < TABLE_ROWS; i++) {
		json_put_open(j, NULL, '{');
		report_put_addr(r, "address", &rows[i]->address);
		json_put_uint(j, "lookups", rows[i]->lookups);
		json_put_uint(j, "failed", rows[i]->failed);
		json_put_uint(j, "unnamed", rows[i]->unnamed);
		report_put_us(j, "sum", rows[i]->sum_ns);
		report_put_us(j, "max", rows[i]->max_ns);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

static void put_nameserver(struct json_out *j, const struct dns_server *s)
{
	char address[ADDR_TEXT_LEN];

	json_put_open(j, NULL, '{');
	json_put_text(j, "address", addr_format(&s->address, address));
	json_put_uint(j, "queries", s->queries);
	json_put_uint(j, "answers", s->answers);
	json_put_uint(j, "unanswered", s->unanswered);
	json_put_uint(j, "retries", s->retries);
	if (s->rtt_count) {
		report_put_us(j, "p50", s->rtt_p50_ns);
		report_put_us(j, "p99", s->rtt_p99_ns);
		report_put_us(j, "max", s->rtt_max_ns);
	}
	json_put_close(j, '}');
}

static void put_nameservers(struct page_json *r)
{
	const struct dns_report *dns = stats_dns(r->d->stats);

	json_put_open(&r->j, "nameservers", '[');
	for (unsigned int i = 0; dns && i < dns->count; i++)
		put_nameserver(&r->j, &dns->servers[i]);
	json_put_close(&r->j, ']');
}

static void put_lookups(struct page_json *r)
{
	struct json_out *j = &r->j;
	size_t count;
	const struct lookup_row *rows = stats_lookups(r->d->stats, &count);
	char code[24];

	json_put_open(j, "lookups", '[');
	for (size_t i = 0; i < count; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "by", asker_name(rows[i].by));
		json_put_text(j, "kind", direction_name(rows[i].kind));
		json_put_text(j, "result", result_name(rows[i].result));
		if (rows[i].result == RESULT_FAILED)
			json_put_text(j, "code", eai_name(rows[i].code, code));
		report_put_percentiles(j, &rows[i].dur);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

void report_put_tables(struct page_json *r)
{
	json_put_open(&r->j, "tables", '[');
	for (enum key k = 0; k < KEY_COUNT; k++)
		if (k != KEY_OUTCOME)
			put_table(r, k);
	json_put_close(&r->j, ']');
	put_failures(r);
	put_lookups(r);
	put_addresses(r);
	put_nameservers(r);
	if (r->o->resolve)
		put_names(r);
	json_put_open(&r->j, "gave_up_after", '{');
	report_put_percentiles(&r->j, stats_gave_up_after(r->d->stats));
	json_put_close(&r->j, '}');
}
