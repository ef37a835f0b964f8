/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What the BPF programs and the loader share: the tables of phases, outcomes, askers and
 * results, and the one record that tells a whole connection.
 *
 * Each list of things stands here once. An X-macro row is (CONSTANT, "name as it is shown").
 */
#ifndef PGDNSTRACE_RECORD_H
#define PGDNSTRACE_RECORD_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Contiguous phases of a connection's life, in order. queue lies before accept, the others after. */
#define PHASES(X)                                                                                  \
	X(QUEUE, "queue")                                                                          \
	X(FORK, "fork")                                                                            \
	X(CHILD, "child")                                                                          \
	X(HOSTNAME, "hostname")                                                                    \
	X(STARTUP, "startup")                                                                      \
	X(JOIN, "join")                                                                            \
	X(AUTH, "auth")                                                                            \
	X(PREPARE, "prepare")                                                                      \
	X(LOGIN, "login")

/* Spans inside phases, not added to them. */
#define WITHINS(X)                                                                                 \
	X(TLS, "tls")                                                                              \
	X(GSS, "gss")                                                                              \
	X(LDAP, "ldap")                                                                            \
	X(PAM, "pam")

#define OUTCOMES(X)                                                                                \
	X(READY, "ready")                                                                          \
	X(GAVE_UP, "gave_up")                                                                      \
	X(FAILED, "failed")                                                                        \
	X(CLOSED, "closed")                                                                        \
	X(CANCEL, "cancel")                                                                        \
	X(KILLED, "killed")

/* Who asked for a name to be resolved. */
#define ASKERS(X)                                                                                  \
	X(LOG_HOSTNAME, "log_hostname")                                                            \
	X(HBA, "hba")                                                                              \
	X(PAM, "pam")                                                                              \
	X(AUTH, "auth")

#define DIRECTIONS(X)                                                                              \
	X(REVERSE, "reverse")                                                                      \
	X(FORWARD, "forward")

/* What came back. */
#define RESULTS(X)                                                                                 \
	X(NAME, "name")                                                                            \
	X(NO_NAME, "no-name")                                                                      \
	X(FAILED, "failed")                                                                        \
	X(PENDING, "pending")

/* Records that could not be told, by reason; each counts connections. */
#define LOSSES(X)                                                                                  \
	X(RING, "ring full")                                                                       \
	X(MAP, "map full")                                                                         \
	X(UNMET, "client unknown")

#define RECORD_ENUM(name, text) PHASE_##name,
enum phase { PHASES(RECORD_ENUM) PHASE_COUNT, PHASE_UNKNOWN = PHASE_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) WITHIN_##name,
enum within { WITHINS(RECORD_ENUM) WITHIN_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) OUTCOME_##name,
enum outcome { OUTCOMES(RECORD_ENUM) OUTCOME_COUNT, OUTCOME_NONE = OUTCOME_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) ASKER_##name,
enum asker { ASKERS(RECORD_ENUM) ASKER_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) DIRECTION_##name,
enum direction { DIRECTIONS(RECORD_ENUM) DIRECTION_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) RESULT_##name,
enum result { RESULTS(RECORD_ENUM) RESULT_COUNT };
#undef RECORD_ENUM
#define RECORD_ENUM(name, text) LOSS_##name,
enum loss { LOSSES(RECORD_ENUM) LOSS_COUNT };
#undef RECORD_ENUM

/* The instants of a connection: start[P] begins phase P, start[MARK_READY] is ready. 0: not seen. */
#define MARK_READY PHASE_COUNT
#define MARK_COUNT (PHASE_COUNT + 1)

#define PG_NAME_LEN   64  /* NAMEDATALEN, PostgreSQL 13 to 19 */
#define DNS_NAME_LEN  256 /* the longest DNS name is 253 bytes and a NUL */
#define LOOKUPS_TOLD  6   /* further ones are counted and summed only */
#define CONN_TIMINGS  6   /* int64 in PostgreSQL 18's conn_timing */

/* Socket addresses as the kernel numbers their families (AF_UNIX, AF_INET, AF_INET6); 0: not seen. */
struct record_addr {
	__u8 bytes[16]; /* network order; IPv4 in the first four */
	__u16 family;
	__u16 port; /* host order */
};

