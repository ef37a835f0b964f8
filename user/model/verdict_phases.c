/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about one phase each: what PostgreSQL, its clients and the kernel take time for. */
#include <stdio.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/verdict_private.h"

#define STUCK_NS NS_PER_S

/* Time of a phase that nothing else explains, of ended connections and of those in it now. */
struct phase_time {
	const struct hist *h;
	double own_s, share;
	uint64_t own_mean_ns;
	uint64_t stuck, oldest_ns;
	double stuck_s;
};

static bool waits_for_lookup(const struct conn *c)
{
	for (unsigned int i = 0; i < c->lookups_told; i++)
		if (c->lookups[i].result == RESULT_PENDING)
			return true;
	return false;
}

static void count_stuck(const struct evidence *e, enum phase p, struct phase_time *t)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(e->s, &count);

	for (size_t i = 0; i < count; i++) {
		if (list[i].phase != p || list[i].in_phase_ns < STUCK_NS || waits_for_lookup(&list[i]))
			continue;
		t->stuck++;
		t->stuck_s += seconds(list[i].in_phase_ns);
		if (list[i].in_phase_ns > t->oldest_ns)
			t->oldest_ns = list[i].in_phase_ns;
	}
}

/* explained_s: what of it is told by another finding. */
static struct phase_time phase_time(const struct evidence *e, enum phase p, double explained_s)
{
	struct phase_time t = { .h = stats_hist(e->s, METRIC_PHASE(p), STATS_ALL, NULL) };

	t.own_s = seconds(t.h->sum_ns) - explained_s;
	if (t.own_s < 0)
		t.own_s = 0;
	t.share = e->total_s > 0 ? t.own_s / e->total_s : 0;
	t.own_mean_ns = t.h->count ? t.own_s / t.h->count * NS_PER_S : 0;
	count_stuck(e, p, &t);
	return t;
}

static bool weighs(const struct phase_time *t, double share, uint64_t least_ns)
{
	return (t->share >= share && t->own_mean_ns >= least_ns) || t->stuck > 0;
}

static void say_time(struct finding *f, const char *what, const struct phase_time *t)
{
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN], oldest[DURATION_TEXT_LEN];

	f->weight = t->own_s + t->stuck_s;
	if (t->h->count)
		say(f, "%s takes %s (p50; p99 %s), %.0f%% of connection time.", what,
		    duration_format(hist_percentile(t->h, 50), p50),
		    duration_format(hist_percentile(t->h, 99), p99), 100 * t->share);
	if (t->stuck)
		say(f, "%llu wait%s in it now, the oldest for %s.", (unsigned long long)t->stuck,
		    t->stuck == 1 ? "s" : "", duration_format(t->oldest_ns, oldest));
}

static double within_s(const struct evidence *e, enum within w)
{
	return seconds(stats_hist(e->s, METRIC_WITHIN(w), STATS_ALL, NULL)->sum_ns);
}

/* -- before the server reads a byte -- */

bool find_queue(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_QUEUE, 0);
	const struct tick *tick = stats_tick(e->s);
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	bool waits = t.own_mean_ns >= 5 * NS_PER_MS && t.own_s >= 0.2 * e->felt_s;
	bool full = tick->has_accept_queue && tick->accept_queue_limit > 0 &&
		    tick->accept_queue * 2 >= tick->accept_queue_limit;

	if (!waits && !full && tick->listen_drops == 0)
		return false;
	f->weight = t.own_s + tick->listen_drops + tick->accept_queue;
	if (waits)
		say(f, "Connections wait %s (p50; p99 %s) in the kernel until the postmaster takes them.",
		    duration_format(hist_percentile(t.h, 50), p50),
		    duration_format(hist_percentile(t.h, 99), p99));
	if (tick->has_accept_queue)
		say(f, "%u of %u places are taken, %llu packets were dropped for want of one.",
		    tick->accept_queue, tick->accept_queue_limit, (unsigned long long)tick->listen_drops);
	say_gave_up(e, f, PHASE_QUEUE);
	advise(f, "See: top -b -n 1 -p %d; cat /proc/sys/net/core/somaxconn",
	       stats_session(e->s)->postmaster);
	advise(f, "The postmaster takes one at a time; a pool asks it less often. The places");
	advise(f, "are somaxconn or twice its backends, the lesser, as of its start.");
	return true;
}

bool find_fork(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_FORK, 0);

	if (!weighs(&t, 0.2, 3 * NS_PER_MS))
		return false;
	say_time(f, "fork", &t);
	say(f, "It grows with the postmaster's own memory and page tables.");
	advise(f, "See: grep -E 'VmPTE|RssAnon|RssShmem' /proc/%d/status",
	       stats_session(e->s)->postmaster);
	advise(f, "Smaller: huge_pages = on, fewer shared_preload_libraries; rarer: a pool.");
	return true;
}

