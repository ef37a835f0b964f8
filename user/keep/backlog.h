/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last seconds of the stream in memory, as the lines they will be in a window's file, packed.
 * Memory grows and shrinks with what is held, up to a cap; the oldest go first, and what the cap (not
 * time) pushed out is counted.
 */
#ifndef PGDNSTRACE_BACKLOG_H
#define PGDNSTRACE_BACKLOG_H

#include "model/event.h"

struct backlog;

struct backlog *backlog_new(uint64_t reach_ns, size_t cap_bytes); /* NULL: out of memory */
void backlog_free(struct backlog *b);                             /* accepts NULL */

/*
 * Takes EVENT_CONN, EVENT_TICK and EVENT_SETTINGS, in order of at_ns; ignores the others. told:
 * a filter lets the connection through; else it is only counted. 0 or -ENOMEM.
 */
int backlog_put(struct backlog *b, const struct event *ev, bool told);
/* Drops what lies further back than the reach. */
void backlog_expire(struct backlog *b, int64_t now_ns);

/* What a window's file has to say besides the lines. */
struct backlog_entry {
	int64_t at_ns; /* conn: when it was told */
	enum event_type type;
	enum outcome outcome; /* conn */
	uint64_t lost;        /* tick */
	unsigned int len;     /* of the line; 0: filtered */
	char line[];
};
/* Calls take for every entry, oldest first, until it returns an error, which is returned. */
int backlog_each(struct backlog *b, int (*take)(void *ctx, const struct backlog_entry *e),
		 void *ctx);

/* Settings as they were before the oldest entry; set by the owner, changed by what expires. */
struct settings *backlog_settings(struct backlog *b);
/* Lost as of before the oldest entry. */
uint64_t backlog_lost(const struct backlog *b);
/* When the backlog begins: nothing older is held. */
int64_t backlog_from_ns(const struct backlog *b, int64_t now_ns);
/* Connections within the reach that the cap pushed out. */
uint64_t backlog_cut_off(const struct backlog *b, int64_t now_ns);
size_t backlog_bytes(const struct backlog *b);

#endif
