/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions and variables of the server are used, in which versions, and what goes missing
 * without them; and where in the file a probe may sit.
 */
#ifndef PGDNSTRACE_SYMBOLS_H
#define PGDNSTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

/*
 * Functions: (CONSTANT, symbol, first version, last version, phase that goes missing without it).
 * Versions as read in PostgreSQL 13 to 19's sources; 99: still there. A phase of PHASE_UNKNOWN: no
 * phase goes missing. The accept function's absence takes queue with it too.
 */
#define FUNCTIONS(X)                                                                               \
	X(STREAM_CONNECTION, "StreamConnection", 13, 16, PHASE_FORK)                               \
	X(ACCEPT_CONNECTION, "AcceptConnection", 17, 99, PHASE_FORK)                               \
	X(GETNAMEINFO, "pg_getnameinfo_all", 13, 99, PHASE_HOSTNAME)                               \
	X(SECURE_OPEN_SERVER, "secure_open_server", 13, 99, PHASE_UNKNOWN)                         \
	X(SECURE_OPEN_GSSAPI, "secure_open_gssapi", 13, 99, PHASE_UNKNOWN)                         \
	X(INIT_PROCESS, "InitProcess", 13, 99, PHASE_JOIN)                                         \
	X(INIT_POSTGRES, "InitPostgres", 13, 99, PHASE_UNKNOWN)                                    \
	X(CLIENT_AUTHENTICATION, "ClientAuthentication", 13, 99, PHASE_AUTH)                       \
	X(BEGIN_REPORTING, "BeginReportingGUCOptions", 13, 13, PHASE_PREPARE)                      \
	X(REPORT_CONNECT, "pgstat_report_connect", 14, 16, PHASE_PREPARE)                          \
	X(EVENT_TRIGGER_LOGIN, "EventTriggerOnLogin", 17, 99, PHASE_LOGIN)                         \
	X(ERRCODE, "errcode", 13, 99, PHASE_UNKNOWN)

/* Variables: (CONSTANT, symbol, size in bytes). */
#define VARIABLES(X)                                                                               \
	X(LOG_HOSTNAME, "log_hostname", 1)                                                         \
	X(LOG_LINE_PREFIX, "Log_line_prefix", 8)                                                   \
	X(APPLICATION_NAME, "application_name", 8)                                                 \
	X(LISTEN_ADDRESSES, "ListenAddresses", 8)                                                  \
	X(POSTMASTER_PID, "PostmasterPid", 4)                                                      \
	X(PORT, "PostPortNumber", 4)                                                               \
	X(DATA_DIRECTORY, "DataDir", 8)                                                            \
	X(CLUSTER_NAME, "cluster_name", 8)                                                         \
	X(SOCKET_DIRECTORIES, "Unix_socket_directories", 8)                                        \
	X(HBA_FILE, "HbaFileName", 8)                                                              \
	X(LOG_TIMEZONE, "log_timezone", 8)          /* a struct pg_tz: its name comes first */     \
	X(LOG_CONNECTIONS, "Log_connections", 1)    /* 13 to 17 */                                 \
	X(LOG_CONNECTIONS_SET, "log_connections", 4) /* 18+, bits */                               \
	X(LOG_DISCONNECTIONS, "Log_disconnections", 1)                                             \
	X(LOG_DESTINATION, "Log_destination", 4)    /* bits */                                     \
	X(PROCESS_TITLE, "update_process_title", 1)                                                \
	X(START_TIME, "MyStartTime", 8)                                                            \
	X(CONN_TIMING, "conn_timing", 48)

#define SYMBOLS_ENUM(name, ...) FUNCTION_##name,
enum function { FUNCTIONS(SYMBOLS_ENUM) FUNCTION_COUNT };
#undef SYMBOLS_ENUM
#define SYMBOLS_ENUM(name, ...) VARIABLE_##name,
enum variable { VARIABLES(SYMBOLS_ENUM) VARIABLE_COUNT };
#undef SYMBOLS_ENUM

struct symbol {
	uint64_t value; /* st_value; 0: not there */
	uint64_t size;
	/*
	 * Functions: file offset for a probe, entry or return, on the first instruction that the
	 * kernel emulates instead of single-stepping where the first bytes allow it (prologue.h);
	 * else of the function's first byte. Never 0. Both probes on the same offset cost one hit,
	 * not two.
	 */
	uint64_t probe_offset;
	uint64_t entry_offset; /* file offset of st_value */
	bool single_stepped;   /* no emulated instruction was found */
};

struct symbols {
	struct symbol functions[FUNCTION_COUNT];
	struct symbol variables[VARIABLE_COUNT];
	char version[64]; /* "15.18" from "PostgreSQL 15.18 (" in .rodata; "" : not found */
	int major;        /* guessed from the functions where version is "" */
};

const char *function_symbol(enum function f);
int function_first_version(enum function f);
int function_last_version(enum function f);
/* Whether the servers of that major version have it and it is used there. */
bool function_expected(enum function f, int major);
enum phase function_phase(enum function f);
const char *variable_symbol(enum variable v);
/* The ready marker of a version, and whether its return counts (17+) or its entry. */
enum function function_ready(int major, bool *at_return);
enum function function_accept(int major);
/*
 * The ready marker that this executable has: the version's own, or BeginReportingGUCOptions, which
 * every version runs once, a little earlier. FUNCTION_COUNT: neither, and then no connection can
 * be told ready.
 */
enum function symbols_ready(const struct symbols *s, bool *at_return);
#define FUNCTION_LOSS_LEN 96
/* What is lost without the function, in words. Returns buf. */
const char *function_loss(enum function f, char *buf, size_t len);
/* Bit per enum phase that goes missing without it. */
unsigned int function_missing_phases(enum function f);
/* Bit per enum phase that cannot be told because a function isn't there. */
unsigned int symbols_missing_phases(const struct symbols *s);

/*
 * Reads .dynsym and .symtab of the ELF file behind fd. Undefined symbols and .isra, .part,
 * .constprop and .cold clones never match, nor variables of another size than the table's.
 * -ENOEXEC with a few words in err ("not an ELF file") when it is no ELF file of this machine.
 */
int symbols_read(int fd, struct symbols *out, char *err, size_t err_len);
/* File offset for a probe on one function of another ELF file (libc's getaddrinfo); -ENOENT. */
int symbols_find(int fd, const char *name, struct symbol *out, char *err, size_t err_len);

#endif
