/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the verdict share among themselves. Nobody else includes this. */
#ifndef PGDNSTRACE_VERDICT_PRIVATE_H
#define PGDNSTRACE_VERDICT_PRIVATE_H

#include "model/verdict.h"

/* What every finding looks at. */
struct evidence {
	struct stats *s;
	double felt_s; /* all that clients waited, those in setup too */
	double total_s; /* sum of total: what shares are of */
	uint64_t ended; /* connections that the histograms hold */
};

/*
 * The findings: (title, function). Each returns true when its condition holds, having filled in
 * weight, text and advice.
 */
#define FINDINGS(X)                                                                                \
	X("SINCE THE RELOAD", find_reload)                                                         \
	X("ONE CLIENT", find_one_client)                                                           \
	X("ONE NETWORK", find_one_network)                                                         \
	X("IPV6 ALONE", find_ipv6)                                                                 \
	X("SILENT NAME SERVER", find_silent_server)                                                \
	X("NAME SERVER", find_name_server)                                                         \
	X("REVERSE DNS", find_reverse_dns)                                                         \
	X("HOST NAME RULES", find_host_rules)                                                      \
	X("FAILED LOOKUPS", find_failed_lookups)                                                   \
	X("NAMES UNVERIFIED", find_lies)                                                           \
	X("ACCEPT QUEUE", find_queue)                                                              \
	X("FORK", find_fork)                                                                       \
	X("BACKEND START", find_child)                                                             \
	X("SILENT CLIENTS", find_startup)                                                          \
	X("TLS", find_tls)                                                                         \
	X("AUTHENTICATION", find_auth)                                                             \
	X("PREPARE", find_prepare)                                                                 \
	X("LOGIN TRIGGERS", find_login)                                                            \
	X("CLIENTS GAVE UP", find_gave_up)                                                         \
	X("FAILURES", find_failures)                                                               \
	X("PORT PROBES", find_probes)                                                              \
	X("RECORDS LOST", find_lost)                                                               \
	X("NO CONNECTION YET", find_silence)

#define FINDING_PROTOTYPE(title, function)                                                         \
	bool function(const struct evidence *e, struct finding *f);
FINDINGS(FINDING_PROTOTYPE)
#undef FINDING_PROTOTYPE

#define SLOW_NS 536870912 /* 2^29, a border of the histogram: below every resolver timeout */

double seconds(uint64_t ns);
uint64_t mean_ns(const struct hist *h);
/* Values of at least from_ns: how many, and their percentile. */
uint64_t hist_above(const struct hist *h, uint64_t from_ns);
uint64_t hist_above_percentile(const struct hist *h, uint64_t from_ns, double p);
/* Sum of a phase (or another metric) over total, 0 when there is none. */
double share_of(const struct evidence *e, int metric);

/* A nameserver leaves most questions unanswered, as its packets show. */
bool seen_silent(const struct evidence *e);

/* Appends a sentence; one that no longer fits is left out whole. */
__attribute__((format(printf, 2, 3))) void say(struct finding *f, const char *format, ...);
/* Appends a line of advice. */
__attribute__((format(printf, 2, 3))) void advise(struct finding *f, const char *format, ...);
/* A psql command by unix socket, which makes no lookup; b may be NULL. Quoted for the shell already. */
void advise_psql(const struct evidence *e, struct finding *f, const char *a, const char *b);
/* "Which: sudo pgdnstrace -p PID ARGUMENTS" */
void advise_trace(const struct evidence *e, struct finding *f, const char *arguments);
/* A command that asks what the server's resolver makes of an address. */
void advise_lookup(const struct evidence *e, struct finding *f, const char *address);

/* " N clients gave up, half of them by 5.0s", when that is so of those in this phase. */
void say_gave_up(const struct evidence *e, struct finding *f, enum phase p);

#endif
