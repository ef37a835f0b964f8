/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables by key, failures and lookups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats_private.h"

#define STATS_NAME(name, text) text,
static const char *const key_names[] = { KEYS(STATS_NAME) };
#undef STATS_NAME

const char *key_word(enum key k)
{
	return k < KEY_COUNT ? key_names[k] : NULL;
}

int key_parse(const char *name)
{
	for (int k = 0; k < KEY_COUNT; k++)
		if (strcmp(key_names[k], name) == 0)
			return k;
	return -ENOENT;
}

/* -- tables by key -- */

static const char *network_value(const struct conn *c, char *buf)
{
	struct addr net = addr_network(&c->client);

	addr_format(&net, buf);
	if (net.family == ADDR_V4)
		strcat(buf, "/24");
	else if (net.family == ADDR_V6)
		strcat(buf, "/64");
	return buf;
}

/* The value of a connection under a key, NULL: the server did not come to know it. */
static const char *conn_value(const struct conn *c, enum key k, char *buf)
{
	switch (k) {
	case KEY_CLIENT:
		return c->client.family == ADDR_NONE ? NULL : addr_format(&c->client, buf);
	case KEY_NETWORK:
		return c->client.family == ADDR_NONE ? NULL : network_value(c, buf);
	case KEY_USER:
		return c->has_user ? c->user : NULL;
	case KEY_DATABASE:
		return c->has_user ? c->database : NULL;
	case KEY_APPLICATION:
		return c->has_application ? c->application : NULL;
	default:
		return outcome_name(c->outcome);
	}
}

/* FNV-1a. A collision costs a strcmp, no more. */
static uint32_t hash_value(const char *value, bool special)
{
	uint32_t hash = 2166136261u + special;

	for (; *value; value++)
		hash = (hash ^ (unsigned char)*value) * 16777619u;
	return hash;
}

static struct key_row *row_find(const struct key_table *t, const char *value, bool special,
				uint32_t hash)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->hashes[i] == hash && t->rows[i]->special == special &&
		    strcmp(t->rows[i]->value, value) == 0)
			return t->rows[i];
	return NULL;
}

static struct key_row *row_get(struct key_table *t, const char *value, bool special)
{
	uint32_t hash = hash_value(value, special);
	struct key_row *row = row_find(t, value, special, hash);

	if (row)
		return row;
	if (!special && t->count >= KEY_ROWS)
		return row_get(t, "(other)", true);
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->special = special;
	snprintf(row->value, sizeof(row->value), "%s", value);
	t->hashes[t->count] = hash;
	t->rows[t->count++] = row;
	return row;
}

static int table_add(struct key_table *t, enum key k, const struct conn *c)
{
	char buf[ADDR_TEXT_LEN + 8];
	const char *value = conn_value(c, k, buf);
	struct key_row *row = row_get(t, value ? value : "(unknown)", !value);
	uint64_t ns;

	if (!row)
		return -ENOMEM;
	row->count++;
	row->outcomes[c->outcome]++;
	if (c->has_dns)
		row->dns_ns += c->dns_ns;
	if (conn_felt(c, &ns)) {
		row->wait_ns += ns;
		hist_record(&row->wait, ns);
	}
	return 0;
}

static int by_wait(const void *left, const void *right)
{
	const struct key_row *a = *(const struct key_row *const *)left;
	const struct key_row *b = *(const struct key_row *const *)right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns < b->wait_ns ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->value, b->value);
}

const struct key_row *const *stats_table(struct stats *s, enum key k, size_t *count)
{
	struct key_table *t = &s->tables[k];

	for (size_t i = 0; i < t->count; i++)
		t->order[i] = t->rows[i];
	qsort(t->order, t->count, sizeof(t->order[0]), by_wait);
	*count = t->count;
	return t->order;
}

/* -- failures -- */

static bool is_failure(const struct conn *c)
{
	if (c->outcome == OUTCOME_READY)
		return false;
	return c->outcome == OUTCOME_FAILED || c->outcome == OUTCOME_KILLED ||
	       c->sqlstate[0] != '\0';
}

static void failure_add(struct stats *s, const struct conn *c)
{
	const char *sqlstate = s->failure_count < FAILURE_ROWS ? c->sqlstate : "other";
	struct failure_row *row;

	for (size_t i = 0; i < s->failure_count; i++) {
		row = &s->failures[i];
		if (row->outcome == c->outcome && strcmp(row->sqlstate, c->sqlstate) == 0) {
			row->count++;
			return;
		}
	}
	if (s->failure_count > FAILURE_ROWS) {
		s->failures[FAILURE_ROWS].count++;
		return;
	}
	row = &s->failures[s->failure_count++];
	row->outcome = c->outcome;
	row->count = 1;
	memcpy(row->sqlstate, sqlstate, sizeof(row->sqlstate));
}

