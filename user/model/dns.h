/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DNS packets as far as they are needed: who asked whom, which question, what came back. Parsed
 * from bytes off the wire that anyone may have sent.
 */
#ifndef PGDNSTRACE_DNS_H
#define PGDNSTRACE_DNS_H

#include "model/conn.h"

#define DNS_PORT 53

struct dns_packet {
	struct addr from, to;
	uint16_t from_port, to_port;
	bool tcp;
	bool answer; /* QR */
	uint8_t rcode;
	uint16_t id;
	uint64_t question; /* a hash of name, type and class, whatever case the name is in */
	struct addr about; /* the address that a PTR question is about; ADDR_NONE: another question */
};

/*
 * Parses an IPv4 or IPv6 packet, from its first header on, cut off anywhere. 0, or -EINVAL when
 * it is no UDP or TCP packet of port 53 that begins with a DNS header and one whole question.
 */
int dns_parse(const uint8_t *data, size_t len, struct dns_packet *out);

#define DNS_RCODES	16
#define DNS_RCODE_TEXT_LEN 16
/* "NXDOMAIN", "RCODE11" for those without a name. buf holds DNS_RCODE_TEXT_LEN. */
const char *dns_rcode_name(unsigned int rcode, char *buf);
int dns_rcode_parse(const char *name); /* or -ENOENT */

/*
 * What was seen of one nameserver since tracing began. Whoever in the network namespace asked it
 * is counted; questions of connections are told with their lookups (struct question in conn.h).
 */
#define DNS_RTT_BINS 26
struct dns_server {
	struct addr address;
	uint64_t queries, answers;
	uint64_t unanswered; /* for longer than the resolver waits */
	uint64_t retries; /* the same question to the same server again; among queries */
	uint64_t rcodes[DNS_RCODES]; /* of the answers */
	/* Round trips of questions that were asked once: a repeated one leaves open which was answered. */
	uint64_t rtt_count, rtt_p50_ns, rtt_p99_ns, rtt_max_ns;
	uint64_t rtt_bins[DNS_RTT_BINS]; /* shorter than 2^i us and no less than half of that */
};

#define DNS_SERVERS 8
struct dns_report {
	uint64_t packets;
	uint64_t lost; /* packets that the kernel dropped, questions whose end is not known */
	uint64_t others; /* questions to further servers, which have no row */
	unsigned int count;
	struct dns_server servers[DNS_SERVERS];
};

#endif
