/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream that capture yields, live or from a file, and that model, views, files and exports
 * take: one struct event after another, each kind being one line type of the trace format.
 */
#ifndef PGDNSTRACE_EVENT_H
#define PGDNSTRACE_EVENT_H

#include "model/conn.h"
#include "model/dns.h"
#include "model/printers.h"

enum event_type {
	EVENT_START, /* "start": first; again after a log rotation or where traces were merged */
	EVENT_CONN, /* "conn": a connection ended its setup */
	EVENT_TICK, /* "tick": gauges, every 10 s in files, at each sweep when live */
	EVENT_DNS, /* "dns": what nameservers did so far (--dns-packets); as often as ticks */
	EVENT_SETTINGS, /* "settings": a reload changed what we watch */
	EVENT_TRIGGER, /* "trigger": an incident window opened (window files) */
	EVENT_IN_SETUP, /* "in_setup": one connection still in setup, at a trigger and at the end */
	EVENT_SWEEP, /* all of them now (live only, never in a file): replaces the list before */
	EVENT_END, /* "end" */
};

#define RESOLVER_LIST  8
#define TEXT_LEN       256
#define PATH_TEXT_LEN  1024

/* The resolver as the postmaster sees it. has: it could be read. */
struct resolver {
	bool has;
	unsigned int host_count; /* words of nsswitch's hosts: "files", "dns", "[NOTFOUND=return]" */
	char hosts[RESOLVER_LIST][32];
	unsigned int nameserver_count;
	char nameservers[RESOLVER_LIST][64];
	unsigned int search_count;
	char search[RESOLVER_LIST][TEXT_LEN];
	int timeout_s, attempts;
	bool rotate, single_request, nscd, nss_resolve;
	char libc[16]; /* "glibc", "musl", "" */
};

struct settings {
	bool has_log_hostname, log_hostname;
	bool has_log_line_prefix;
	char log_line_prefix[TEXT_LEN];
	bool has_printers;
	unsigned int printers; /* bit per enum printer: who shows a client's name */
	unsigned int missing_phases; /* in EVENT_SETTINGS: found missing since the start, a bit per phase */
};

/* What a reload changed, on top of what was known. */
void settings_apply(struct settings *now, const struct settings *changed);

/* What "start" says. */
struct session {
	char tool[64];
	char host[TEXT_LEN];
	char kernel[64];
	int postmaster; /* as the host numbers it */
	char server_version[64]; /* "15.18" */
	int server_major;
	int port;
	char cluster_name[TEXT_LEN];
	char data_directory[PATH_TEXT_LEN];
	char container[TEXT_LEN]; /* "" : none */
	char time_zone[TEXT_LEN]; /* the log's: "Europe/Berlin"; "" : not known */
	char socket_directory[TEXT_LEN]; /* the first one, as the server sees it; "" : none */
	struct settings settings;
	struct resolver resolver;
	unsigned int missing_phases; /* bit per enum phase */
	unsigned int missing_within; /* bit per enum within */
	bool missing_forward; /* forward lookups cannot be told */
	char filter[TEXT_LEN]; /* "" : every connection is told */
};

struct tick {
	unsigned int in_setup;
	bool has_accept_queue; /* the listening socket could be read */
	unsigned int accept_queue, accept_queue_limit;
	uint64_t listen_drops; /* since tracing began */
	uint64_t lost[LOSS_COUNT];
	uint64_t before_start; /* connections already under way when tracing began */
};
uint64_t tick_lost(const struct tick *t); /* for all reasons */

struct trigger {
	char condition[TEXT_LEN];
	bool has_value; /* false: opened by hand */
	double value; /* in the condition's own unit: seconds, a count, a rate per second */
	uint64_t cut_off; /* connections that the memory cap dropped from the window's start */
};

/* What "end" says. connections = sum of outcomes + in_setup + lost. */
struct end {
	char reason[32]; /* interrupted, duration, server_ended, reopened, window, closed_pipe, merged */
	uint64_t connections;
	uint64_t outcomes[OUTCOME_COUNT];
	uint64_t in_setup, before_start, lost, filtered;
	unsigned int verdict_count;
	char verdict[4][TEXT_LEN];
};
void end_sum(struct end *end); /* sets connections */

struct event {
	enum event_type type;
	int64_t at_ns; /* wall clock; for EVENT_CONN the instant it was told at */
	const char *server; /* "db1:5432" in a merged trace, else NULL; valid during the call */
	union {
		struct session start;
		struct conn conn; /* EVENT_CONN, EVENT_IN_SETUP */
		struct tick tick;
		struct dns_report dns;
		struct settings settings; /* has_* says which changed */
		struct trigger trigger;
		struct {
			const struct conn *list; /* oldest first; valid during the call */
			size_t count;
		} sweep;
		struct end end;
	};
};

/* Takes one event of a stream; an error (-errno) ends the stream. */
typedef int (*event_sink)(void *ctx, const struct event *ev);

#endif
