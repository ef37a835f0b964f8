/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about name lookups. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/timeouts.h"
#include "model/verdict_private.h"

#define COSTLY_SHARE 0.10 /* of connection time, and */
#define COSTLY_NS    (2 * NS_PER_MS) /* of half of them: below, a local cache answers; or */
#define COSTLY_MEAN_NS (5 * NS_PER_MS) /* on average */

/* What the lookups of one asker came to. */
struct asked {
	struct hist all, answered; /* answered: a name, or the word that there is none */
	uint64_t failed, pending, directions[DIRECTION_COUNT];
	double pending_s; /* how long those have waited */
	uint64_t oldest_ns;
};

static void ask_pending(const struct evidence *e, enum asker by, struct asked *a)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(e->s, &count);

	a->pending = stats_in_setup_pending(e->s, by);
	for (size_t i = 0; i < count; i++) {
		for (unsigned int l = 0; l < list[i].lookups_told; l++) {
			const struct lookup *lookup = &list[i].lookups[l];

			if (lookup->by != by || lookup->result != RESULT_PENDING)
				continue;
			a->pending_s += seconds(lookup->dur_ns);
			if (lookup->dur_ns > a->oldest_ns)
				a->oldest_ns = lookup->dur_ns;
		}
	}
}

static void ask(const struct evidence *e, enum asker by, struct asked *a)
{
	size_t count;
	const struct lookup_row *rows = stats_lookups(e->s, &count);

	memset(a, 0, sizeof(*a));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].by != by)
			continue;
		hist_merge(&a->all, &rows[i].dur);
		a->directions[rows[i].kind] += rows[i].dur.count;
		if (rows[i].result == RESULT_FAILED)
			a->failed += rows[i].dur.count;
		if (rows[i].result == RESULT_NAME || rows[i].result == RESULT_NO_NAME)
			hist_merge(&a->answered, &rows[i].dur);
	}
	ask_pending(e, by, a);
}

static bool is_costly(const struct evidence *e, const struct asked *a)
{
	bool long_enough = hist_percentile(&a->all, 50) >= COSTLY_NS ||
			   mean_ns(&a->all) >= COSTLY_MEAN_NS;

	return long_enough && seconds(a->all.sum_ns) >= COSTLY_SHARE * e->total_s;
}

/* Some took longer than any answer should, or wait so long now. */
static bool is_slow(const struct asked *a)
{
	return hist_above(&a->all, SLOW_NS) > 0 || (a->pending > 0 && a->oldest_ns >= SLOW_NS);
}

/* "10.0s", or "1.0s to 20.0s" when they differ by more than a tenth. */
static const char *slow_text(const struct hist *h, char *buf, size_t len)
{
	uint64_t low = hist_above_percentile(h, SLOW_NS, 5);
	uint64_t high = hist_above_percentile(h, SLOW_NS, 95);
	char from[DURATION_TEXT_LEN], to[DURATION_TEXT_LEN];

	duration_format(low, from);
	duration_format(high, to);
	if (high - low <= high / 10)
		snprintf(buf, len, "%s", to);
	else
		snprintf(buf, len, "%s to %s", from, to);
	return buf;
}

/* Two humps: the median of those that were not slow, when they are more than a few. */
static const char *others_text(const struct hist *h, uint64_t slow, char *buf, size_t len)
{
	uint64_t others = h->count - slow;
	char took[DURATION_TEXT_LEN];

	buf[0] = '\0';
	if (others * 20 >= h->count)
		snprintf(buf, len, ", the other%s %s", others == 1 ? "" : "s",
			 duration_format(hist_percentile(h, 50.0 * others / h->count), took));
	return buf;
}

static void say_slow(struct finding *f, const char *whose, const struct asked *a)
{
	uint64_t slow = hist_above(&a->all, SLOW_NS);
	char took[64], others[48], oldest[DURATION_TEXT_LEN], now[80] = "";

	duration_format(a->oldest_ns, oldest);
	if (a->pending)
		snprintf(now, sizeof(now), "; %llu wait%s now", (unsigned long long)a->pending,
			 a->pending == 1 ? "s" : "");
	if (slow == 0)
		say(f, "%llu %s lookup%s wait%s now, the oldest for %s.",
		    (unsigned long long)a->pending, whose, a->pending == 1 ? "" : "s",
		    a->pending == 1 ? "s" : "", oldest);
	else
		say(f, "%llu of %llu %s lookups took %s%s%s.", (unsigned long long)slow,
		    (unsigned long long)a->all.count, whose, slow_text(&a->all, took, sizeof(took)),
		    others_text(&a->all, slow, others, sizeof(others)), now);
}

