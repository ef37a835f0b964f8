/* SPDX-License-Identifier: BSD-2-Clause */
/* DNS packets made by hand, headers and all. */
#ifndef PGDNSTRACE_DNS_BUILD_H
#define PGDNSTRACE_DNS_BUILD_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct built {
	uint8_t data[512];
	size_t len;
};

static inline void put(struct built *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void put_u16(struct built *b, unsigned int value)
{
	uint8_t bytes[2] = { (uint8_t)(value >> 8), (uint8_t)value };

	put(b, bytes, 2);
}

static inline void put_name(struct built *b, const char *name)
{
	for (; *name; name += strcspn(name, ".") + (name[strcspn(name, ".")] == '.')) {
		uint8_t len = (uint8_t)strcspn(name, ".");

		put(b, &len, 1);
		put(b, name, len);
	}
	put(b, "", 1);
}

/* One question; flags 0x8000 and an rcode make it an answer, without its records. */
static inline void put_message(struct built *b, unsigned int id, unsigned int flags,
			       const char *name, unsigned int type)
{
	put_u16(b, id);
	put_u16(b, flags);
	put_u16(b, 1);
	put(b, "\0\0\0\0\0", 6);
	put_name(b, name);
	put_u16(b, type);
	put_u16(b, 1);
}

static inline void put_ports(struct built *b, unsigned int from, unsigned int to, bool tcp)
{
	static const uint8_t tcp_rest[16] = { [8] = 6 << 4 }; /* one word of options */

	put_u16(b, from);
	put_u16(b, to);
	if (!tcp) {
		put(b, "\0\0\0", 4);
		return;
	}
	put(b, tcp_rest, sizeof(tcp_rest));
	put(b, "\1\1\1\0", 4);
	put_u16(b, 40); /* the message's length */
}

static inline void put_ip(struct built *b, const char *from, const char *to, bool tcp)
{
	uint8_t head[40] = { 0 };

	if (strchr(from, ':')) {
		head[0] = 6 << 4;
		head[6] = tcp ? 6 : 17;
		inet_pton(AF_INET6, from, head + 8);
		inet_pton(AF_INET6, to, head + 24);
		put(b, head, 40);
		return;
	}
	head[0] = 4 << 4 | 6; /* one word of options */
	head[9] = tcp ? 6 : 17;
	inet_pton(AF_INET, from, head + 12);
	inet_pton(AF_INET, to, head + 16);
	put(b, head, 24);
}

#endif
