/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/backlog.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "keep/trace.h"

#define BLOCK_BYTES 65536

/*
 * Entries one behind the other; what lies before begin has expired. Between the oldest block and
 * the newest they are packed: lines shrink to a tenth, and a minute of 300 a second to 2 MB.
 */
struct block {
	struct block *next;
	char *bytes;
	size_t size;        /* of the allocation */
	size_t begin, used; /* as they are when not packed */
	bool packed;
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
		free(b->oldest->bytes);
		free(b->oldest);
	}
	free(b->cuts);
	free(b);
}

static size_t entry_size(const struct backlog_entry *e)
{
	return (sizeof(*e) + e->len + 7) & ~(size_t)7;
}

/* -- blocks -------------------------------------------------------------------------------------
 */

static void block_take_bytes(struct backlog *b, struct block *block, char *bytes, size_t size)
{
	b->bytes += size - block->size;
	free(block->bytes);
	block->bytes = bytes;
	block->size = size;
}

/* What cannot be packed stays as it is. */
static void pack(struct backlog *b, struct block *block)
{
	uLongf size = compressBound(block->used);
	Bytef *packed = malloc(size);
	void *fitting;

	if (!packed || compress2(packed, &size, (const Bytef *)block->bytes, block->used,
				 Z_BEST_SPEED) != Z_OK) {
		free(packed);
		return;
	}
	fitting = realloc(packed, size);
	block_take_bytes(b, block, fitting ? fitting : (char *)packed, size);
	block->packed = true;
}

/* The entries of a block, unpacked; NULL when there is no memory for them. */
static char *unpacked(const struct block *block)
{
	uLongf size = block->used;
	char *bytes = malloc(size);

	if (bytes &&
	    uncompress((Bytef *)bytes, &size, (const Bytef *)block->bytes, block->size) == Z_OK)
		return bytes;
	free(bytes);
	return NULL;
}

static void drop_block(struct backlog *b)
{
	struct block *gone = b->oldest;

	b->oldest = gone->next;
	if (!b->oldest)
		b->newest = NULL;
	b->bytes -= sizeof(*gone) + gone->size;
	free(gone->bytes);
	free(gone);
}

static struct backlog_entry *first_entry(struct backlog *b)
{
	struct block *block;
	char *bytes;

	while ((block = b->oldest)) {
		if (!block->packed)
			return (struct backlog_entry *)(block->bytes + block->begin);
		bytes = unpacked(block);
		if (bytes) {
			block_take_bytes(b, block, bytes, block->used);
			block->packed = false;
		} else {
			drop_block(b); /* out of memory: less to remember is what helps */
		}
	}
	return NULL;
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
	struct backlog_entry *e;

	while (b->oldest && b->bytes + wanted > b->cap_bytes) {
		struct block *going = b->oldest;

		while (b->oldest == going && (e = first_entry(b))) {
			count_cut(b, e);
			drop_first(b);
		}
	}
}

static struct block *block_new(size_t size)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->size = size;
	block->bytes = malloc(size);
	if (block->bytes)
		return block;
	free(block);
	return NULL;
}

static struct block *block_for(struct backlog *b, size_t size)
{
	struct block *block = b->newest;
	size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;

	if (block && block->used + size <= block->size)
		return block;
	if (block && block != b->oldest)
		pack(b, block);
	push_out(b, sizeof(*block) + bytes);
	block = block_new(bytes);
	if (!block)
		return NULL;
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

static int each_entry(const struct block *block, const char *bytes,
		      int (*take)(void *ctx, const struct backlog_entry *e), void *ctx)
{
	int err = 0;

	for (size_t at = block->begin; at < block->used && !err;) {
		const struct backlog_entry *e = (const struct backlog_entry *)(bytes + at);

		err = take(ctx, e);
		at += entry_size(e);
	}
	return err;
}

int backlog_each(struct backlog *b, int (*take)(void *ctx, const struct backlog_entry *e),
		 void *ctx)
{
	int err = 0;

	for (struct block *block = b->oldest; block && !err; block = block->next) {
		char *bytes = block->packed ? unpacked(block) : block->bytes;

		err = bytes ? each_entry(block, bytes, take, ctx) : -ENOMEM;
		if (bytes != block->bytes)
			free(bytes);
	}
	return err;
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
