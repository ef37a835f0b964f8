/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which connections are told: --only KEY=VALUE and --longer-than. Several values of one key mean
 * or, several keys and. longer_than narrows lines and files alone, never a live histogram.
 */
#ifndef PGDNSTRACE_FILTER_H
#define PGDNSTRACE_FILTER_H

#include "model/conn.h"

#define FILTER_MAX 32

struct filter {
	unsigned int count;
	struct {
		int key; /* enum key: client, user, database, application, outcome */
		char value[PG_NAME_LEN];
		struct addr net; /* client */
		unsigned int bits;
	} only[FILTER_MAX];
	uint64_t longer_than_ns; /* 0: all */
};

/* Adds "client=10.0.0.0/8". 0, or -EINVAL with the reason in err (a sentence for the user). */
int filter_add(struct filter *f, const char *text, char *err, size_t err_len);
/* True when c passes every --only. */
bool filter_match(const struct filter *f, const struct conn *c);
/* True when c also passes --longer-than (ready connections only if their wait was that long). */
bool filter_tell(const struct filter *f, const struct conn *c);
/*
 * The filter as "start" records it: "longer-than=200ms user=bob", "" when nothing is filtered.
 * longer-than stands first. Returns buf.
 */
#define FILTER_LONGER_THAN "longer-than="
const char *filter_text(const struct filter *f, char *buf, size_t len);
/* True when a recorded filter dropped short connections: no percentiles from such a file. */
bool filter_text_drops_short(const char *text);

#endif
