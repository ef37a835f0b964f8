/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#define CONN_TEXT(name, text) text,
static const char *const phase_names[] = { PHASES(CONN_TEXT) "unknown" };
static const char *const within_names[] = { WITHINS(CONN_TEXT) };
static const char *const outcome_names[] = { OUTCOMES(CONN_TEXT) };
static const char *const asker_names[] = { ASKERS(CONN_TEXT) };
static const char *const direction_names[] = { DIRECTIONS(CONN_TEXT) };
static const char *const result_names[] = { RESULTS(CONN_TEXT) };
static const char *const metric_names[] = { "wait", "dns", "total",
					    PHASES(CONN_TEXT) WITHINS(CONN_TEXT) };

_Static_assert(sizeof(metric_names) / sizeof(metric_names[0]) == METRIC_COUNT, "one name each");

#define TABLE_LEN(table) (sizeof(table) / sizeof((table)[0]))

static int name_parse(const char *const *table, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(table[i], name))
			return i;
	return -ENOENT;
}

#define CONN_NAMES(thing, type)                                                                    \
	const char *thing##_name(type number)                                                      \
	{                                                                                          \
		return (size_t)number < TABLE_LEN(thing##_names) ? thing##_names[number] : NULL;   \
	}                                                                                          \
	int thing##_parse(const char *name)                                                        \
	{                                                                                          \
		return name_parse(thing##_names, TABLE_LEN(thing##_names), name);                  \
	}

CONN_NAMES(phase, enum phase)
CONN_NAMES(within, enum within)
CONN_NAMES(outcome, enum outcome)
CONN_NAMES(asker, enum asker)
CONN_NAMES(direction, enum direction)
CONN_NAMES(result, enum result)
CONN_NAMES(metric, int)

static bool take(bool present, uint64_t value, uint64_t *ns)
{
	if (present)
		*ns = value;
	return present;
}

bool conn_metric(const struct conn *c, int metric, uint64_t *ns)
{
	int p = metric - METRIC_PHASE(0), w = metric - METRIC_WITHIN(0);

	switch (metric) {
	case METRIC_WAIT:
		return take(c->has_wait, c->wait_ns, ns);
	case METRIC_DNS:
		return take(c->has_dns, c->dns_ns, ns);
	case METRIC_TOTAL:
		return take(c->has_total, c->total_ns, ns);
	}
	if (p >= 0 && p < PHASE_COUNT)
		return take(c->phases_present >> p & 1, c->phases_ns[p], ns);
	if (w >= 0 && w < WITHIN_COUNT)
		return take(c->within_present >> w & 1, c->within_ns[w], ns);
	return false;
}

bool conn_felt(const struct conn *c, uint64_t *ns)
{
	return conn_metric(c, METRIC_WAIT, ns) || conn_metric(c, METRIC_TOTAL, ns);
}

enum phase conn_slowest_phase(const struct conn *c)
{
	enum phase slowest = PHASE_UNKNOWN;
	uint64_t most_ns = 0;

	for (enum phase p = 0; p < PHASE_COUNT; p++) {
		if (!(c->phases_present >> p & 1))
			continue;
		if (slowest == PHASE_UNKNOWN || c->phases_ns[p] > most_ns) {
			slowest = p;
			most_ns = c->phases_ns[p];
		}
	}
	return slowest;
}

const char *conn_session_id(const struct conn *c, char *buf)
{
	if (c->backend_start)
		snprintf(buf, 32, "%llx.%x", (unsigned long long)c->backend_start, c->pid);
	else
		*buf = '\0';
	return buf;
}

const char *addr_format(const struct addr *a, char *buf)
{
	*buf = '\0';
	if (a->family == ADDR_UNIX)
		strcpy(buf, "[local]");
	else if (a->family == ADDR_V4)
		inet_ntop(AF_INET, a->bytes, buf, ADDR_TEXT_LEN);
	else if (a->family == ADDR_V6)
		inet_ntop(AF_INET6, a->bytes, buf, ADDR_TEXT_LEN);
	return buf;
}

int addr_parse(const char *text, struct addr *a)
{
	char plain[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "%");

	memset(a, 0, sizeof(*a));
	if (!strcmp(text, "[local]")) {
		a->family = ADDR_UNIX;
		return 0;
	}
	if (len >= sizeof(plain))
		return -EINVAL;
	memcpy(plain, text, len);
	plain[len] = '\0';
	if (!text[len] && inet_pton(AF_INET, plain, a->bytes) == 1)
		a->family = ADDR_V4;
	else if (inet_pton(AF_INET6, plain, a->bytes) == 1)
		a->family = ADDR_V6;
	return a->family == ADDR_NONE ? -EINVAL : 0;
}

struct addr addr_network(const struct addr *a)
{
	struct addr net = *a;

	if (a->family == ADDR_V4)
		net.bytes[3] = 0;
	else if (a->family == ADDR_V6)
		memset(net.bytes + 8, 0, 8);
	return net;
}

bool addr_within(const struct addr *a, const struct addr *net, unsigned int bits)
{
	unsigned int width = a->family == ADDR_V4 ? 32 : a->family == ADDR_V6 ? 128 : 0;
	unsigned int whole, rest;

	if (a->family != net->family || a->family == ADDR_NONE)
		return false;
	if (bits > width)
		bits = width;
	whole = bits / 8;
	rest = bits % 8;
	if (memcmp(a->bytes, net->bytes, whole))
		return false;
	return !rest || !((a->bytes[whole] ^ net->bytes[whole]) >> (8 - rest));
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* glibc's numbers; musl shares those up to EAI_OVERFLOW. */
static const struct {
	int code;
	const char *name;
} eai_names[] = {
	{ EAI_BADFLAGS, "EAI_BADFLAGS" },     { EAI_NONAME, "EAI_NONAME" },
	{ EAI_AGAIN, "EAI_AGAIN" },           { EAI_FAIL, "EAI_FAIL" },
	{ EAI_NODATA, "EAI_NODATA" },         { EAI_FAMILY, "EAI_FAMILY" },
	{ EAI_SOCKTYPE, "EAI_SOCKTYPE" },     { EAI_SERVICE, "EAI_SERVICE" },
	{ EAI_ADDRFAMILY, "EAI_ADDRFAMILY" }, { EAI_MEMORY, "EAI_MEMORY" },
	{ EAI_SYSTEM, "EAI_SYSTEM" },         { EAI_OVERFLOW, "EAI_OVERFLOW" },
};

const char *eai_name(int code, char *buf)
{
	for (size_t i = 0; i < TABLE_LEN(eai_names); i++)
		if (eai_names[i].code == code)
			return strcpy(buf, eai_names[i].name);
	snprintf(buf, 24, "EAI_%d", code);
	return buf;
}
