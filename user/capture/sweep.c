// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sweep.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "capture/decode.h"

#define BATCH_FIRST    128 /* states read at a time; doubled when a hash bucket holds more */
#define SECOND_LOOK_NS (100 * NS_PER_MS)

static int sweep_room(struct sweep *s, unsigned int batch)
{
	struct state *values = realloc(s->values, batch * sizeof(*values));
	__u32 *keys;

	if (!values)
		return -ENOMEM;
	s->values = values;
	keys = realloc(s->keys, batch * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	s->keys = keys;
	s->batch = batch;
	return 0;
}

static struct conn *sweep_add(struct sweep *s)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct conn *list = realloc(s->list, room * sizeof(*list));

		if (!list)
			return NULL;
		s->list = list;
		s->room = room;
	}
	return &s->list[s->count++];
}

static int sweep_take(struct sweep *s, unsigned int count, int64_t offset_ns, uint64_t now_ns)
{
	for (unsigned int i = 0; i < count; i++) {
		struct conn *c;

		if (!record_is_connection(&s->values[i].rec))
			continue;
		c = sweep_add(s);
		if (!c)
			return -ENOMEM;
		decode_conn(&s->values[i].rec, now_ns, offset_ns, c);
		c->outcome = OUTCOME_NONE;
	}
	return 0;
}

/* All states, by batches; -ENOSPC means that one hash bucket holds more than a batch. */
int sweep_states(struct sweep *s, int map_fd, int64_t offset_ns)
{
	__u32 count, batch_out, *batch_in = NULL;
	int err = 0;

	s->count = 0;
	if (!s->batch && sweep_room(s, BATCH_FIRST))
		return -ENOMEM;
	while (err != -ENOENT) {
		count = s->batch;
		err = bpf_map_lookup_batch(map_fd, batch_in, &batch_out, s->keys, s->values,
					   &count, NULL);
		if (err == -ENOSPC && !sweep_room(s, 2 * s->batch))
			continue;
		if (err && err != -ENOENT)
			return err;
		if (sweep_take(s, count, offset_ns, clock_mono_ns()))
			return -ENOMEM;
		batch_in = &batch_out;
	}
	return 0;
}

void sweep_ended(struct sweep *s, const struct conn *ended)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].host_pid == ended->host_pid)
			s->list[i].outcome = ended->outcome;
}

/* Those that ended between the sweep and the drain were told as connections. */
void sweep_drop_ended(struct sweep *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].outcome == OUTCOME_NONE)
			s->list[kept++] = s->list[i];
	s->count = kept;
	s->traced = (unsigned int)kept;
}

static bool traced(const struct sweep *s, int pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].host_pid == pid)
			return true;
	return false;
}

static bool among(const int *pids, int count, int pid)
{
	for (int i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Keeps those that still carry the postmaster's title and have no record. */
static void earlier_look(struct earlier *e, const struct target *t, const struct sweep *s)
{
	static int now[UNTITLED_MAX];
	int kept = 0, count;

	if (!e->count)
		return;
	count = target_untitled_children(t, now, UNTITLED_MAX);
	for (int i = 0; i < e->count; i++)
		if (among(now, count, e->pids[i]) && !traced(s, e->pids[i]))
			e->pids[kept++] = e->pids[i];
	e->count = kept;
}

int earlier_list(struct earlier *e, const struct target *t, struct sweep *s)
{
	if (e->second_look_ns && clock_mono_ns() < e->second_look_ns)
		return 0;
	earlier_look(e, t, s);
	if (e->second_look_ns)
		e->seen = (uint64_t)e->count;
	e->second_look_ns = 0;
	for (int i = 0; i < e->count; i++) {
		struct conn *c = sweep_add(s);

		if (!c)
			return -ENOMEM;
		memset(c, 0, sizeof(*c));
		c->host_pid = e->pids[i];
		c->pid = target_inner_pid(e->pids[i]);
		c->outcome = OUTCOME_NONE;
		c->phase = PHASE_UNKNOWN;
		c->at_ns = target_process_start(e->pids[i]);
		if (!c->at_ns) { /* gone by now: it has no age */
			s->count--;
			continue;
		}
		c->age_ns = (uint64_t)(clock_real_ns() - c->at_ns);
	}
	return 0;
}

static int oldest_first(const void *a, const void *b)
{
	const struct conn *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

void sweep_sort(struct sweep *s)
{
	qsort(s->list, s->count, sizeof(*s->list), oldest_first);
}

void sweep_free(struct sweep *s)
{
	free(s->values);
	free(s->keys);
	free(s->list);
}

void earlier_begin(struct earlier *e, const struct target *t)
{
	e->second_look_ns = clock_mono_ns() + SECOND_LOOK_NS;
	e->count = target_untitled_children(t, e->pids, UNTITLED_MAX);
}
