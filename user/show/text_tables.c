/* SPDX-License-Identifier: BSD-2-Clause */
/* The text view's tables: by key, lookups, failures. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/sqlstate.h"
#include "show/name.h"
#include "show/text_private.h"

#define ROWS_SHOWN       10
#define ADDRESSES_SHOWN  5
#define ADDRESS_WAITS_NS (100 * NS_PER_MS)

/* -- by key -- */

static void text_by_row(const struct text *t, const struct key_row *row, uint64_t all_wait_ns)
{
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN], max[DURATION_TEXT_LEN];
	char dns[8] = "-", wait[8];

	if (row->dns_ns > 0 && row->wait_ns > 0)
		show_share((double)row->dns_ns / row->wait_ns, dns);
	text_name(t, row->value, 26);
	fprintf(t->out, "%8llu%8llu%8s%8s%8s%6s%7s\n", (unsigned long long)row->count,
		(unsigned long long)row->outcomes[OUTCOME_READY],
		text_percentile(t, &row->wait, 50, p50), text_percentile(t, &row->wait, 99, p99),
		text_max(&row->wait, max), dns,
		show_share(all_wait_ns ? (double)row->wait_ns / all_wait_ns : -1, wait));
}

void text_by(const struct text *t, enum key key)
{
	uint64_t all_wait_ns = 0;
	size_t count;
	const struct key_row *const *rows = stats_table(t->s, key, &count);

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		all_wait_ns += rows[i]->wait_ns;
	fprintf(t->out, "\n%-26s%8s%8s%8s%8s%8s%6s%7s\n", key_word(key), "count", "ready", "p50",
		"p99", "max", "dns", "wait");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		text_by_row(t, rows[i], all_wait_ns);
	if (count > ROWS_SHOWN)
		fprintf(t->out, "%zu more\n", count - ROWS_SHOWN);
}

/* -- lookups -- */

static int lookup_order(const void *left, const void *right)
{
	const struct lookup_row *a = *(const struct lookup_row *const *)left;
	const struct lookup_row *b = *(const struct lookup_row *const *)right;

	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->result != b->result)
		return a->result < b->result ? -1 : 1;
	return a->code < b->code ? 1 : a->code > b->code ? -1 : 0;
}

static void text_lookup_row(const struct text *t, const struct lookup_row *row)
{
	char what[64], code[24] = "";
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN], max[DURATION_TEXT_LEN];

	if (row->result == RESULT_FAILED)
		eai_name(row->code, code);
	snprintf(what, sizeof(what), "%s %s %s %s", asker_name(row->by), direction_name(row->kind),
		 row->result == RESULT_PENDING ? "cut off" : result_name(row->result), code);
	fprintf(t->out, "%-42s%6llu%8s%8s%8s\n", what, (unsigned long long)row->dur.count,
		text_percentile(t, &row->dur, 50, p50), text_percentile(t, &row->dur, 99, p99),
		text_max(&row->dur, max));
}

static uint64_t longest_pending_ns(const struct text *t, enum asker by)
{
	uint64_t longest = 0;
	size_t count;
	const struct conn *list = stats_in_setup_list(t->s, &count);

	for (size_t i = 0; i < count; i++)
		for (unsigned int l = 0; l < list[i].lookups_told; l++) {
			const struct lookup *lookup = &list[i].lookups[l];

			if (lookup->by == by && lookup->result == RESULT_PENDING &&
			    lookup->dur_ns > longest)
				longest = lookup->dur_ns;
		}
	return longest;
}

static uint64_t pending_now(const struct text *t)
{
	uint64_t pending = 0;

	for (int by = 0; by < ASKER_COUNT; by++)
		pending += stats_in_setup_pending(t->s, by);
	return pending;
}

static void text_lookups_pending(const struct text *t, enum asker by)
{
	uint64_t pending = stats_in_setup_pending(t->s, by);
	char max[DURATION_TEXT_LEN], what[64];

	if (pending == 0)
		return;
	snprintf(what, sizeof(what), "%s pending now", asker_name(by));
	fprintf(t->out, "%-42s%6llu%8s%8s%8s\n", what, (unsigned long long)pending, "-", "-",
		duration_format(longest_pending_ns(t, by), max));
}

