/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DNS packets put together: questions with their answers, what each nameserver does, and which
 * questions belong to which connection's lookup. Knows the packets of the last while, no socket.
 */
#ifndef PGDNSTRACE_DNS_WATCH_H
#define PGDNSTRACE_DNS_WATCH_H

#include "model/dns.h"
#include "model/event.h"

struct dns_watch;

/* The resolver's own nameservers get the first rows. NULL: out of memory. */
struct dns_watch *dns_watch_new(const struct resolver *r);
void dns_watch_free(struct dns_watch *w); /* accepts NULL */
/* Packets come in order of time; at_ns: wall clock. */
void dns_watch_packet(struct dns_watch *w, const struct dns_packet *p, int64_t at_ns);
/* Adds to what is reported as lost. */
void dns_watch_lost(struct dns_watch *w, uint64_t packets);
void dns_watch_report(const struct dns_watch *w, int64_t now_ns, struct dns_report *out);
/*
 * Gives each reverse lookup of the connection the questions that were asked for it: those about
 * its address while it waited, all with one DNS id, which glibc keeps through its tries. A question
 * belongs to one lookup alone.
 */
void dns_watch_tie(struct dns_watch *w, struct conn *c);

#endif
