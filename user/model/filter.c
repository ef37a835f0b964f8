/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/stats.h"

/* "10.0.0.0/8", "fd00::1", "[local]"; the bits default to the whole address. */
static int parse_network(const char *text, struct addr *net, unsigned int *bits)
{
	char address[ADDR_TEXT_LEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	unsigned int most;
	unsigned long value;
	char *end;

	if (len >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, len);
	address[len] = '\0';
	if (addr_parse(address, net) < 0)
		return -EINVAL;
	most = net->family == ADDR_V4 ? 32 : net->family == ADDR_V6 ? 128 : 0;
	*bits = most;
	if (!slash)
		return 0;
	if (slash[1] < '0' || slash[1] > '9')
		return -EINVAL;
	value = strtoul(slash + 1, &end, 10);
	if (*end != '\0' || value > most || most == 0)
		return -EINVAL;
	*bits = value;
	return 0;
}

static int parse_key(const char *text, const char *equals)
{
	char name[16];
	size_t len = equals - text;
	int key;

	if (len >= sizeof(name))
		return -ENOENT;
	memcpy(name, text, len);
	name[len] = '\0';
	key = key_parse(name);
	return key == KEY_NETWORK ? -ENOENT : key;
}

int filter_add(struct filter *f, const char *text, char *err, size_t err_len)
{
	const char *equals = strchr(text, '=');
	int key = equals ? parse_key(text, equals) : -ENOENT;
	typeof(f->only[0]) *row = &f->only[f->count];

	if (key < 0) {
		snprintf(err, err_len,
			 "'%s' is not KEY=VALUE with a KEY of client, user, database, application "
			 "or outcome",
			 text);
		return -EINVAL;
	}
	if (f->count == FILTER_MAX) {
		snprintf(err, err_len, "more than %d filters", FILTER_MAX);
		return -EINVAL;
	}
	memset(row, 0, sizeof(*row));
	row->key = key;
	if (strlen(equals + 1) >= sizeof(row->value)) {
		snprintf(err, err_len, "'%s' is longer than a name can be (%zu bytes)", equals + 1,
			 sizeof(row->value) - 1);
		return -EINVAL;
	}
	strcpy(row->value, equals + 1);
	if (key == KEY_CLIENT && parse_network(row->value, &row->net, &row->bits) < 0) {
		snprintf(err, err_len, "'%s' is no address and no network such as 10.0.0.0/8",
			 row->value);
		return -EINVAL;
	}
	if (key == KEY_OUTCOME && outcome_parse(row->value) < 0) {
		snprintf(err, err_len, "'%s' is no outcome", row->value);
		return -EINVAL;
	}
	f->count++;
	return 0;
}

/* What is not known of a connection still in setup may yet match. */
static bool row_matches(const struct filter *f, unsigned int i, const struct conn *c)
{
	const char *value = f->only[i].value;
	bool open = c->outcome == OUTCOME_NONE;

	switch (f->only[i].key) {
	case KEY_CLIENT:
		if (c->client.family == ADDR_NONE)
			return open;
		return addr_within(&c->client, &f->only[i].net, f->only[i].bits);
	case KEY_USER:
		return c->has_user ? strcmp(c->user, value) == 0 : open;
	case KEY_DATABASE:
		return c->has_user ? strcmp(c->database, value) == 0 : open;
	case KEY_APPLICATION:
		return c->has_application ? strcmp(c->application, value) == 0 : open;
	default:
		return open || outcome_parse(value) == (int)c->outcome;
	}
}

static bool key_matches(const struct filter *f, int key, const struct conn *c)
{
	bool asked = false;

	for (unsigned int i = 0; i < f->count; i++) {
		if (f->only[i].key != key)
			continue;
		asked = true;
		if (row_matches(f, i, c))
			return true;
	}
	return !asked;
}

bool filter_match(const struct filter *f, const struct conn *c)
{
	for (int key = 0; key < KEY_COUNT; key++)
		if (!key_matches(f, key, c))
			return false;
	return true;
}

bool filter_tell(const struct filter *f, const struct conn *c)
{
	uint64_t ns;

	if (!filter_match(f, c))
		return false;
	if (f->longer_than_ns == 0 || c->outcome != OUTCOME_READY)
		return true;
	return conn_felt(c, &ns) && ns >= f->longer_than_ns;
}

static int write_longer_than(char *buf, size_t len, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { NS_PER_S, "s" }, { NS_PER_MS, "ms" }, { NS_PER_US, "us" } };
	unsigned int i = 0;

	while (i < 2 && ns % units[i].ns != 0)
		i++;
	return snprintf(buf, len, FILTER_LONGER_THAN "%llu%s",
			(unsigned long long)(ns / units[i].ns), units[i].name);
}

const char *filter_text(const struct filter *f, char *buf, size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	if (f->longer_than_ns != 0)
		used = write_longer_than(buf, len, f->longer_than_ns);
	for (unsigned int i = 0; i < f->count && used < len; i++)
		used += snprintf(buf + used, len - used, "%s%s=%s", used ? " " : "",
				 key_word(f->only[i].key), f->only[i].value);
	return buf;
}

bool filter_text_drops_short(const char *text)
{
	return strncmp(text, FILTER_LONGER_THAN, strlen(FILTER_LONGER_THAN)) == 0;
}