void text_lookups(const struct text *t)
{
	const struct lookup_row *order[LOOKUP_ROWS];
	size_t count;
	const struct lookup_row *rows = stats_lookups(t->s, &count);

	if (count == 0 && pending_now(t) == 0)
		return;
	for (size_t i = 0; i < count; i++)
		order[i] = &rows[i];
	qsort(order, count, sizeof(order[0]), lookup_order);
	fprintf(t->out, "\n%-42s%6s%8s%8s%8s\n", "lookup", "count", "p50", "p99", "max");
	for (size_t i = 0; i < count; i++)
		text_lookup_row(t, order[i]);
	for (int by = 0; by < ASKER_COUNT; by++)
		text_lookups_pending(t, by);
	if (stats_lookups_untold(t->s) > 0)
		fprintf(t->out, "%-42s%6llu\n", "beyond those told in detail",
			(unsigned long long)stats_lookups_untold(t->s));
}

/* -- reverse lookups by family and address -- */

struct reverse_line {
	const char *name;
	uint64_t count, again, failed, unnamed, sum_ns, max_ns;
};

static void text_reverse_line(const struct text *t, const struct reverse_line *l)
{
	char mean[DURATION_TEXT_LEN], max[DURATION_TEXT_LEN], sum[DURATION_TEXT_LEN];

	text_name(t, l->name, 26);
	fprintf(t->out, "%7llu%7llu%7llu%7llu%8s%8s%8s\n", (unsigned long long)l->count,
		(unsigned long long)l->again, (unsigned long long)l->failed,
		(unsigned long long)l->unnamed,
		t->o->no_percentiles ? "-" : duration_format(l->sum_ns / l->count, mean),
		duration_format(l->max_ns, max), duration_format(l->sum_ns, sum));
}

static void text_family(const struct text *t, enum addr_family family, const char *name)
{
	const struct family_row *f = stats_family(t->s, family);
	struct reverse_line line = { name,       f->dur.count,  f->again,     f->failed,
				     f->unnamed, f->dur.sum_ns, f->dur.max_ns };

	if (f->dur.count)
		text_reverse_line(t, &line);
}

static void text_address(const struct text *t, const struct address_row *row)
{
	bool others = row->address.family == ADDR_NONE;
	char address[ADDR_TEXT_LEN];
	struct reverse_line line = { others ? "(other)" : addr_format(&row->address, address),
				     row->lookups,
				     others ? 0 : row->lookups - 1,
				     row->failed,
				     row->unnamed,
				     row->sum_ns,
				     row->max_ns };

	text_reverse_line(t, &line);
}

/* Addresses that wait or fail; the others are in their family's line. */
static void text_addresses(const struct text *t, const struct address_row *const *rows,
			   size_t count)
{
	size_t waiting = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->max_ns < ADDRESS_WAITS_NS && !rows[i]->failed)
			continue;
		if (waiting++ < ADDRESSES_SHOWN)
			text_address(t, rows[i]);
	}
	if (waiting > ADDRESSES_SHOWN)
		fprintf(t->out, "%zu more that waited or failed\n", waiting - ADDRESSES_SHOWN);
}

void text_reverse(const struct text *t)
{
	size_t count;
	const struct address_row *const *rows = stats_addresses(t->s, &count);

	if (count == 0)
		return;
	fprintf(t->out, "\n%-26s%7s%7s%7s%7s%8s%8s%8s\n", "reverse lookup of", "count", "again",
		"failed", "???", "mean", "max", "sum");
	text_family(t, ADDR_V4, "IPv4");
	text_family(t, ADDR_V6, "IPv6");
	text_addresses(t, rows, count);
	text_resolver(t);
}

/* -- failures -- */

void text_failures(const struct text *t)
{
	char outcome[24];
	size_t count;
	const struct failure_row *rows = stats_failures(t->s, &count);

	if (count == 0)
		return;
	fprintf(t->out, "\n%-12s%-44s%s\n", "failure", "", " count");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		fprintf(t->out, "%-10s%-6s%-40s%6llu\n",
			show_words(outcome_name(rows[i].outcome), outcome),
			rows[i].sqlstate[0] ? rows[i].sqlstate : "-",
			rows[i].sqlstate[0] ? sqlstate_name(rows[i].sqlstate) : "no SQLSTATE told",
			(unsigned long long)rows[i].count);
	if (count > ROWS_SHOWN)
		fprintf(t->out, "%zu more\n", count - ROWS_SHOWN);
}
