/* SPDX-License-Identifier: BSD-2-Clause */
/* Which probe sits where: the plan for a server's version and the symbols that it has. */
#ifndef PGDNSTRACE_ATTACH_H
#define PGDNSTRACE_ATTACH_H

#include "target/target.h"

/* The uprobe programs, as the skeleton names them: (CONSTANT, program, function, at its return). */
#define PROBES(X)                                                                                  \
	X(GETNAMEINFO_ENTER, on_getnameinfo_enter, GETNAMEINFO, false)                             \
	X(GETNAMEINFO_RETURN, on_getnameinfo_return, GETNAMEINFO, true)                            \
	X(TLS_ENTER, on_tls_enter, SECURE_OPEN_SERVER, false)                                      \
	X(TLS_RETURN, on_tls_return, SECURE_OPEN_SERVER, true)                                     \
	X(GSS_ENTER, on_gss_enter, SECURE_OPEN_GSSAPI, false)                                      \
	X(GSS_RETURN, on_gss_return, SECURE_OPEN_GSSAPI, true)                                     \
	X(INIT_PROCESS, on_init_process, INIT_PROCESS, false)                                      \
	X(INIT_POSTGRES, on_init_postgres, INIT_POSTGRES, false)                                   \
	X(AUTH_ENTER, on_auth_enter, CLIENT_AUTHENTICATION, false)                                 \
	X(AUTH_RETURN, on_auth_return, CLIENT_AUTHENTICATION, true)                                \
	X(ERRCODE, on_errcode, ERRCODE, false)                                                     \
	X(LOGIN_ENTER, on_login_enter, EVENT_TRIGGER_LOGIN, false)                                 \
	X(READY_LOGIN, on_ready_return, EVENT_TRIGGER_LOGIN, true)                                 \
	X(READY_REPORT, on_ready_enter, REPORT_CONNECT, false)                                     \
	X(READY_BEGIN, on_ready_enter, BEGIN_REPORTING, false)                                     \
	X(ACCEPT_STREAM, on_accept_return, STREAM_CONNECTION, true)                                \
	X(ACCEPT, on_accept_return, ACCEPT_CONNECTION, true)

#define ATTACH_ENUM(name, ...) PROBE_##name,
enum probe { PROBES(ATTACH_ENUM) PROBE_COUNT };
#undef ATTACH_ENUM

enum function probe_function(enum probe p);
bool probe_at_return(enum probe p);

struct plan {
	bool use[PROBE_COUNT]; /* in this order: what opens records comes last */
	bool has_accept;
	unsigned int missing_phases;
};

/*
 * Plans for t->symbols. Each function that this version should have and the file has not is named
 * once (log_warn) with what goes missing. -ENOENT with problem filled when nothing can be told
 * without it: pg_getnameinfo_all, or every ready marker.
 */
int plan_make(struct plan *plan, const struct target *t, bool sqlstate, struct problem *problem);

#endif
