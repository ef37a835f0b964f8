/* SPDX-License-Identifier: BSD-2-Clause */
/* One input of a merge: the next event, and what its lines said so far. Used by merge.c alone. */
#ifndef PGDNSTRACE_MERGE_SOURCE_H
#define PGDNSTRACE_MERGE_SOURCE_H

#include "keep/trace.h"

#define MERGE_SERVER_LEN 160

/* A connection, whichever file tells it: two tracers of a server may see its accept some us apart.
 */
struct merge_id {
	char server[MERGE_SERVER_LEN];
	int64_t at_ns;
	int pid;
};
struct merge_ids {
	struct merge_id *list;
	size_t count, room;
};
int merge_ids_add(struct merge_ids *ids, const struct merge_id *id); /* 0 or -ENOMEM */
/* True when it was there. */
bool merge_ids_remove(struct merge_ids *ids, const struct merge_id *id);
bool merge_id_equal(const struct merge_id *a, const struct merge_id *b);

struct merge_source {
	struct trace_reader *reader; /* NULL: it has ended */
	struct event head;           /* the next one, server filled in */
	char server[MERGE_SERVER_LEN];
	bool leading;                     /* only starts were taken so far */
	struct tick tick, before;         /* the last; sums of earlier sections (a rotation) */
	uint64_t outcomes[OUTCOME_COUNT]; /* since the last start */
	struct merge_ids in_setup;        /* the lines just before the head: those of its end */
};

/* All log what is wrong with the file and set *incomplete. */
void merge_source_open(struct merge_source *s, const char *path, bool *incomplete);
void merge_source_next(struct merge_source *s, bool *incomplete);
void merge_source_close(struct merge_source *s);

void merge_source_id(const struct merge_source *s, struct merge_id *id);

#endif
