/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection as the model, the views and the files know it: phases as durations, an outcome,
 * lookups with results. It comes from the kernel (capture/decode) or from a trace (keep/reader).
 *
 * Durations are integer nanoseconds, wall clock times are ns since 1970 (UTC). Absent is absent:
 * each optional value has a presence bit or flag; never read a value without it.
 */
#ifndef PGDNSTRACE_CONN_H
#define PGDNSTRACE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

enum addr_family { ADDR_NONE, ADDR_UNIX, ADDR_V4, ADDR_V6 };

struct addr {
	enum addr_family family;
	uint8_t bytes[16]; /* network order; IPv4 in the first four; zeros behind */
};

#define ADDR_TEXT_LEN 48 /* "[local]", IPv4, IPv6, with a NUL */

/* A DNS question that was sent for a lookup, when packets are watched (--dns-packets). */
#define QUESTIONS_TOLD 6
struct question {
	struct addr nameserver;
	uint64_t at_ns; /* since the lookup began */
	bool answered, has_rtt; /* which of several tries was answered is not always known */
	uint8_t rcode;
	uint64_t rtt_ns;
};

struct lookup {
	enum asker by;
	enum direction kind;
	enum result result;
	struct addr address; /* family ADDR_NONE: not known (a forward lookup that found none) */
	uint64_t at_ns; /* since accept (since fork where accept was not seen) */
	uint64_t dur_ns; /* so far when RESULT_PENDING */
	int code; /* EAI_*, 0 */
	char name[DNS_NAME_LEN]; /* hostile; "" : none */
	unsigned int question_count; /* all; QUESTIONS_TOLD of them are told */
	struct question questions[QUESTIONS_TOLD];
};

struct conn {
	int64_t at_ns; /* accept */
	int pid; /* the server's own */
	int host_pid; /* equal to pid where no PID namespace makes them differ */
	int64_t backend_start; /* Unix seconds, for the session id; 0: not known */
	struct addr client; /* ADDR_NONE: not known yet */
	uint16_t client_port; /* 0: none */
	bool has_user; /* user and database are known (a walsender's database is "") */
	bool has_application;
	char user[PG_NAME_LEN]; /* hostile, any byte but NUL */
	char database[PG_NAME_LEN];
	char application[PG_NAME_LEN];

	enum outcome outcome; /* OUTCOME_NONE: still in setup */
	enum phase phase; /* it ended in or is in; of no meaning for ready ones */
	uint64_t in_phase_ns; /* in setup: time so far in that phase */
	uint64_t age_ns; /* in setup: time since the first instant known */

	unsigned int phases_present; /* bit per enum phase */
	uint64_t phases_ns[PHASE_COUNT];
	unsigned int within_present; /* bit per enum within */
	uint64_t within_ns[WITHIN_COUNT];
	bool has_wait, has_total, has_dns;
	uint64_t wait_ns, total_ns, dns_ns;

	char sqlstate[6]; /* "" : errcode was not called */
	bool has_client_gone;
	int64_t client_gone_ns; /* since accept; below 0: gone while in the accept queue */

	bool has_pg; /* PostgreSQL 18's own timings */
	uint64_t pg_fork_ns, pg_auth_ns;

	unsigned int lookup_count; /* all */
	unsigned int lookups_told; /* in lookups[] */
	struct lookup lookups[LOOKUPS_TOLD];
};

/* Rows of every table of durations: wait, dns and total, then the phases, then the spans within. */
#define METRIC_WAIT	 0
#define METRIC_DNS	 1
#define METRIC_TOTAL	 2
#define METRIC_PHASE(p)	 (3 + (p))
#define METRIC_WITHIN(w) (3 + PHASE_COUNT + (w))
#define METRIC_COUNT	 (3 + PHASE_COUNT + WITHIN_COUNT)

/* Names as shown and as written; NULL for a number out of range. */
const char *phase_name(enum phase p);
const char *within_name(enum within w);
const char *outcome_name(enum outcome o);
const char *asker_name(enum asker a);
const char *direction_name(enum direction d);
const char *result_name(enum result r);
const char *metric_name(int metric);

/* The number behind a name, or -ENOENT. */
int phase_parse(const char *name);
int within_parse(const char *name);
int outcome_parse(const char *name);
int asker_parse(const char *name);
int direction_parse(const char *name);
int result_parse(const char *name);
int metric_parse(const char *name);

/* True and *ns when the connection has that value. */
bool conn_metric(const struct conn *c, int metric, uint64_t *ns);

/* What the client felt: wait, or total where wait is absent. True and *ns when there is one. */
bool conn_felt(const struct conn *c, uint64_t *ns);

/* The phase with the largest share of wait (for the events' line); PHASE_UNKNOWN when none. */
enum phase conn_slowest_phase(const struct conn *c);

/* "68de4f12.1c27", the log's %c; "" when not known. buf holds 32 bytes. */
const char *conn_session_id(const struct conn *c, char *buf);

/* Text of an address; "" for ADDR_NONE. buf holds ADDR_TEXT_LEN. Returns buf. */
const char *addr_format(const struct addr *a, char *buf);
/* Parses "[local]", IPv4, IPv6 (a %scope is dropped). 0 or -EINVAL. */
int addr_parse(const char *text, struct addr *a);
/* The network of an address: /24 for IPv4, /64 for IPv6, itself for unix. */
struct addr addr_network(const struct addr *a);
/* True when a lies in net/bits (same family). */
bool addr_within(const struct addr *a, const struct addr *net, unsigned int bits);
bool addr_equal(const struct addr *a, const struct addr *b);

/* EAI_AGAIN and its siblings as a word; "EAI_-42" style for unknown ones. buf holds 24 bytes. */
const char *eai_name(int code, char *buf);

#endif
