/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the C library waits for a name server that does not answer, from the resolver's
 * configuration, and what a duration is made of: 5 s is one timeout, 10 s two. By glibc's rules
 * (resolv/res_send.c) and musl's (network/res_msend.c).
 */
#ifndef PGDNSTRACE_TIMEOUTS_H
#define PGDNSTRACE_TIMEOUTS_H

#include "model/event.h"

/*
 * The longest that one lookup can take when no name server answers; 0: not known, as where another
 * service than the C library asks (nss-resolve), or none is asked. A server that refuses at once
 * makes it shorter, none makes it longer.
 */
uint64_t timeouts_longest_ns(const struct resolver *r, enum direction kind);
/* How many questions without an answer lie in a lookup of that length; 0: it is no sum of timeouts. */
unsigned int timeouts_unanswered(const struct resolver *r, enum direction kind, uint64_t dur_ns);
/*
 * That in words: "2 unanswered tries of 5s (10.0.0.2)"; "" when it is no sum of timeouts. Addresses
 * come from a file of the server's: pass the text through safe/name at the output. Returns buf.
 */
#define TIMEOUTS_TEXT_LEN 320
const char *timeouts_explain(const struct resolver *r, enum direction kind, uint64_t dur_ns,
			     char *buf, size_t len);

#endif
