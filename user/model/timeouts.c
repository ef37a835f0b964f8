// SPDX-License-Identifier: BSD-2-Clause
#include "model/timeouts.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SLACK_NS (500 * NS_PER_MS) /* an answer's own time, and a busy machine's */
#define EARLY_NS (20 * NS_PER_MS)  /* poll() counts in milliseconds, the probes sit around it */

static bool is_musl(const struct resolver *r)
{
	return !strcmp(r->libc, "musl");
}

static bool asks_dns(const struct resolver *r)
{
	bool dns = r->host_count == 0;

	for (unsigned int i = 0; i < r->host_count; i++)
		dns |= !strcmp(r->hosts[i], "dns");
	return r->has && dns && !r->nss_resolve && r->nameserver_count && r->timeout_s > 0;
}

/*
 * Questions of one lookup when nobody answers. A name that stays unanswered is tried once more with
 * the first search domain, and then given up (glibc, res_search); musl asks all servers at once.
 */
static unsigned int questions(const struct resolver *r, enum direction kind)
{
	if (!asks_dns(r))
		return 0;
	if (is_musl(r))
		return 1;
	return r->nameserver_count * (unsigned int)r->attempts *
	       (kind == DIRECTION_FORWARD && r->search_count ? 2 : 1);
}

/* send_dg(): the timeout doubles from server to server and is shared by all of them but the first.
 */
static uint64_t question_ns(const struct resolver *r, unsigned int question)
{
	unsigned int server = question % r->nameserver_count;
	unsigned int seconds = (unsigned int)r->timeout_s;

	if (!is_musl(r) && server > 0)
		seconds = (seconds << server) / r->nameserver_count;
	return (seconds ? seconds : 1) * NS_PER_S;
}

uint64_t timeouts_longest_ns(const struct resolver *r, enum direction kind)
{
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < questions(r, kind); i++)
		sum_ns += question_ns(r, i);
	return sum_ns;
}

unsigned int timeouts_unanswered(const struct resolver *r, enum direction kind, uint64_t dur_ns)
{
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < questions(r, kind); i++) {
		sum_ns += question_ns(r, i);
		if (dur_ns + EARLY_NS >= sum_ns && dur_ns < sum_ns + SLACK_NS)
			return i + 1;
	}
	return 0;
}

static bool same_length(const struct resolver *r, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++)
		if (question_ns(r, i) != question_ns(r, 0))
			return false;
	return true;
}

/* Those that were asked: with rotate any of them may have been the first. */
static int servers_text(const struct resolver *r, unsigned int count, char *buf, size_t len)
{
	unsigned int servers =
		is_musl(r) || count > r->nameserver_count ? r->nameserver_count : count;
	int used = 0;

	if (r->rotate && servers < r->nameserver_count)
		return snprintf(buf, len, "any of %u nameservers", r->nameserver_count);
	for (unsigned int i = 0; i < servers && (size_t)used < len; i++)
		used += snprintf(buf + used, len - (size_t)used, "%s%s", i ? ", " : "",
				 r->nameservers[i]);
	return used;
}

const char *timeouts_explain(const struct resolver *r, enum direction kind, uint64_t dur_ns,
			     char *buf, size_t len)
{
	unsigned int count = timeouts_unanswered(r, kind, dur_ns);
	uint64_t sum_ns = 0;
	char servers[256];

	buf[0] = '\0';
	if (!count)
		return buf;
	for (unsigned int i = 0; i < count; i++)
		sum_ns += question_ns(r, i);
	servers_text(r, count, servers, sizeof(servers));
	if (same_length(r, count))
		snprintf(buf, len, "%u unanswered tr%s of %llus (%s)", count,
			 count == 1 ? "y" : "ies", question_ns(r, 0) / NS_PER_S, servers);
	else
		snprintf(buf, len, "%u unanswered tries, %llus in all (%s)", count,
			 sum_ns / NS_PER_S, servers);
	return buf;
}
