// SPDX-License-Identifier: BSD-2-Clause
#include "model/dns.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_LEN   12
#define TYPE_PTR     12
#define NAME_MAX_LEN 255 /* on the wire, RFC 1035 */
#define LABEL_MAX    63
#define LABELS_MAX   40 /* an IPv6 reverse name has 34 */

/* What is left to read; a read beyond the end fails it, and all that follow. */
struct cursor {
	const uint8_t *data;
	size_t left;
	bool failed;
};

static const uint8_t *take(struct cursor *c, size_t len)
{
	const uint8_t *at = c->data;

	c->failed |= len > c->left;
	if (c->failed)
		return NULL;
	c->data += len;
	c->left -= len;
	return at;
}

static unsigned int take_u16(struct cursor *c)
{
	const uint8_t *at = take(c, 2);

	return at ? (unsigned int)at[0] << 8 | at[1] : 0;
}

/* -- names -- */

struct label {
	const uint8_t *text;
	uint8_t len;
};

struct name {
	struct label labels[LABELS_MAX];
	unsigned int count; /* beyond LABELS_MAX only counted */
};

/* FNV-1a */
static uint64_t hash_byte(uint64_t hash, uint8_t byte)
{
	return (hash ^ byte) * 1099511628211ULL;
}

/* A question's name is never compressed: a pointer here is no name (RFC 1035, 4.1.2). */
static uint64_t take_name(struct cursor *c, struct name *name)
{
	uint64_t hash = 14695981039346656037ULL;
	const uint8_t *text, *len;
	size_t whole = 0;

	name->count = 0;
	while ((len = take(c, 1)) && *len) {
		text = take(c, *len);
		whole += *len + 1U;
		if (!text || *len > LABEL_MAX || whole >= NAME_MAX_LEN) {
			c->failed = true;
			return 0;
		}
		if (name->count < LABELS_MAX)
			name->labels[name->count] = (struct label){ text, *len };
		name->count++;
		hash = hash_byte(hash, *len);
		for (uint8_t i = 0; i < *len; i++)
			hash = hash_byte(hash, (uint8_t)tolower(text[i]));
	}
	return hash;
}

static bool label_is(const struct label *l, const char *text)
{
	return l->len == strlen(text) && !strncasecmp((const char *)l->text, text, l->len);
}

static bool name_ends(const struct name *name, unsigned int numbers, const char *zone)
{
	return name->count == numbers + 2 && label_is(&name->labels[numbers], zone) &&
	       label_is(&name->labels[numbers + 1], "arpa");
}

/* A label as a number below limit; -1: it is none. */
static int label_number(const struct label *l, int base, int limit)
{
	char text[4], *end;
	long value;

	if (l->len == 0 || l->len >= sizeof(text) || !isxdigit(l->text[0]))
		return -1;
	memcpy(text, l->text, l->len);
	text[l->len] = '\0';
	value = strtol(text, &end, base);
	return *end || value >= limit ? -1 : (int)value;
}

/* 7.0.42.10.in-addr.arpa: the address backwards. */
static void reverse_v4(const struct name *name, struct addr *out)
{
	struct addr a = { .family = ADDR_V4 };

	for (unsigned int i = 0; i < 4; i++) {
		int number = label_number(&name->labels[i], 10, 256);

		if (number < 0)
			return;
		a.bytes[3 - i] = (uint8_t)number;
	}
	*out = a;
}

static void reverse_v6(const struct name *name, struct addr *out)
{
	struct addr a = { .family = ADDR_V6 };

	for (unsigned int i = 0; i < 32; i++) {
		int number = label_number(&name->labels[i], 16, 16);

		if (number < 0)
			return;
		a.bytes[15 - i / 2] |= (uint8_t)(number << (i % 2 ? 4 : 0));
	}
	*out = a;
}

static void reverse_address(const struct name *name, struct addr *out)
{
	if (name_ends(name, 4, "in-addr"))
		reverse_v4(name, out);
	else if (name_ends(name, 32, "ip6"))
		reverse_v6(name, out);
}