static int by_count(const void *left, const void *right)
{
	const struct failure_row *a = left, *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->outcome != b->outcome)
		return a->outcome < b->outcome ? -1 : 1;
	return strcmp(a->sqlstate, b->sqlstate);
}

/* The row "other", where there is one, keeps its place behind all the rest. */
const struct failure_row *stats_failures(struct stats *s, size_t *count)
{
	size_t sorted = s->failure_count < FAILURE_ROWS ? s->failure_count : FAILURE_ROWS;

	qsort(s->failures, sorted, sizeof(s->failures[0]), by_count);
	*count = s->failure_count;
	return s->failures;
}

/* -- lookups -- */

static bool same_lookup(const struct lookup_row *row, const struct lookup *l, int code)
{
	return row->by == l->by && row->kind == l->kind && row->result == l->result &&
	       row->code == code;
}

/* A PTR record may hold anything, another host's address too. */
static void lie_add(struct lie *lie, const struct lookup *l)
{
	struct addr told;

	if (l->kind != DIRECTION_REVERSE || l->result != RESULT_NAME ||
	    addr_parse(l->name, &told) || told.family == ADDR_UNIX ||
	    addr_equal(&told, &l->address))
		return;
	if (lie->count++ == 0) {
		lie->address = l->address;
		memcpy(lie->name, l->name, sizeof(lie->name));
	}
}

static int lookup_add(struct stats *s, const struct lookup *l)
{
	int code = l->result == RESULT_FAILED ? l->code : 0;
	struct lookup_row *row = NULL;

	lie_add(&s->lie, l);
	if (!s->lookups)
		s->lookups = calloc(LOOKUP_ROWS, sizeof(*s->lookups));
	if (!s->lookups)
		return -ENOMEM;
	for (size_t i = 0; i < s->lookup_count && !row; i++)
		if (same_lookup(&s->lookups[i], l, code))
			row = &s->lookups[i];
	if (!row && s->lookup_count == LOOKUP_ROWS) {
		s->lookups_untold++;
		return 0;
	}
	if (!row) {
		row = &s->lookups[s->lookup_count++];
		row->by = l->by;
		row->kind = l->kind;
		row->result = l->result;
		row->code = code;
	}
	hist_record(&row->dur, l->dur_ns);
	return 0;
}

const struct lookup_row *stats_lookups(const struct stats *s, size_t *count)
{
	*count = s->lookup_count;
	return s->lookups;
}

uint64_t stats_lookups_untold(const struct stats *s)
{
	return s->lookups_untold;
}

int stats_tables_add(struct stats *s, const struct conn *c)
{
	int err = 0;

	for (int k = 0; k < KEY_COUNT && err == 0; k++)
		err = table_add(&s->tables[k], k, c);
	if (err < 0)
		return err;
	if (is_failure(c))
		failure_add(s, c);
	for (unsigned int i = 0; i < c->lookups_told && err == 0; i++)
		err = lookup_add(s, &c->lookups[i]);
	s->lookups_untold += c->lookup_count - c->lookups_told;
	stats_reverse_add(s, c);
	return err;
}

void stats_tables_free(struct stats *s)
{
	for (int k = 0; k < KEY_COUNT; k++)
		for (size_t i = 0; i < s->tables[k].count; i++)
			free(s->tables[k].rows[i]);
	free(s->lookups);
}

static int unshare_rows(struct key_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct key_row *row = malloc(sizeof(*row));

		if (!row)
			break;
		*row = *t->rows[i];
		t->rows[kept++] = row;
	}
	if (kept == t->count)
		return 0;
	t->count = kept;
	return -ENOMEM;
}

int stats_tables_unshare(struct stats *s)
{
	const struct lookup_row *from = s->lookups;
	int err = 0;

	for (int k = 0; k < KEY_COUNT; k++)
		err |= unshare_rows(&s->tables[k]);
	if (!from)
		return err;
	s->lookups = calloc(LOOKUP_ROWS, sizeof(*s->lookups));
	if (!s->lookups)
		return -ENOMEM;
	memcpy(s->lookups, from, s->lookup_count * sizeof(*from));
	return err;
}