/* One name resolution. dur_ns counts only when done; before that it is pending. */
struct record_lookup {
	__u64 enter_ns;
	__u64 dur_ns;
	__s32 code; /* getnameinfo's or getaddrinfo's: 0 or EAI_* */
	__u8 asker;
	__u8 direction;
	__u8 done;
	__u8 pad;
	struct record_addr addr; /* asked for (reverse) or found (forward, family 0 when none) */
	__u32 pad2;
	char name[DNS_NAME_LEN]; /* found (reverse) or asked for (forward) */
};

struct record_span {
	__u64 enter_ns;
	__u64 sum_ns; /* of the calls that returned */
	__u32 calls;
	__u32 open; /* calls not returned, the outermost entered at enter_ns */
};

/*
 * One connection. The state map holds it while it is in setup; the ring gets it once, when it
 * ends, cut off behind the last lookup that is told (record_size()). All times are CLOCK_MONOTONIC ns.
 */
struct record {
	__u64 start[MARK_COUNT];
	__u64 end_ns; /* ready, or exit of the process; 0 while in setup */
	__u64 gone_ns; /* the client's FIN or RST; 0: not seen */
	__u64 errcode_ns; /* first errcode() */
	__s64 backend_start; /* MyStartTime, Unix seconds; 0: not read */
	__s64 conn_timing[CONN_TIMINGS]; /* PostgreSQL 18+: us since 2000-01-01; zeros: not read */
	__u64 bytes_received; /* from the client, a FIN counts one; valid with socket_seen */
	__u64 dns_ns; /* sum of the lookups that returned */
	struct record_span within[WITHIN_COUNT];
	__u32 host_pid; /* in the initial PID namespace */
	__u32 pid; /* as the server sees it */
	__u32 exit_code; /* as wait() tells it; valid with exited */
	__s32 sqlstate; /* last errcode(): five 6-bit characters (MAKE_SQLSTATE) */
	__u8 exited;
	__u8 ready;
	__u8 socket_seen; /* TCP handshake seen by us */
	__u8 has_user; /* InitPostgres was entered */
	struct record_addr client;
	__u32 lookup_count; /* all of them */
	__u32 no_errcode; /* errcode() is not probed: when a failure was raised is not known */
	__u32 pad;
	char user[PG_NAME_LEN];
	char database[PG_NAME_LEN];
	char application[PG_NAME_LEN];
	struct record_lookup lookups[LOOKUPS_TOLD];
};

/* A TCP connection from its handshake on, as its server end sees it. */
struct handshake_key {
	struct record_addr client;
	__u32 netns; /* inode of the network namespace */
	__u32 server_port; /* host order */
};

struct handshake {
	__u64 established_ns;
	__u64 gone_ns; /* the client's FIN or RST; 0: still there */
	__u64 bytes_at_gone; /* tcp_sock.bytes_received then */
	__u64 sock; /* the kernel's struct sock, alive while the backend is */
};

/* A connection in setup: the record, and what the programs keep between two probes. */
struct state {
	struct handshake_key key; /* family 0: not a TCP connection, or not known yet */
	__u64 lookup_enter_ns; /* of the lookup under way; 0: none */
	__u64 lookup_answer; /* user address of what it will fill: char[] (reverse), addrinfo * (forward) */
	__u32 lookup_direction; /* valid while one is under way */
	__u32 forward_depth; /* calls of getaddrinfo() that have not returned */
	struct record rec;
};

/* Set by the loader before the programs are loaded. Addresses are the postmaster's run-time ones; 0: not there. */
struct config {
	__u64 application_name; /* char ** */
	__u64 backend_start; /* int64 *, MyStartTime */
	__u64 conn_timing; /* int64[6] */
	__u64 wakeup_bytes; /* the ring wakes its reader when more than this waits */
	__u32 postmaster; /* host PID */
	__u32 netns;
	__u32 port;
	__u32 pad;
};

/* A child of the postmaster that no accept preceded is one once it has asked for its client's address. */
static inline int record_is_connection(const struct record *rec)
{
	return rec->start[PHASE_FORK] || rec->start[PHASE_HOSTNAME];
}

static inline __u32 record_lookups_told(const struct record *rec)
{
	return rec->lookup_count < LOOKUPS_TOLD ? rec->lookup_count : LOOKUPS_TOLD;
}

static inline __u32 record_size(const struct record *rec)
{
	return __builtin_offsetof(struct record, lookups) +
	       record_lookups_told(rec) * sizeof(struct record_lookup);
}

#endif
