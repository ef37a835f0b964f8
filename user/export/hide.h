/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pseudonyms for what may not leave the house: "user-5d41c29a". The same value has the same
 * pseudonym all over a report and in every report of the same trace, since the key is made of the
 * trace's own bytes; who has the report alone cannot turn them back, as it rounds what the key
 * was made of.
 */
#ifndef PGDNSTRACE_HIDE_H
#define PGDNSTRACE_HIDE_H

#include <stdbool.h>

#include "model/conn.h"
#include "model/stats.h"

struct hide {
	bool keys[KEY_COUNT]; /* user, database, application, client; client stands for network too */
	uint64_t key[2];
};

/* Parses "user,client". 0, or -EINVAL with the reason in err. */
int hide_parse(struct hide *h, const char *list, char *err, size_t err_len);
bool hide_any(const struct hide *h);
/* The key: of the file's first MiB; random when it cannot be read twice (standard input). */
int hide_key(struct hide *h, const char *path);

#define HIDE_TEXT_LEN 24
/* "user-5d41c29a"; "" stays "". Returns buf, which holds HIDE_TEXT_LEN. */
const char *hide_pseudonym(const struct hide *h, const char *kind, const char *value, char *buf);
/* User, database and application of c, where they are to be hidden. */
void hide_conn(const struct hide *h, struct conn *c);
/* A client's address as text, hidden or not; "[local]" stays. buf holds ADDR_TEXT_LEN. */
const char *hide_client(const struct hide *h, const char *address, char *buf);
/*
 * Copies a sentence of ours with every address hidden that is none of the nameservers, when
 * clients are to be hidden.
 */
const char *hide_sentence(const struct hide *h, const struct resolver *keep, const char *text,
			  char *buf, size_t len);

#endif