/* Whole tries of the resolver, when that is what the slow ones come to. */
static void say_arithmetic(const struct evidence *e, struct finding *f, const struct asked *a)
{
	uint64_t slow_ns = hist_above_percentile(&a->all, SLOW_NS, 50);
	char took[DURATION_TEXT_LEN], tries[TIMEOUTS_TEXT_LEN];

	if (hist_above(&a->all, SLOW_NS) == 0)
		return;
	timeouts_explain(&stats_session(e->s)->resolver, DIRECTION_REVERSE, slow_ns, tries, sizeof(tries));
	if (*tries)
		say(f, "%s is %s.", duration_format(slow_ns, took), tries);
}

/* Who shows the name: escapes of the prefix, then the other printers. */
static void say_printers(const struct evidence *e, struct finding *f)
{
	const struct settings *now = stats_settings(e->s);
	char list[120] = "";
	size_t used = 0;

	if (!now->has_log_line_prefix)
		return;
	for (const char *escape = "hr"; *escape; escape++)
		if (log_prefix_uses(now->log_line_prefix, *escape))
			used += snprintf(list + used, sizeof(list) - used, ", %%%c", *escape);
	for (enum printer p = 0; p < PRINTER_COUNT && now->has_printers; p++)
		if (now->printers >> p & 1)
			used += snprintf(list + used, sizeof(list) - used, ", %s", printer_name(p));
	if (used)
		say(f, "Name used by: %s.", list + 2);
	else if (now->has_printers)
		say(f, "Nothing in this server's settings prints the name.");
}

static void advise_off(const struct evidence *e, struct finding *f, const struct asked *a)
{
	advise_psql(e, f, "'ALTER SYSTEM SET log_hostname=off'", "'SELECT pg_reload_conf()'");
	if (a->pending)
		advise(f, "What waits already waits on. Patroni, managed: pgdnstrace check.");
	else
		advise(f, "Patroni and managed services: see pgdnstrace check.");
}

bool find_reverse_dns(const struct evidence *e, struct finding *f)
{
	const struct settings *now = stats_settings(e->s);
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	struct asked a;

	ask(e, ASKER_LOG_HOSTNAME, &a);
	if ((now->has_log_hostname && !now->log_hostname) || (!is_slow(&a) && !is_costly(e, &a)))
		return false;
	f->weight = seconds(a.all.sum_ns) + a.pending_s;
	if (is_slow(&a)) {
		say_slow(f, "log_hostname", &a);
		say_arithmetic(e, f, &a);
	} else {
		say(f, "A log_hostname lookup takes %s (p50; p99 %s), %.0f%% of connection time.",
		    duration_format(hist_percentile(&a.all, 50), p50),
		    duration_format(hist_percentile(&a.all, 99), p99),
		    100 * seconds(a.all.sum_ns) / e->total_s);
	}
	say_gave_up(e, f, PHASE_HOSTNAME);
	say_printers(e, f);
	advise_off(e, f, &a);
	return true;
}

bool find_host_rules(const struct evidence *e, struct finding *f)
{
	char p50[DURATION_TEXT_LEN], max[DURATION_TEXT_LEN];
	struct asked a;

	ask(e, ASKER_HBA, &a);
	if (!is_slow(&a) && !is_costly(e, &a) && a.failed == 0)
		return false;
	f->weight = seconds(a.all.sum_ns) + a.pending_s + 0.05 * a.failed;
	if (a.all.count)
		say(f, "Host name rules of pg_hba.conf made %llu reverse and %llu forward lookups in auth: "
		       "p50 %s, max %s.",
		    (unsigned long long)a.directions[DIRECTION_REVERSE],
		    (unsigned long long)a.directions[DIRECTION_FORWARD],
		    duration_format(hist_percentile(&a.all, 50), p50),
		    duration_format(a.all.max_ns, max));
	if (a.pending)
		say_slow(f, "pg_hba", &a);
	if (a.failed)
		say(f, "%llu failed: such a rule then matches nobody.", (unsigned long long)a.failed);
	advise_psql(e, f,
		    "\"SELECT line_number, address FROM pg_hba_file_rules\n"
		    "      WHERE netmask IS NULL AND address NOT IN ('all', 'samehost', 'samenet')\"",
		    NULL);
	advise(f, "Addresses in their place need no lookup.");
	return true;
}

/* -- failures -- */

/* The address whose failures took longest. */
static bool failed_address(const struct evidence *e, char *buf)
{
	size_t count;
	const struct address_row *const *rows = stats_addresses(e->s, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->failed == 0 || rows[i]->address.family == ADDR_NONE)
			continue;
		addr_format(&rows[i]->address, buf);
		return true;
	}
	return false;
}

