/* SPDX-License-Identifier: BSD-2-Clause */
/* What the packets of the nameservers say, where they are watched. */
#include "model/verdict_private.h"

#include "base/duration.h"

#define QUESTIONS_LEAST 3 /* fewer prove nothing */

static bool is_silent(const struct dns_server *s)
{
	return s->queries >= QUESTIONS_LEAST && s->unanswered * 2 > s->queries;
}

static const struct dns_server *silent_server(const struct dns_report *r)
{
	for (unsigned int i = 0; r && i < r->count; i++)
		if (is_silent(&r->servers[i]))
			return &r->servers[i];
	return NULL;
}

static const struct dns_server *good_server(const struct dns_report *r)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->servers[i].rtt_count && !is_silent(&r->servers[i]))
			return &r->servers[i];
	return NULL;
}

/* All that reverse lookups took, those under way too. */
static double lookup_seconds(const struct evidence *e)
{
	uint64_t sum_ns = stats_family(e->s, ADDR_V4)->dur.sum_ns +
			  stats_family(e->s, ADDR_V6)->dur.sum_ns;
	size_t count;
	const struct conn *list = stats_in_setup_list(e->s, &count);

	for (size_t i = 0; i < count; i++)
		for (unsigned int k = 0; k < list[i].lookups_told; k++)
			if (list[i].lookups[k].result == RESULT_PENDING)
				sum_ns += list[i].lookups[k].dur_ns;
	return seconds(sum_ns);
}

bool seen_silent(const struct evidence *e)
{
	return silent_server(stats_dns(e->s));
}

bool find_silent_server(const struct evidence *e, struct finding *f)
{
	const struct dns_report *r = stats_dns(e->s);
	const struct dns_server *silent = silent_server(r), *good;
	char address[ADDR_TEXT_LEN], other[ADDR_TEXT_LEN], took[DURATION_TEXT_LEN];

	if (!silent)
		return false;
	f->weight = 1.02 * lookup_seconds(e);
	addr_format(&silent->address, address);
	say(f, "%s left %llu of %llu questions unanswered.", address,
	    (unsigned long long)silent->unanswered, (unsigned long long)silent->queries);
	good = good_server(r);
	if (good)
		say(f, "%s answers in %s.", addr_format(&good->address, other),
		    duration_format(good->rtt_p50_ns, took));
	advise(f, "See: dig -x 127.0.0.1 +tries=1 @%s", address);
	advise(f, "In the server's /etc/resolv.conf: one that answers first, or at least");
	advise(f, "options timeout:1 attempts:2");
	return true;
}