bool find_child(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_CHILD, 0);

	if (!weighs(&t, 0.3, 10 * NS_PER_MS))
		return false;
	say_time(f, "A backend's first step (child)", &t);
	say(f, "CPU is scarce, or pre_auth_delay is set.");
	advise_psql(e, f, "'SHOW pre_auth_delay'", NULL);
	advise(f, "See: cat /proc/pressure/cpu");
	return true;
}

/* Below 10 ms it is the server's own work; TLS and GSS have words of their own. */
bool find_startup(const struct evidence *e, struct finding *f)
{
	double negotiation_s = within_s(e, WITHIN_TLS) + within_s(e, WITHIN_GSS);
	struct phase_time t = phase_time(e, PHASE_STARTUP, negotiation_s);
	uint64_t late = hist_above(t.h, 10 * NS_PER_MS);
	char max[DURATION_TEXT_LEN], oldest[DURATION_TEXT_LEN];

	if ((t.share < 0.2 || late == 0 || t.own_s < late * 0.01) && t.stuck == 0)
		return false;
	f->weight = t.own_s + t.stuck_s;
	if (late)
		say(f, "%llu of %llu clients kept the server waiting for their first packet (startup), at "
		       "most %s, %.0f%% of connection time.",
		    (unsigned long long)late, (unsigned long long)t.h->count,
		    duration_format(t.h->max_ns, max), 100 * t.share);
	if (t.stuck)
		say(f, "%llu say%s nothing now, the longest for %s.", (unsigned long long)t.stuck,
		    t.stuck == 1 ? "s" : "", duration_format(t.oldest_ns, oldest));
	say(f, "That is the client, its pool or the network, not the server.");
	advise_trace(e, f, "--by client --by application");
	return true;
}

bool find_tls(const struct evidence *e, struct finding *f)
{
	const struct hist *h = stats_hist(e->s, METRIC_WITHIN(WITHIN_TLS), STATS_ALL, NULL);
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	double share = share_of(e, METRIC_WITHIN(WITHIN_TLS));

	if (share < 0.25 || mean_ns(h) < 10 * NS_PER_MS)
		return false;
	f->weight = seconds(h->sum_ns);
	say(f, "TLS negotiation takes %s (p50; p99 %s), %.0f%% of connection time: the server's key, the "
	       "network's round trips, or clients slow in it.",
	    duration_format(hist_percentile(h, 50), p50), duration_format(hist_percentile(h, 99), p99),
	    100 * share);
	advise_psql(e, f, "'SHOW ssl_cert_file'", NULL);
	advise(f, "See: openssl x509 -noout -text -in THAT_FILE | grep Public-Key");
	advise(f, "An EC key signs in a fraction of a long RSA key's time; a pool does so once.");
	return true;
}

/* -- once the client has spoken -- */

static double auth_lookups_s(const struct evidence *e)
{
	size_t count;
	const struct lookup_row *rows = stats_lookups(e->s, &count);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].by != ASKER_LOG_HOSTNAME)
			sum += seconds(rows[i].dur.sum_ns);
	return sum;
}

bool find_auth(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_AUTH, auth_lookups_s(e));
	double directory_s = within_s(e, WITHIN_LDAP) + within_s(e, WITHIN_PAM);

	if (!weighs(&t, 0.4, 20 * NS_PER_MS))
		return false;
	say_time(f, "Authentication (auth)", &t);
	if (t.own_s > 0 && directory_s > 0.1 * t.own_s)
		say(f, "LDAP and PAM have %.0f%% of that.", 100 * directory_s / t.own_s);
	else
		say(f, "No directory is in it: passwords' own cost (SCRAM iterations), and round trips.");
	say_gave_up(e, f, PHASE_AUTH);
	if (directory_s > 0.1 * t.own_s)
		advise_psql(e, f, "'SELECT line_number, auth_method, options FROM pg_hba_file_rules'", NULL);
	else
		advise_psql(e, f,
			    "\"SELECT rolname, split_part(rolpassword, ':', 1)\n"
			    "      FROM pg_authid WHERE rolpassword LIKE 'SCRAM%'\"",
			    NULL);
	return true;
}

bool find_prepare(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_PREPARE, 0);

	if (!weighs(&t, 0.3, 10 * NS_PER_MS))
		return false;
	say_time(f, "Preparing the session (prepare)", &t);
	say(f, "It loads preload libraries and applies the role's and database's settings.");
	advise_psql(e, f, "'SHOW session_preload_libraries'", "'SHOW local_preload_libraries'");
	advise_psql(e, f, "'SELECT * FROM pg_db_role_setting'", NULL);
	return true;
}

bool find_login(const struct evidence *e, struct finding *f)
{
	struct phase_time t = phase_time(e, PHASE_LOGIN, 0);

	if (!weighs(&t, 0.2, 5 * NS_PER_MS))
		return false;
	say_time(f, "Login event triggers (login)", &t);
	advise_psql(e, f,
		    "\"SELECT evtname, evtfoid::regproc, evtenabled\n"
		    "      FROM pg_event_trigger WHERE evtevent = 'login'\"",
		    NULL);
	return true;
}