/* "EAI_AGAIN 200, EAI_FAIL 14" */
static void failure_codes(const struct evidence *e, char *buf, size_t len)
{
	size_t count, used = 0;
	const struct lookup_row *rows = stats_lookups(e->s, &count);
	char code[24];

	for (size_t i = 0; i < count && used < len; i++)
		if (rows[i].by == ASKER_LOG_HOSTNAME && rows[i].result == RESULT_FAILED)
			used += snprintf(buf + used, len - used, "%s%s %llu", used ? ", " : "",
					 eai_name(rows[i].code, code),
					 (unsigned long long)rows[i].dur.count);
}

bool find_failed_lookups(const struct evidence *e, struct finding *f)
{
	char codes[80] = "", address[ADDR_TEXT_LEN];
	struct asked a;

	ask(e, ASKER_LOG_HOSTNAME, &a);
	if (a.failed == 0)
		return false;
	f->weight = 0.05 * a.failed;
	failure_codes(e, codes, sizeof(codes));
	say(f, "%llu of %llu log_hostname lookups failed (%s): the log shows ??? in place of the "
	       "client's address.",
	    (unsigned long long)a.failed, (unsigned long long)a.all.count, codes);
	if (failed_address(e, address))
		advise_lookup(e, f, address);
	return true;
}

/* Answers that come only after whole timeouts: somebody before the one that answers is silent. */
bool find_name_server(const struct evidence *e, struct finding *f)
{
	const struct resolver *r = &stats_session(e->s)->resolver;
	char took[DURATION_TEXT_LEN];
	struct asked a;
	uint64_t late;

	ask(e, ASKER_LOG_HOSTNAME, &a);
	if (!r->has || r->nameserver_count < 2 || r->timeout_s <= 0 || seen_silent(e))
		return false;
	late = hist_above(&a.answered, r->timeout_s * NS_PER_S * 15 / 16);
	if (late == 0 || late * 5 < a.answered.count)
		return false;
	f->weight = 1.01 * seconds(a.all.sum_ns) + a.pending_s;
	say(f, "%llu of %llu lookups were answered, but only after %s: %s leaves a question unanswered "
	       "for %ds, then another name server answers.",
	    (unsigned long long)late, (unsigned long long)a.answered.count,
	    duration_format(hist_above_percentile(&a.answered, SLOW_NS, 50), took), r->nameservers[0],
	    r->timeout_s);
	advise(f, "See: dig -x 127.0.0.1 +tries=1 @%s", r->nameservers[0]);
	advise(f, "In the server's /etc/resolv.conf: one that answers first, or at least");
	advise(f, "options timeout:1 attempts:2");
	return true;
}

bool find_lies(const struct evidence *e, struct finding *f)
{
	const struct lie *lie = stats_lie(e->s);
	char address[ADDR_TEXT_LEN];

	if (lie->count == 0)
		return false;
	f->weight = 1;
	say(f, "The PTR record of %s says \"%.60s\", and so does the log (%llu lookup%s like that). The "
	       "server does not verify names: no proof of who connects.",
	    addr_format(&lie->address, address), lie->name, (unsigned long long)lie->count,
	    lie->count == 1 ? "" : "s");
	advise_psql(e, f, "'ALTER SYSTEM SET log_hostname=off'", "'SELECT pg_reload_conf()'");
	advise(f, "Names verified by a forward lookup: pgdnstrace report --resolve.");
	return true;
}

/* -- a reload -- */

static const char *felt_text(const struct hist *h, char *buf, size_t len)
{
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];

	if (h->count == 0)
		snprintf(buf, len, "no connection");
	else
		snprintf(buf, len, "p50 %s, p99 %s (%llu)",
			 duration_format(hist_percentile(h, 50), p50),
			 duration_format(hist_percentile(h, 99), p99), (unsigned long long)h->count);
	return buf;
}

bool find_reload(const struct evidence *e, struct finding *f)
{
	const struct reload *r = stats_reload(e->s);
	uint64_t waiting = stats_in_setup_pending(e->s, ASKER_LOG_HOSTNAME);
	char clock[CLOCK_TEXT_LEN], before[64], since[64];

	if (!r)
		return false;
	f->weight = 2 * e->felt_s + 1e6; /* whoever changed it waits for just this */
	say(f, "log_hostname is %s since %s. Wait before: %s; since: %s.",
	    r->log_hostname ? "on" : "off", clock_local(r->at_ns, clock),
	    felt_text(&r->before, before, sizeof(before)), felt_text(&r->since, since, sizeof(since)));
	if (waiting && !r->log_hostname)
		say(f, "%llu still wait%s in a lookup begun before.", (unsigned long long)waiting,
		    waiting == 1 ? "s" : "");
	return true;
}
