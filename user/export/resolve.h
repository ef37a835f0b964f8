/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --resolve: names of client addresses, asked by this host, now, off the server's path. A
 * name counts as verified when it resolves back to the address: the owner of a reverse zone can
 * write any name there. Bounded: eight questions at a time, 50 a second, 30 s in all.
 */
#ifndef PGDNSTRACE_RESOLVE_H
#define PGDNSTRACE_RESOLVE_H

#include "model/conn.h"

#define RESOLVE_MAX 256 /* further ones are not asked */

#define RESOLVE_STATES(X)                                                                          \
	X(NOT_ASKED, "not asked")                                                                  \
	X(NO_NAME, "no name")                                                                      \
	X(NO_ANSWER, "no answer")                                                                  \
	X(MISMATCH, "does not resolve back")                                                       \
	X(VERIFIED, "verified")
#define RESOLVE_ENUM(name, text) RESOLVE_##name,
enum resolve_state { RESOLVE_STATES(RESOLVE_ENUM) RESOLVE_STATE_COUNT };
#undef RESOLVE_ENUM
const char *resolve_state_name(enum resolve_state s);

struct resolved {
	struct addr addr; /* in */
	enum resolve_state state;
	char name[DNS_NAME_LEN]; /* hostile; "" : none */
};

/* Asks for all of them. 0, or -EIO when this host has no resolver. */
int resolve_all(struct resolved *list, size_t count);

#endif
