/* SPDX-License-Identifier: BSD-2-Clause */
/* Reverse lookups by the address asked for, and by family. */
#include <stdlib.h>
#include <string.h>

#include "model/stats_private.h"

static unsigned int address_slot(const struct addr *a)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < sizeof(a->bytes); i++)
		hash = (hash ^ a->bytes[i]) * 16777619u;
	return hash % ADDRESS_SLOTS;
}

/* The address's row, made when there is room; NULL: the row of all others. */
static struct address_row *address_row(struct address_table *t, const struct addr *a)
{
	unsigned int slot = address_slot(a);

	while (t->slots[slot]) {
		struct address_row *row = &t->rows[t->slots[slot] - 1];

		if (addr_equal(&row->address, a))
			return row;
		slot = (slot + 1) % ADDRESS_SLOTS;
	}
	if (t->count == ADDRESS_ROWS)
		return NULL;
	t->rows[t->count].address = *a;
	t->slots[slot] = (uint16_t)(t->count + 1);
	return &t->rows[t->count++];
}

/* log_hostname then hands the log "???" (pg_getnameinfo_all, PostgreSQL 13 to 19). */
static bool is_unnamed(const struct lookup *l)
{
	return l->by == ASKER_LOG_HOSTNAME && l->result != RESULT_PENDING && l->code != 0;
}

static void address_add(struct stats *s, const struct lookup *l)
{
	struct address_row *row = address_row(&s->addresses, &l->address);
	struct family_row *family = &s->families[l->address.family == ADDR_V6];
	bool failed = l->result == RESULT_FAILED || l->result == RESULT_PENDING;

	family->addresses += row && !row->lookups;
	family->again += row && row->lookups;
	family->failed += failed;
	family->unnamed += is_unnamed(l);
	hist_record(&family->dur, l->dur_ns);
	if (!row)
		row = &s->addresses.rows[ADDRESS_ROWS];
	row->lookups++;
	row->failed += failed;
	row->unnamed += is_unnamed(l);
	row->sum_ns += l->dur_ns;
	if (l->dur_ns > row->max_ns)
		row->max_ns = l->dur_ns;
}

void stats_reverse_add(struct stats *s, const struct conn *c)
{
	for (unsigned int i = 0; i < c->lookups_told; i++)
		if (c->lookups[i].kind == DIRECTION_REVERSE &&
		    c->lookups[i].address.family >= ADDR_V4)
			address_add(s, &c->lookups[i]);
}

static int by_sum(const void *left, const void *right)
{
	const struct address_row *a = *(const struct address_row *const *)left;
	const struct address_row *b = *(const struct address_row *const *)right;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return memcmp(a->address.bytes, b->address.bytes, sizeof(a->address.bytes));
}

const struct address_row *const *stats_addresses(struct stats *s, size_t *count)
{
	struct address_table *t = &s->addresses;

	*count = t->count;
	for (size_t i = 0; i < t->count; i++)
		t->order[i] = &t->rows[i];
	if (t->rows[ADDRESS_ROWS].lookups)
		t->order[(*count)++] = &t->rows[ADDRESS_ROWS];
	qsort(t->order, *count, sizeof(t->order[0]), by_sum);
	return t->order;
}

const struct family_row *stats_family(const struct stats *s, enum addr_family family)
{
	return &s->families[family == ADDR_V6];
}
