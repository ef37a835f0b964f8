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
const char *key_word(enum key k);
int key_parse(const char *name); /* or -ENOENT */

/*
 * One row of a table by key. At most KEY_ROWS values have a row of their own, later ones share
 * the row "(other)"; connections that ended before the server knew the value are "(unknown)".
 */
#define KEY_ROWS 128
struct key_row {
	bool special; /* "(other)" or "(unknown)": our word, not a value */
	char value[ADDR_TEXT_LEN > PG_NAME_LEN ? ADDR_TEXT_LEN : PG_NAME_LEN]; /* hostile */
	uint64_t outcomes[OUTCOME_COUNT];
	uint64_t count;
	struct hist wait; /* conn_felt(): wait, or total where wait is absent */
	uint64_t dns_ns, wait_ns; /* sums */
};

struct stats;

struct stats *stats_new(void); /* NULL: out of memory */
void stats_free(struct stats *s); /* accepts NULL */
struct stats *stats_clone(const struct stats *s); /* as it is now; NULL: out of memory */
/*
 * Takes one event. A connection that --only (see filter.h, f may be NULL) rejects is counted
 * under its outcome and in filtered, and enters no histogram and no table; one that only
 * --longer-than rejects counts as filtered and everywhere else. -ENOMEM.
 */
int stats_event(struct stats *s, const struct filter *f, const struct event *ev);

/* -- what the views read; all pointers stay the stats' own and are valid until the next event -- */

const struct session *stats_session(const struct stats *s); /* the last start; zeros before it */
const struct settings *stats_settings(const struct stats *s); /* as of now, reloads applied */
const struct tick *stats_tick(const struct stats *s); /* the last one; zeros before it */
const struct dns_report *stats_dns(const struct stats *s); /* NULL: packets are not watched */
const struct end *stats_end(const struct stats *s); /* NULL: the stream has not ended */
int64_t stats_first_ns(const struct stats *s); /* of the first start */
int64_t stats_now_ns(const struct stats *s); /* of the last event */

uint64_t stats_outcome(const struct stats *s, enum outcome o);
uint64_t stats_in_setup(const struct stats *s); /* all of them, before_start ones not counted */
uint64_t stats_lost(const struct stats *s); /* all reasons */
uint64_t stats_connections(const struct stats *s); /* outcomes + in setup + lost */
uint64_t stats_filtered(const struct stats *s);
/* Those of an outcome that ended in a phase (PHASE_UNKNOWN: not told). */
uint64_t stats_ended_in(const struct stats *s, enum outcome o, enum phase p);

#define STATS_ALL 0 /* the whole trace; else the last minutes, 1 to 5 */
#define STATS_MINUTES 5
/* Of the connections that ended within the last minutes, filtered ones too. */
uint64_t stats_outcome_recent(const struct stats *s, enum outcome o, unsigned int minutes);
/* Ended connections per second within the last seconds (5 to 300; since the start when shorter). */
double stats_rate(const struct stats *s, unsigned int seconds);
/* A metric's histogram; a span of minutes is merged into scratch. Never NULL. */
const struct hist *stats_hist(const struct stats *s, int metric, unsigned int minutes,
			      struct hist *scratch);
/*
 * Counts of one metric per column of time, newest last, one a 5 s slot, at most STRIP_COLUMNS of
 * them. Row 0 is below 4 us, each further row spans a power of four, the last one is open (67 s up).
 */
#define STRIP_SLOT_S  5
#define STRIP_COLUMNS 240
#define STRIP_ROWS    14
unsigned int stats_strip(const struct stats *s, int metric, unsigned int columns,
			 uint32_t (*counts)[STRIP_ROWS]); /* returns the columns filled */
/* sum(metric) / sum(total), 0 to 1, over the same span; below 0 when total is empty. */
double stats_share(const struct stats *s, int metric, unsigned int minutes);

/* Rows of a table, most waited for first; *count is set. */
const struct key_row *const *stats_table(struct stats *s, enum key k, size_t *count);
/*
 * Connections now in setup that pass the filter, oldest first; those before_start have
 * PHASE_UNKNOWN. No more than IN_SETUP_LISTED are listed; the counts below know all.
 * Times in them are as of stats_sweep_ns(): add what has passed since to show ages that tick.
 */
#define IN_SETUP_LISTED 512
uint64_t stats_in_setup_phase(const struct stats *s, enum phase p); /* now in that phase */
uint64_t stats_in_setup_pending(const struct stats *s, enum asker by); /* now in a lookup */
int64_t stats_sweep_ns(const struct stats *s);
const struct conn *stats_in_setup_list(const struct stats *s, size_t *count);

/*
 * Connections that failed or were killed, and others that a SQLSTATE kept from being ready, by
 * SQLSTATE ("" : none was told; "other": beyond FAILURE_ROWS), most frequent first.
 */
#define FAILURE_ROWS 64
struct failure_row {
	char sqlstate[6];
	enum outcome outcome;
	uint64_t count;
};
const struct failure_row *stats_failures(struct stats *s, size_t *count);

/*
 * Lookups of ended connections by asker, direction, result and code, those told in detail.
 * RESULT_PENDING: the process ended in the lookup, dur is how long that took. What is pending
 * now stands in the in-setup list.
 */
#define LOOKUP_ROWS 48
struct lookup_row {
	enum asker by;
	enum direction kind;
	enum result result;
	int code; /* of RESULT_FAILED; 0 otherwise */
	struct hist dur;
};
uint64_t stats_lookups_untold(const struct stats *s); /* beyond those told in detail */
const struct lookup_row *stats_lookups(const struct stats *s, size_t *count);

/*
 * Reverse lookups of ended connections by the address asked for, those told in detail, most time
 * first. No row for more than ADDRESS_ROWS addresses: later ones share one of family ADDR_NONE.
 */
#define ADDRESS_ROWS 1024
struct address_row {
	struct addr address;
	uint64_t lookups; /* nothing caches: all but the first ask again for what was known */
	uint64_t failed; /* with an error, or the process ended first */
	uint64_t unnamed; /* connections whose log line shows ??? instead of the client */
	uint64_t sum_ns, max_ns;
};
const struct address_row *const *stats_addresses(struct stats *s, size_t *count);
/* The same by family, ADDR_V4 or ADDR_V6. */
struct family_row {
	uint64_t addresses; /* different ones, as far as they have a row */
	uint64_t again; /* lookups of an address that has been asked for before */
	uint64_t failed, unnamed;
	struct hist dur;
};
const struct family_row *stats_family(const struct stats *s, enum addr_family family);

/* Answers that look like another address than the client's own: the server shows them as such. */
struct lie {
	uint64_t count;
	struct addr address; /* of the first one */
	char name[DNS_NAME_LEN]; /* hostile */
};
const struct lie *stats_lie(const struct stats *s);

/*
 * The last reload that switched log_hostname, with what TCP connections felt (conn_felt()) by
 * whether they were accepted before it or since. NULL: there was none since the last start.
 */
struct reload {
	int64_t at_ns; /* when it was noticed; 0: none */
	bool log_hostname; /* since then */
	struct hist before, since;
};
const struct reload *stats_reload(const struct stats *s);

/* When clients gave up: their client_gone. */
const struct hist *stats_gave_up_after(const struct stats *s);

#endif
