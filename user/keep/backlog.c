/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/backlog.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "keep/trace.h"

#define BLOCK_BYTES 65536

/* Entries one behind the other; what lies before begin has expired. */
struct block {
	struct block *next;
	size_t size, begin, used; /* of bytes */
	char bytes[] __attribute__((aligned(8)));
};

/* How many connections that were told in this second the cap pushed out. */
struct cut {
	int64_t second;
	uint64_t count;
};

struct backlog {
	uint64_t reach_ns;
	size_t cap_bytes, bytes; /* bytes: of all blocks */
	struct block *oldest, *newest;
	struct settings settings;
	uint64_t lost;
	int64_t cut_ns; /* of the last entry that the cap pushed out */
	size_t cut_count;
	struct cut *cuts;
};

struct backlog *backlog_new(uint64_t reach_ns, size_t cap_bytes)
{
	struct backlog *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->reach_ns = reach_ns;
	b->cap_bytes = cap_bytes;
	b->cut_count = reach_ns / NS_PER_S + 2;
	b->cuts = calloc(b->cut_count, sizeof(*b->cuts));
	if (b->cuts)
		return b;
	free(b);
	return NULL;
}

void backlog_free(struct backlog *b)
{
	struct block *next;

	if (!b)
		return;
	for (; b->oldest; b->oldest = next) {
		next = b->oldest->next;
		free(b->oldest);
	}
	free(b->cuts);
	free(b);
}

static size_t entry_size(const struct backlog_entry *e)
{
	return (sizeof(*e) + e->len + 7) & ~(size_t)7;
}

static struct backlog_entry *first_entry(const struct backlog *b)
{
	struct block *block = b->oldest;

	return block && block->begin < block->used
		       ? (struct backlog_entry *)(block->bytes + block->begin)
		       : NULL;
}

static void drop_block(struct backlog *b)
{
	struct block *gone = b->oldest;

	b->oldest = gone->next;
	if (!b->oldest)
		b->newest = NULL;
	b->bytes -= sizeof(*gone) + gone->size;
	free(gone);
}

/* What leaves is no longer told, but what it changed stays true. */
static void drop_first(struct backlog *b)
{
	struct backlog_entry *e = first_entry(b);
	struct settings changed;

	if (e->type == EVENT_TICK)
		b->lost = e->lost;
	if (e->type == EVENT_SETTINGS) {
		memcpy(&changed, e->line, sizeof(changed));
		settings_apply(&b->settings, &changed);
	}
	b->oldest->begin += entry_size(e);
	if (b->oldest->begin == b->oldest->used)
		drop_block(b);
}

static void count_cut(struct backlog *b, const struct backlog_entry *e)
{
	int64_t second = e->at_ns / (int64_t)NS_PER_S;
	struct cut *cut = &b->cuts[second % b->cut_count];

	b->cut_ns = e->at_ns;
	if (cut->second != second)
		*cut = (struct cut){ .second = second };
	cut->count += e->type == EVENT_CONN;
}

/* Makes room below the cap by pushing out the oldest block. */
static void push_out(struct backlog *b, size_t wanted)
{
	while (b->oldest && b->bytes + wanted > b->cap_bytes) {
		struct block *going = b->oldest;

		do {
			count_cut(b, first_entry(b));
			drop_first(b);
		} while (b->oldest == going);
	}
}

static struct block *block_for(struct backlog *b, size_t size)
{
	struct block *block = b->newest;
	size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;

	if (block && block->used + size <= block->size)
		return block;
	push_out(b, sizeof(*block) + bytes);
	block = malloc(sizeof(*block) + bytes);
	if (!block)
		return NULL;
	*block = (struct block){ .size = bytes };
	if (b->newest)
		b->newest->next = block;
	else
		b->oldest = block;
	b->newest = block;
	b->bytes += sizeof(*block) + bytes;
	return block;
}

static int append(struct backlog *b, const struct backlog_entry *head, const void *line)
{
	size_t size = entry_size(head);
	struct block *block = block_for(b, size);
	struct backlog_entry *e;

	if (!block)
		return -ENOMEM;
	e = (struct backlog_entry *)(block->bytes + block->used);
	memcpy(e, head, sizeof(*head));
	memcpy(e->line, line, head->len);
	block->used += size;
	return 0;
}

int backlog_put(struct backlog *b, const struct event *ev, bool told)
{
	struct backlog_entry head = { .at_ns = ev->at_ns, .type = ev->type };
	char line[TRACE_TEXT_MAX];
	int len;

	if (ev->type == EVENT_SETTINGS) { /* kept as it is: it is applied when it leaves */
		head.len = sizeof(ev->settings);
		return append(b, &head, &ev->settings);
	}
	if (ev->type == EVENT_TICK)
		head.lost = tick_lost(&ev->tick);
	else if (ev->type == EVENT_CONN)
		head.outcome = ev->conn.outcome;
	else if (ev->type != EVENT_DNS)
		return 0;
	len = told ? trace_line(ev, line, sizeof(line)) : 0;
	if (len < 0)
		return len;
	head.len = len;
	return append(b, &head, line);
}

void backlog_expire(struct backlog *b, int64_t now_ns)
{
	struct backlog_entry *e;

	while ((e = first_entry(b)) && e->at_ns < now_ns - (int64_t)b->reach_ns)
		drop_first(b);
}

int backlog_each(struct backlog *b, int (*take)(void *ctx, const struct backlog_entry *e),
		 void *ctx)
{
	int err;

	for (struct block *block = b->oldest; block; block = block->next)
		for (size_t at = block->begin; at < block->used;) {
			const struct backlog_entry *e =
				(const struct backlog_entry *)(block->bytes + at);

			err = take(ctx, e);
			if (err)
				return err;
			at += entry_size(e);
		}
	return 0;
}

struct settings *backlog_settings(struct backlog *b)
{
	return &b->settings;
}

uint64_t backlog_lost(const struct backlog *b)
{
	return b->lost;
}

int64_t backlog_from_ns(const struct backlog *b, int64_t now_ns)
{
	int64_t from_ns = now_ns - (int64_t)b->reach_ns;

	return b->cut_ns > from_ns ? b->cut_ns : from_ns;
}

uint64_t backlog_cut_off(const struct backlog *b, int64_t now_ns)
{
	int64_t from = (now_ns - (int64_t)b->reach_ns) / (int64_t)NS_PER_S;
	uint64_t count = 0;

	for (size_t i = 0; i < b->cut_count; i++)
		if (b->cuts[i].second >= from)
			count += b->cuts[i].count;
	return count;
}

size_t backlog_bytes(const struct backlog *b)
{
	return b->bytes;
}