/* -- the message and what carries it -- */

static void take_message(struct cursor *c, struct dns_packet *out)
{
	unsigned int flags, questions, type;
	struct name name;

	out->id = (uint16_t)take_u16(c);
	flags = take_u16(c);
	questions = take_u16(c);
	take(c, HEADER_LEN - 6);
	c->failed |= questions != 1;
	out->answer = flags & 0x8000;
	out->rcode = flags & 0xf;
	out->question = take_name(c, &name);
	type = take_u16(c);
	out->question = hash_byte(hash_byte(out->question, (uint8_t)type), (uint8_t)(type >> 8));
	out->question = hash_byte(out->question, (uint8_t)take_u16(c));
	if (!c->failed && type == TYPE_PTR)
		reverse_address(&name, &out->about);
}

/* A TCP segment counts when a message begins in it; its two bytes of length go before. */
static void take_transport(struct cursor *c, unsigned int protocol, struct dns_packet *out)
{
	const uint8_t *head;

	out->tcp = protocol == IPPROTO_TCP;
	out->from_port = (uint16_t)take_u16(c);
	out->to_port = (uint16_t)take_u16(c);
	if (protocol == IPPROTO_UDP) {
		take(c, 4);
		return;
	}
	c->failed |= protocol != IPPROTO_TCP;
	head = take(c, 16);
	if (!head || head[8] >> 4 < 5)
		c->failed = true;
	else
		take(c, (head[8] >> 4) * 4U - 20);
	c->failed |= take_u16(c) < HEADER_LEN;
}

static void take_addr(struct cursor *c, enum addr_family family, struct addr *out)
{
	size_t len = family == ADDR_V4 ? 4 : 16;
	const uint8_t *at = take(c, len);

	out->family = family;
	if (at)
		memcpy(out->bytes, at, len);
}

static unsigned int take_v4(struct cursor *c, struct dns_packet *out)
{
	const uint8_t *head = take(c, 12);
	unsigned int options = head ? (head[0] & 0xf) * 4U : 0;

	if (!head || options < 20 || (head[6] & 0x1f) || head[7]) { /* a later fragment */
		c->failed = true;
		return 0;
	}
	take_addr(c, ADDR_V4, &out->from);
	take_addr(c, ADDR_V4, &out->to);
	take(c, options - 20);
	return head[9];
}

static unsigned int take_v6(struct cursor *c, struct dns_packet *out)
{
	const uint8_t *head = take(c, 8);

	take_addr(c, ADDR_V6, &out->from);
	take_addr(c, ADDR_V6, &out->to);
	return head ? head[6] : 0;
}

int dns_parse(const uint8_t *data, size_t len, struct dns_packet *out)
{
	struct cursor c = { data, len, false };
	unsigned int version = len ? data[0] >> 4 : 0, protocol;

	memset(out, 0, sizeof(*out));
	if (version != 4 && version != 6)
		return -EINVAL;
	protocol = version == 4 ? take_v4(&c, out) : take_v6(&c, out);
	take_transport(&c, protocol, out);
	take_message(&c, out);
	if (c.failed || (out->answer ? out->from_port : out->to_port) != DNS_PORT)
		return -EINVAL;
	return 0;
}

/* -- answers in words (RFC 1035, 2136) -- */

static const char *const rcode_names[] = { "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
					   "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
					   "NXRRSET", "NOTAUTH", "NOTZONE" };
#define RCODES_NAMED (sizeof(rcode_names) / sizeof(rcode_names[0]))

const char *dns_rcode_name(unsigned int rcode, char *buf)
{
	if (rcode < RCODES_NAMED)
		return rcode_names[rcode];
	snprintf(buf, DNS_RCODE_TEXT_LEN, "RCODE%u", rcode);
	return buf;
}

int dns_rcode_parse(const char *name)
{
	char buf[DNS_RCODE_TEXT_LEN];

	for (unsigned int i = 0; i < DNS_RCODES; i++)
		if (!strcmp(name, dns_rcode_name(i, buf)))
			return (int)i;
	return -ENOENT;
}
