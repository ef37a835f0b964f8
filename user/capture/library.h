/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes in libraries that the server has mapped: libc's getaddrinfo for forward lookups, libldap
 * and libpam for what else authentication waits for. A library's file is shared by the whole host,
 * so these are hit by every process that calls such a function.
 */
#ifndef PGDNSTRACE_CAPTURE_LIBRARY_H
#define PGDNSTRACE_CAPTURE_LIBRARY_H

#include "target/target.h"

/*
 * (CONSTANT, library, function, kind), where the programs are on_KIND_enter and on_KIND_return.
 * LDAP and PAM: what PostgreSQL 13 to 19 calls (auth.c).
 */
#define LIBRARY_PROBES(X)                                                                          \
	X(GETADDRINFO, "libc", "getaddrinfo", getaddrinfo)                                         \
	X(LDAP_BIND, "libldap", "ldap_simple_bind_s", ldap)                                        \
	X(LDAP_SEARCH, "libldap", "ldap_search_s", ldap)                                           \
	X(LDAP_START_TLS, "libldap", "ldap_start_tls_s", ldap)                                     \
	X(LDAP_SERVERS, "libldap", "ldap_domain2hostlist", ldap)                                   \
	X(PAM_AUTHENTICATE, "libpam", "pam_authenticate", pam)                                     \
	X(PAM_ACCOUNT, "libpam", "pam_acct_mgmt", pam)

#define LIBRARY_ENUM(name, ...) LIBRARY_##name,
enum library_probe { LIBRARY_PROBES(LIBRARY_ENUM) LIBRARY_PROBE_COUNT };
#undef LIBRARY_ENUM

const char *library_probe_symbol(enum library_probe p);
const char *library_probe_library(enum library_probe p);

/*
 * Where a probe goes: fd is the mapping's own file, whatever root it is in, and path leads to it, so
 * that the probe is put into the file whose symbols were read. library_place_close() lets it go.
 */
struct library_place {
	int fd;
	char path[64];
	struct symbol symbol;
};

/*
 * 1 with place filled; 0 when the server has no such library mapped and so cannot call it; -errno
 * when it has, and the function cannot be found there (the reason is in err).
 */
int library_place_find(const struct target *t, enum library_probe p, struct library_place *place,
		       char *err, size_t err_len);
void library_place_close(struct library_place *place);
/* What goes untold without that probe, as session.missing_* has it. */
void library_mark_missing(struct session *s, enum library_probe p);

#endif
