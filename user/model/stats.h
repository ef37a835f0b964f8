/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything the views and the verdict show, built from the stream of events: histograms per
 * metric over the whole trace and over the last minutes, outcomes, tables by key, failures,
 * lookups, the in-setup list, settings as they changed. Knows no file, terminal or kernel.
 */
#ifndef PGDNSTRACE_STATS_H
#define PGDNSTRACE_STATS_H

#include "model/event.h"
#include "model/filter.h"
#include "model/hist.h"

#define KEYS(X)                                                                                    \
	X(CLIENT, "client")                                                                        \
	X(NETWORK, "network")                                                                      \
	X(USER, "user")                                                                            \
	X(DATABASE, "database")                                                                    \
	X(APPLICATION, "application")                                                              \
	X(OUTCOME, "outcome")
#define STATS_ENUM(name, text) KEY_##name,
enum key { KEYS(STATS_ENUM) KEY_COUNT };
#undef STATS_ENUM
const char *key_name(enum key k);
int key_parse(const char *name); /* or -ENOENT */

/* One row of a table by key. Bounded: further values share the row "(other)". */
struct key_row {
	char value[ADDR_TEXT_LEN > PG_NAME_LEN ? ADDR_TEXT_LEN : PG_NAME_LEN]; /* hostile */
	uint64_t outcomes[OUTCOME_COUNT];
	uint64_t count;
	struct hist wait; /* wait, or total where wait is absent on TCP */
	uint64_t dns_ns, wait_ns; /* sums */
};

struct stats;

struct stats *stats_new(void); /* NULL: out of memory */
void stats_free(struct stats *s); /* accepts NULL */
/*
 * Takes one event. A connection that the filter (see filter.h, may be NULL) rejects is counted
 * under its outcome and in filtered only, and enters no histogram and no table.
 */
int stats_event(struct stats *s, const struct filter *f, const struct event *ev);

/* -- what the views read; all pointers stay the stats' own and are valid until the next event -- */

const struct session *stats_session(const struct stats *s); /* the last start; zeros before it */
const struct settings *stats_settings(const struct stats *s); /* as of now, reloads applied */
const struct tick *stats_tick(const struct stats *s); /* the last one; zeros before it */
const struct end *stats_end(const struct stats *s); /* NULL: the stream has not ended */
int64_t stats_first_ns(const struct stats *s); /* of the first start */
int64_t stats_now_ns(const struct stats *s); /* of the last event */

uint64_t stats_outcome(const struct stats *s, enum outcome o);
uint64_t stats_in_setup(const struct stats *s); /* length of the list, before_start ones not counted */
uint64_t stats_lost(const struct stats *s); /* all reasons */
uint64_t stats_connections(const struct stats *s); /* outcomes + in setup + lost */
uint64_t stats_filtered(const struct stats *s);

#define STATS_ALL 0 /* the whole trace; else the last minutes, 1 to 5 */
/* A metric's histogram; a span of minutes is merged into scratch. Never NULL. */
const struct hist *stats_hist(const struct stats *s, int metric, unsigned int minutes,
			      struct hist *scratch);
/* Counts of one metric per column of time, newest last: rows of powers of four from 1 us up. */
#define STRIP_ROWS 14
unsigned int stats_strip(const struct stats *s, int metric, unsigned int columns,
			 uint32_t (*counts)[STRIP_ROWS]); /* columns filled; one a 5 s slot */
/* sum(metric) / sum(total), 0 to 1, over the same span; below 0 when total is empty. */
double stats_share(const struct stats *s, int metric, unsigned int minutes);

/* Rows of a table, most waited for first; *count is set. */
const struct key_row *const *stats_table(struct stats *s, enum key k, size_t *count);
/* Connections now in setup, oldest first; those before_start have PHASE_UNKNOWN. */
const struct conn *stats_in_setup_list(const struct stats *s, size_t *count);

/* Failures by SQLSTATE ("" : none was told), most frequent first. */
struct failure_row {
	char sqlstate[6];
	enum outcome outcome;
	uint64_t count;
};
const struct failure_row *stats_failures(struct stats *s, size_t *count);

/* Lookups by asker, direction and result; the pending ones are those of the in-setup list. */
struct lookup_row {
	enum asker by;
	enum direction kind;
	enum result result;
	int code; /* of RESULT_FAILED */
	struct hist dur;
};
const struct lookup_row *stats_lookups(const struct stats *s, size_t *count);

/* When clients gave up: their client_gone. */
const struct hist *stats_gave_up_after(const struct stats *s);

#endif
