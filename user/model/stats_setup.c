/* SPDX-License-Identifier: BSD-2-Clause */
/* The connections in setup now: all in brief for the counts, the oldest in full for the list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats_private.h"

static int pending_by(const struct conn *c)
{
	for (unsigned int i = 0; i < c->lookups_told; i++)
		if (c->lookups[i].result == RESULT_PENDING)
			return c->lookups[i].by;
	return -1;
}

static int make_room(void **array, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room ? *room : 16;
	void *grown;

	while (wanted < count)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

static int append(struct setup_list *l, const struct filter *f, const struct conn *c)
{
	struct setup_entry entry = { c->host_pid, c->phase, pending_by(c), false };
	void *entries = l->entries, *list = l->list;
	int err;

	entry.listed = l->listed < IN_SETUP_LISTED && (!f || filter_match(f, c));
	err = make_room(&entries, &l->room, l->count + 1, sizeof(*l->entries));
	l->entries = entries;
	if (err == 0 && entry.listed)
		err = make_room(&list, &l->listed_room, l->listed + 1, sizeof(*l->list));
	l->list = list;
	if (err < 0)
		return err;
	l->entries[l->count++] = entry;
	if (entry.listed)
		l->list[l->listed++] = *c;
	return 0;
}

int setup_list_replace(struct setup_list *l, const struct filter *f, const struct conn *list,
		       size_t count, int64_t at_ns)
{
	int err = 0;

	setup_list_clear(l);
	l->at_ns = at_ns;
	for (size_t i = 0; i < count && err == 0; i++)
		err = append(l, f, &list[i]);
	return err;
}

int setup_list_put(struct setup_list *l, const struct filter *f, const struct conn *c,
		   int64_t at_ns)
{
	setup_list_remove(l, c);
	l->at_ns = at_ns;
	return append(l, f, c);
}

static void unlist(struct setup_list *l, int host_pid)
{
	for (size_t i = 0; i < l->listed; i++) {
		if (l->list[i].host_pid != host_pid)
			continue;
		l->listed--;
		memmove(&l->list[i], &l->list[i + 1], (l->listed - i) * sizeof(*l->list));
		return;
	}
}

void setup_list_remove(struct setup_list *l, const struct conn *ended)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->entries[i].host_pid != ended->host_pid)
			continue;
		if (l->entries[i].listed)
			unlist(l, ended->host_pid);
		l->count--;
		memmove(&l->entries[i], &l->entries[i + 1], (l->count - i) * sizeof(*l->entries));
		return;
	}
}

void setup_list_clear(struct setup_list *l)
{
	l->count = 0;
	l->listed = 0;
}

int setup_list_unshare(struct setup_list *l)
{
	const struct setup_entry *entries = l->entries;
	const struct conn *list = l->list;

	l->entries = malloc(l->room * sizeof(*entries) + 1);
	l->list = malloc(l->listed_room * sizeof(*list) + 1);
	if (!l->entries || !l->list)
		return -ENOMEM;
	if (l->count > 0)
		memcpy(l->entries, entries, l->count * sizeof(*entries));
	if (l->listed > 0)
		memcpy(l->list, list, l->listed * sizeof(*list));
	return 0;
}

void setup_list_free(struct setup_list *l)
{
	free(l->entries);
	free(l->list);
}

uint64_t stats_in_setup_phase(const struct stats *s, enum phase p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->setup.count; i++)
		count += s->setup.entries[i].phase == p;
	return count;
}

uint64_t stats_in_setup(const struct stats *s)
{
	return s->setup.count - stats_in_setup_phase(s, PHASE_UNKNOWN);
}

uint64_t stats_in_setup_pending(const struct stats *s, enum asker by)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->setup.count; i++)
		count += s->setup.entries[i].pending_by == (int)by;
	return count;
}

int64_t stats_sweep_ns(const struct stats *s)
{
	return s->setup.at_ns;
}

const struct conn *stats_in_setup_list(const struct stats *s, size_t *count)
{
	*count = s->setup.listed;
	return s->setup.list;
}
