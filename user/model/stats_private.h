/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of stats share among themselves. Nobody else includes this. */
#ifndef PGDNSTRACE_STATS_PRIVATE_H
#define PGDNSTRACE_STATS_PRIVATE_H

#include "model/slice.h"
#include "model/stats.h"

#define SLOTS (STATS_MINUTES * 60 / STRIP_SLOT_S)

/* Connections that ended within one slot of time. */
struct slot {
	int64_t number; /* wall clock / STRIP_SLOT_S; what differs from the one due is stale */
	uint64_t outcomes[OUTCOME_COUNT];
	struct slice slices[METRIC_COUNT];
};

struct strip_column {
	int64_t number;
	uint32_t counts[METRIC_COUNT][STRIP_ROWS];
};

/* Rows sit apart from their order: a row never moves, order is rebuilt when it is asked for. */
struct key_table {
	size_t count;
	uint32_t hashes[KEY_ROWS + 2];
	struct key_row *rows[KEY_ROWS + 2]; /* and "(other)" and "(unknown)" */
	const struct key_row *order[KEY_ROWS + 2];
};

/* Rows found by open addressing; order is rebuilt when it is asked for. */
#define ADDRESS_SLOTS (2 * ADDRESS_ROWS)
struct address_table {
	size_t count;
	uint16_t slots[ADDRESS_SLOTS];             /* row + 1; 0: free */
	struct address_row rows[ADDRESS_ROWS + 1]; /* and that of all others */
	const struct address_row *order[ADDRESS_ROWS + 1];
};

struct setup_entry {
	int host_pid;
	enum phase phase;
	int pending_by; /* enum asker, or -1 */
	bool listed;
};

/* Every connection in setup in brief, the oldest in full. */
struct setup_list {
	size_t count, room;
	struct setup_entry *entries;
	size_t listed, listed_room;
	struct conn *list;
	int64_t at_ns;
};

struct stats {
	bool started;
	struct session session;
	struct settings settings;
	struct tick tick;
	bool has_dns;
	struct dns_report dns;
	bool ended;
	struct end end;
	int64_t first_ns, now_ns;

	uint64_t outcomes[OUTCOME_COUNT], filtered;
	uint64_t section[OUTCOME_COUNT]; /* since the last start */
	uint64_t lost_before;            /* of the sections before the last start */
	uint64_t ended_in[OUTCOME_COUNT][PHASE_COUNT + 1];

	struct hist *hists[METRIC_COUNT];
	struct hist empty;
	struct hist gave_up_after;
	struct slot slots[SLOTS];
	struct strip_column columns[STRIP_COLUMNS];

	struct key_table tables[KEY_COUNT];
	size_t failure_count;
	struct failure_row failures[FAILURE_ROWS + 1];
	size_t lookup_count;
	struct lookup_row *lookups; /* LOOKUP_ROWS of them */
	uint64_t lookups_untold;
	struct address_table addresses;
	struct family_row families[2]; /* IPv4, IPv6 */

	struct lie lie;
	struct hist felt; /* by TCP connections, since the last start */
	struct reload reload;

	struct setup_list setup;
};

/* Tables, failures and lookups of one ended connection that the filter lets pass. */
int stats_tables_add(struct stats *s, const struct conn *c);
void stats_tables_free(struct stats *s);
/* For a copy of the struct that must not share what the pointers lead to; NULLs what it cannot
 * copy. */
int stats_tables_unshare(struct stats *s);
int setup_list_unshare(struct setup_list *l);
void stats_reverse_add(struct stats *s, const struct conn *c);

int setup_list_replace(struct setup_list *l, const struct filter *f, const struct conn *list,
		       size_t count, int64_t at_ns);
/* Adds one, in place of an earlier one of the same process. */
int setup_list_put(struct setup_list *l, const struct filter *f, const struct conn *c,
		   int64_t at_ns);
void setup_list_remove(struct setup_list *l, const struct conn *ended);
void setup_list_clear(struct setup_list *l);
void setup_list_free(struct setup_list *l);

#endif
