/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/hide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define KEY_BYTES (1 << 20)

/* -- SipHash-2-4: a keyed hash, so that a guess cannot be tried without the key -- */

struct sip {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(struct sip *s)
{
	uint64_t *v = s->v;

	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_round(s);
	sip_round(s);
	s->v[0] ^= word;
}

static uint64_t siphash(const uint64_t key[2], const void *data, size_t len)
{
	struct sip s = { { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			   key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 } };
	const unsigned char *bytes = data;
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++) {
		word |= (uint64_t)bytes[i] << i % 8 * 8;
		if (i % 8 == 7) {
			sip_word(&s, word);
			word = 0;
		}
	}
	sip_word(&s, word | (uint64_t)len << 56);
	s.v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(&s);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

/* -- the key -- */

static int random_key(struct hide *h)
{
	return getrandom(h->key, sizeof(h->key), 0) == sizeof(h->key) ? 0 : -EIO;
}

int hide_key(struct hide *h, const char *path)
{
	static const uint64_t seeds[2][2] = { { 1, 2 }, { 3, 4 } };
	static char bytes[KEY_BYTES];
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : NULL;
	size_t len;

	if (!file)
		return random_key(h);
	len = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (int i = 0; i < 2; i++)
		h->key[i] = siphash(seeds[i], bytes, len);
	return 0;
}

/* -- what is hidden -- */

static bool may_be_hidden(int key)
{
	return key == KEY_USER || key == KEY_DATABASE || key == KEY_APPLICATION || key == KEY_CLIENT;
}

int hide_parse(struct hide *h, const char *list, char *err, size_t err_len)
{
	char word[32];

	for (size_t len; *list; list += len + (list[len] == ',')) {
		int key;

		len = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		key = key_parse(word);
		if (key < 0 || !may_be_hidden(key)) {
			snprintf(err, err_len,
				 "--hide takes user, database, application and client, not '%s'", word);
			return -EINVAL;
		}
		h->keys[key] = true;
	}
	return 0;
}

bool hide_any(const struct hide *h)
{
	for (int k = 0; k < KEY_COUNT; k++)
		if (h->keys[k])
			return true;
	return false;
}

const char *hide_pseudonym(const struct hide *h, const char *kind, const char *value, char *buf)
{
	char text[TEXT_LEN + 32];
	int len;

	buf[0] = '\0';
	if (!value[0])
		return buf;
	len = snprintf(text, sizeof(text), "%s=%s", kind, value); /* the kind: no value twice */
	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	snprintf(buf, HIDE_TEXT_LEN, "%s-%08x", kind, (unsigned int)siphash(h->key, text, len));
	return buf;
}

static void hide_name(const struct hide *h, enum key key, char *name)
{
	char buf[HIDE_TEXT_LEN];

	if (h->keys[key])
		strcpy(name, hide_pseudonym(h, key_word(key), name, buf));
}

void hide_conn(const struct hide *h, struct conn *c)
{
	char buf[HIDE_TEXT_LEN];

	hide_name(h, KEY_USER, c->user);
	hide_name(h, KEY_DATABASE, c->database);
	hide_name(h, KEY_APPLICATION, c->application);
	if (!h->keys[KEY_CLIENT])
		return;
	for (unsigned int i = 0; i < c->lookups_told; i++) /* the client's own name */
		strcpy(c->lookups[i].name, hide_pseudonym(h, "name", c->lookups[i].name, buf));
}

const char *hide_client(const struct hide *h, const char *address, char *buf)
{
	struct addr a;

	if (!h->keys[KEY_CLIENT] || addr_parse(address, &a) || a.family == ADDR_UNIX)
		snprintf(buf, ADDR_TEXT_LEN, "%s", address);
	else
		hide_pseudonym(h, "client", address, buf);
	return buf;
}

/* -- sentences -- */

static bool is_nameserver(const struct resolver *r, const struct addr *a)
{
	struct addr nameserver;

	for (unsigned int i = 0; i < r->nameserver_count; i++)
		if (!addr_parse(r->nameservers[i], &nameserver) && addr_equal(a, &nameserver))
			return true;
	return false;
}

/* Length of the address that text begins with; 0: none. Dots and colons may end the sentence. */
static size_t address_length(const char *text, char *address, struct addr *a)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF.:");

	for (; len > 2; len--) {
		if (len >= ADDR_TEXT_LEN)
			continue;
		memcpy(address, text, len);
		address[len] = '\0';
		if (!addr_parse(address, a))
			return len;
	}
	return 0;
}

const char *hide_sentence(const struct hide *h, const struct resolver *keep, const char *text,
			  char *buf, size_t len)
{
	char address[ADDR_TEXT_LEN], hidden[ADDR_TEXT_LEN];
	size_t used = 0, taken;
	struct addr a;

	while (*text && used + ADDR_TEXT_LEN < len) {
		taken = h->keys[KEY_CLIENT] ? address_length(text, address, &a) : 0;
		if (taken && !is_nameserver(keep, &a)) {
			used += sprintf(buf + used, "%s", hide_client(h, address, hidden));
		} else if (taken) {
			memcpy(buf + used, text, taken);
			used += taken;
		} else {
			buf[used++] = *text;
			taken = 1;
		}
		text += taken;
	}
	buf[used] = '\0';
	return buf;
}
