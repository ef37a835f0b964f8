/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about how connections end: given up, refused, closed without a word, or none at all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/sqlstate.h"
#include "model/verdict_private.h"

/* -- given up -- */

/* Those that waited for a name or in the queue are told with what they waited for. */
static bool is_told_elsewhere(enum phase p)
{
	return p == PHASE_HOSTNAME || p == PHASE_QUEUE;
}

/* "auth 12, startup 3"; returns how many. */
static uint64_t gave_up_phases(const struct evidence *e, char *buf, size_t len)
{
	uint64_t sum = 0;
	size_t used = 0;

	for (int p = 0; p <= PHASE_UNKNOWN; p++) {
		uint64_t count = stats_ended_in(e->s, OUTCOME_GAVE_UP, p);

		if (count == 0 || is_told_elsewhere(p) || used >= len)
			continue;
		used += snprintf(buf + used, len - used, "%s%s %llu", used ? ", " : "",
				 p == PHASE_UNKNOWN ? "unknown" : phase_name(p),
				 (unsigned long long)count);
		sum += count;
	}
	return sum;
}

/* People set connect timeouts in whole seconds. */
static bool is_whole_seconds(uint64_t ns)
{
	double s = seconds(ns);

	return s > 0.9 && fabs(s - round(s)) < 0.05;
}

bool find_gave_up(const struct evidence *e, struct finding *f)
{
	const struct hist *after = stats_gave_up_after(e->s);
	uint64_t half_ns = hist_percentile(after, 50);
	char phases[120] = "", half[DURATION_TEXT_LEN];
	uint64_t count = gave_up_phases(e, phases, sizeof(phases));

	if (count == 0)
		return false;
	f->weight = 2 * count * seconds(mean_ns(after));
	say(f, "%llu client%s left before the connection was ready (%s).", (unsigned long long)count,
	    count == 1 ? "" : "s", phases);
	if (after->count == 0)
		;
	else if (is_whole_seconds(half_ns))
		say(f, "Half of them by %s: a connect timeout, by its whole seconds.",
		    duration_format(half_ns, half));
	else if (half_ns < NS_PER_S && stats_ended_in(e->s, OUTCOME_GAVE_UP, PHASE_AUTH) * 2 > count)
		say(f, "Half of them by %s: they had no password at hand, as psql before it prompts.",
		    duration_format(half_ns, half));
	else
		say(f, "Half of them by %s.", duration_format(half_ns, half));
	advise_trace(e, f, "--by client --by user --only outcome=gave_up");
	return true;
}

/* -- refused -- */

/* What to look at first, by SQLSTATE. */
static const struct {
	const char *sqlstate, *psql, *hint;
} remedies[] = {
	{ "53300", "'SELECT count(*), state, usename FROM pg_stat_activity GROUP BY 2, 3'",
	  "Full: end idle sessions or put a pool before it, then raise max_connections." },
	{ "57P03", NULL, "The server starts, stops or recovers: its log says which." },
	{ "28000", NULL, "No line of pg_hba.conf lets them in: SELECT * FROM pg_hba_file_rules" },
	{ "28P01", NULL, "Wrong passwords; each costs a fork, and a lookup with log_hostname." },
	{ "3D000", "'SELECT datname FROM pg_database'", "They ask for a database that is not there." },
};

static void advise_failure(const struct evidence *e, struct finding *f, const char *sqlstate)
{
	for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
		if (strcmp(remedies[i].sqlstate, sqlstate) != 0)
			continue;
		if (remedies[i].psql)
			advise_psql(e, f, remedies[i].psql, NULL);
		advise(f, "%s", remedies[i].hint);
	}
	advise_trace(e, f, "--by client --by user --only outcome=failed");
}

static void list_failures(const struct failure_row *rows, size_t count, char *buf, size_t len)
{
	size_t used = 0, shown = 0;

	for (size_t i = 0; i < count && shown < 3 && used < len; i++) {
		const char *words = sqlstate_name(rows[i].sqlstate);

		used += snprintf(buf + used, len - used, "%s%s%s%s %llu", shown++ ? ", " : "",
				 rows[i].sqlstate[0] ? rows[i].sqlstate : outcome_name(rows[i].outcome),
				 *words ? " " : "", words, (unsigned long long)rows[i].count);
	}
}

bool find_failures(const struct evidence *e, struct finding *f)
{
	uint64_t failed = stats_outcome(e->s, OUTCOME_FAILED) + stats_outcome(e->s, OUTCOME_KILLED);
	const struct failure_row *rows;
	char list[160] = "";
	size_t count;

	if (failed == 0 || failed * 20 < stats_connections(e->s))
		return false;
	rows = stats_failures(e->s, &count);
	list_failures(rows, count, list, sizeof(list));
	f->weight = 0.5 * failed;
	say(f, "%llu of %llu connections failed%s%s.", (unsigned long long)failed,
	    (unsigned long long)stats_connections(e->s), *list ? ": " : "", list);
	advise_failure(e, f, count ? rows[0].sqlstate : "");
	return true;
}

/* -- closed without a word -- */

static const struct key_row *outcome_row(const struct evidence *e, enum outcome o)
{
	size_t count;
	const struct key_row *const *rows = stats_table(e->s, KEY_OUTCOME, &count);

	for (size_t i = 0; i < count; i++)
		if (!rows[i]->special && !strcmp(rows[i]->value, outcome_name(o)))
			return rows[i];
	return NULL;
}

bool find_probes(const struct evidence *e, struct finding *f)
{
	const struct key_row *row = outcome_row(e, OUTCOME_CLOSED);
	char half[DURATION_TEXT_LEN], dns[DURATION_TEXT_LEN];

	if (!row || row->count * 5 < stats_connections(e->s))
		return false;
	f->weight = seconds(row->dns_ns) + 0.01 * row->count;
	say(f, "%llu of %llu connections closed without sending a byte, half of them within %s: health "
	       "checks or scans.",
	    (unsigned long long)row->count, (unsigned long long)stats_connections(e->s),
	    duration_format(hist_percentile(&row->wait, 50), half));
	if (row->dns_ns)
		say(f, "Each costs a fork and a lookup (%s on average).",
		    duration_format(row->dns_ns / row->count, dns));
	else
		say(f, "Each costs a fork.");
	advise_trace(e, f, "--by client --only outcome=closed");
	advise(f, "A check by unix socket (pg_isready -h DIRECTORY) makes no lookup.");
	return true;
}

/* -- nothing to tell -- */

bool find_lost(const struct evidence *e, struct finding *f)
{
	uint64_t lost = stats_lost(e->s);

	if (lost == 0)
		return false;
	f->weight = 0.1 * lost;
	say(f, "%llu of %llu connections are counted but missing from every table.",
	    (unsigned long long)lost, (unsigned long long)stats_connections(e->s));
	advise_trace(e, f, "--ring 16M");
	return true;
}

bool find_silence(const struct evidence *e, struct finding *f)
{
	const struct tick *t = stats_tick(e->s);

	if (stats_connections(e->s) != 0)
		return false;
	say(f, "Nobody has connected since tracing began.");
	if (t->has_accept_queue)
		say(f, "Accept queue %u of %u.", t->accept_queue, t->accept_queue_limit);
	if (t->accept_queue > 0)
		say(f, "The postmaster takes none of them: it is stopped or stuck.");
	if (t->before_start > 0)
		say(f, "%llu were under way before and are not through yet.",
		    (unsigned long long)t->before_start);
	return true;
}
