/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"
#include "model/verdict.h"
#include "show/bins.h"
#include "show/name.h"
#include "show/text_private.h"

#define SETUP_SHOWN 8
#define BAR_COLUMNS 40

/* -- pieces -- */

void text_wrap(const struct text *t, const char *words, int used, int indent)
{
	const char *gap = "";
	char word[512];

	if (used == 0)
		used = fprintf(t->out, "%*s", indent, "");
	while (*words) {
		int len = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s", len, words);
		if (*gap && used + 1 + safe_columns(word) > TEXT_COLUMNS) {
			used = fprintf(t->out, "\n%*s", indent, "") - 1;
			gap = "";
		}
		used += fprintf(t->out, "%s", gap);
		fputs(word, t->out);
		used += safe_columns(word);
		gap = " ";
		words += len + strspn(words + len, " ");
	}
	fputc('\n', t->out);
}

void text_name(const struct text *t, const char *name, int columns)
{
	char safe[512];

	show_name(name, t->utf8, safe, sizeof(safe));
	show_cut(safe, columns);
	fprintf(t->out, "%s%*s", safe, columns - safe_columns(safe), "");
}

const char *text_percentile(const struct text *t, const struct hist *h, double p, char *buf)
{
	if (h->count == 0 || t->o->no_percentiles)
		return strcpy(buf, "-");
	return duration_format(hist_percentile(h, p), buf);
}

const char *text_max(const struct hist *h, char *buf)
{
	return h->count ? duration_format(h->max_ns, buf) : strcpy(buf, "-");
}

/* -- heading, verdict, counts -- */

static void text_heading(const struct text *t)
{
	const struct session *session = stats_session(t->s);
	char host[128], cluster[128], left[512], right[96], clock[CLOCK_TEXT_LEN];
	char span[DURATION_TEXT_LEN];
	int room;

	snprintf(right, sizeof(right), "  %s, traced %s", clock_local(stats_now_ns(t->s), clock),
		 show_span(stats_now_ns(t->s) - stats_first_ns(t->s), span));
	snprintf(left, sizeof(left), "%s%s%s  PostgreSQL %s port %d pid %d",
		 show_name(session->host, t->utf8, host, 32), session->cluster_name[0] ? " " : "",
		 show_name(session->cluster_name, t->utf8, cluster, 24), session->server_version,
		 session->port, session->postmaster);
	room = TEXT_COLUMNS - safe_columns(right);
	show_cut(left, room);
	fprintf(t->out, "%s%*s%s\n", left, room - safe_columns(left), "", right);
}

/* Findings may carry names from the network: each line is made safe on its own. */
static void text_finding(const struct text *t, struct finding *f)
{
	char safe[2 * sizeof(f->text)];
	int used = fprintf(t->out, "%s: ", f->title);

	for (char *line = strtok(f->text, "\n"); line; line = strtok(NULL, "\n")) {
		text_wrap(t, show_name(line, t->utf8, safe, sizeof(safe)), used, 2);
		used = 0;
	}
	for (char *line = strtok(f->advice, "\n"); line; line = strtok(NULL, "\n"))
		fprintf(t->out, "  %s\n", show_name(line, t->utf8, safe, sizeof(safe)));
}

static void text_verdict(const struct text *t)
{
	struct verdict v;

	verdict_build(t->s, &v);
	for (unsigned int i = 0; i < v.count; i++) {
		if (i == 0)
			fputc('\n', t->out);
		text_finding(t, &v.findings[i]);
	}
}

static void text_outcomes(const struct text *t)
{
	char line[512], words[24];
	int used = snprintf(line, sizeof(line),
			    "%llu connection%s: ", (unsigned long long)stats_connections(t->s),
			    stats_connections(t->s) == 1 ? "" : "s");

	for (int o = 0; o < OUTCOME_COUNT; o++) {
		if (o != OUTCOME_READY && stats_outcome(t->s, o) == 0)
			continue;
		used += snprintf(line + used, sizeof(line) - used, "%llu %s, ",
				 (unsigned long long)stats_outcome(t->s, o),
				 show_words(outcome_name(o), words));
	}
	snprintf(line + used, sizeof(line) - used, "%llu in setup",
		 (unsigned long long)stats_in_setup(t->s));
	fputc('\n', t->out);
	text_wrap(t, line, 0, 0);
}

static void text_lost(const struct text *t)
{
	static const char *const reasons[] = {
#define TEXT_NAME(name, text) text,
		LOSSES(TEXT_NAME)
#undef TEXT_NAME
	};
	const struct tick *tick = stats_tick(t->s);
	const char *sep = " (";

	fprintf(t->out, "lost %llu", (unsigned long long)stats_lost(t->s));
	for (int i = 0; i < LOSS_COUNT; i++) {
		if (tick->lost[i] == 0)
			continue;
		fprintf(t->out, "%s%s %llu", sep, reasons[i], (unsigned long long)tick->lost[i]);
		sep = ", ";
	}
	fputs(sep[0] == ',' ? ")" : "", t->out);
}

static void text_gauges(const struct text *t)
{
	const struct tick *tick = stats_tick(t->s);
	const struct settings *settings = stats_settings(t->s);

	text_lost(t);
	fprintf(t->out, "   before start %llu", (unsigned long long)tick->before_start);
	if (tick->has_accept_queue)
		fprintf(t->out, "   accept queue %u/%u, dropped %llu", tick->accept_queue,
			tick->accept_queue_limit, (unsigned long long)tick->listen_drops);
	if (settings->has_log_hostname)
		fprintf(t->out, "   log_hostname %s", settings->log_hostname ? "on" : "off");
	fputc('\n', t->out);
	if (stats_filtered(t->s) > 0)
		fprintf(t->out, "filtered %llu\n", (unsigned long long)stats_filtered(t->s));
}

/* -- phases -- */

static bool has_share(int metric)
{
	return metric != METRIC_WAIT && metric != METRIC_TOTAL &&
	       metric != METRIC_PHASE(PHASE_QUEUE);
}

static void text_phase(const struct text *t, int metric)
{
	const struct hist *h = stats_hist(t->s, metric, STATS_ALL, NULL);
	char p50[DURATION_TEXT_LEN], p90[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	char max[DURATION_TEXT_LEN], share[8] = "";

	if (h->count == 0)
		return;
	if (has_share(metric) && !t->o->no_percentiles)
		show_share(stats_share(t->s, metric, STATS_ALL), share);
	fprintf(t->out, "%-9s%7llu%8s%8s%8s%8s", metric_name(metric), (unsigned long long)h->count,
		text_percentile(t, h, 50, p50), text_percentile(t, h, 90, p90),
		text_percentile(t, h, 99, p99), text_max(h, max));
	fprintf(t->out, share[0] ? "%7s\n" : "\n", share);
}

static void text_missing_phases(const struct text *t, unsigned int missing)
{
	const char *sep = "";

	if (missing == 0)
		return;
	fputs("not shown by this server: ", t->out);
	for (int p = 0; p < PHASE_COUNT; p++) {
		if (!(missing & 1U << p))
			continue;
		fprintf(t->out, "%s%s", sep, phase_name(p));
		sep = ", ";
	}
	fputs("; that time is in the phase before\n", t->out);
}

static void text_missing(const struct text *t)
{
	const struct session *session = stats_session(t->s);

	text_missing_phases(t, session->missing_phases);
	for (int w = 0; w < WITHIN_COUNT; w++)
		if (session->missing_within & 1U << w)
			fprintf(t->out, "not measured here: %s\n", within_name(w));
	if (session->missing_forward)
		fprintf(t->out, "not told here: %s lookups\n", direction_name(DIRECTION_FORWARD));
}

static void text_phases(const struct text *t)
{
	if (stats_hist(t->s, METRIC_WAIT, STATS_ALL, NULL)->count +
		    stats_hist(t->s, METRIC_TOTAL, STATS_ALL, NULL)->count ==
	    0)
		return;
	fprintf(t->out, "\n%-9s%7s%8s%8s%8s%8s%7s\n", "phase", "count", "p50", "p90", "p99", "max",
		"share");
	text_phase(t, METRIC_WAIT);
	for (int p = 0; p < PHASE_COUNT; p++)
		text_phase(t, METRIC_PHASE(p));
	text_phase(t, METRIC_TOTAL);
	text_phase(t, METRIC_DNS);
	for (int w = 0; w < WITHIN_COUNT; w++)
		text_phase(t, METRIC_WITHIN(w));
	text_missing(t);
	if (t->o->no_percentiles)
		fputs("no percentiles: fast connections are not in this trace\n", t->out);
}

/* -- distributions -- */

static void text_bar(const struct text *t, uint64_t count, uint64_t most)
{
	int columns = (count * BAR_COLUMNS + most / 2) / most;

	for (int i = 0; i < (columns > 0 ? columns : 1); i++)
		fputc('#', t->out);
	fputc('\n', t->out);
}

static void text_distribution(const struct text *t, int metric)
{
	const char *name = metric_name(metric);
	uint64_t counts[BINS], most = 0;
	char label[BIN_LABEL_LEN];
	int digits;

	bins_count(stats_hist(t->s, metric, STATS_ALL, NULL), counts);
	for (int i = 0; i < BINS; i++)
		most = counts[i] > most ? counts[i] : most;
	digits = snprintf(NULL, 0, "%llu", (unsigned long long)most);
	if (most > 0)
		fputc('\n', t->out);
	for (int i = 0; i < BINS; i++) {
		if (counts[i] == 0)
			continue;
		fprintf(t->out, "%-9s%9s %*llu |", name, bin_label(i, label),
			digits < 4 ? 4 : digits, (unsigned long long)counts[i]);
		text_bar(t, counts[i], most);
		name = "";
	}
}

/* -- in setup -- */

struct phase_count {
	enum phase phase;
	uint64_t count;
};

static int most_first(const void *left, const void *right)
{
	const struct phase_count *a = left, *b = right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->phase < b->phase ? -1 : 1;
}

static int setup_phases(const struct text *t, char *buf, size_t len)
{
	struct phase_count phases[PHASE_COUNT + 1];
	int used = 0;

	for (int p = 0; p <= PHASE_UNKNOWN; p++)
		phases[p] = (struct phase_count){ p, stats_in_setup_phase(t->s, p) };
	qsort(phases, PHASE_COUNT + 1, sizeof(phases[0]), most_first);
	for (int i = 0; i <= PHASE_COUNT && phases[i].count > 0; i++)
		used += snprintf(buf + used, len - used, "%s%s %llu", i ? ", " : "",
				 phase_name(phases[i].phase), (unsigned long long)phases[i].count);
	return used;
}

static const char *client_text(const struct conn *c, char *buf)
{
	return c->client.family == ADDR_NONE ? strcpy(buf, "-") : addr_format(&c->client, buf);
}

static void text_setup_row(const struct text *t, const struct conn *c)
{
	char client[ADDR_TEXT_LEN], phase[DURATION_TEXT_LEN], age[DURATION_TEXT_LEN];

	fprintf(t->out, "%9d %-26s %-9s%8s of %s", c->pid, client_text(c, client),
		phase_name(c->phase),
		c->phase == PHASE_UNKNOWN ? "-" : duration_format(c->in_phase_ns, phase),
		duration_format(c->age_ns, age));
	for (unsigned int i = 0; i < c->lookups_told && strlen(client) <= 28; i++)
		if (c->lookups[i].result == RESULT_PENDING)
			fprintf(t->out, ", %s", asker_name(c->lookups[i].by));
	fputc('\n', t->out);
}

static void text_setup(const struct text *t)
{
	char line[512], age[DURATION_TEXT_LEN], client[ADDR_TEXT_LEN];
	size_t count;
	const struct conn *list = stats_in_setup_list(t->s, &count);
	int used;

	if (count == 0)
		return;
	used = setup_phases(t, line, sizeof(line));
	snprintf(line + used, sizeof(line) - used, "; oldest %s: %d %s",
		 duration_format(list[0].age_ns, age), list[0].pid, client_text(&list[0], client));
	fputs("\nin setup   ", t->out);
	text_wrap(t, line, 11, 11);
	for (size_t i = 0; i < count && i < SETUP_SHOWN; i++)
		text_setup_row(t, &list[i]);
	if (count > SETUP_SHOWN)
		fprintf(t->out, "%9s %zu more\n", "", count - SETUP_SHOWN);
}

/* -- the whole -- */

static void text_summary_line(const struct text *t)
{
	const struct end *end = stats_end(t->s);

	fputs("summary", t->out);
	if (end && end->reason[0]) {
		char words[24];

		fprintf(t->out, ": %s", show_words(end->reason, words));
	}
	fputc('\n', t->out);
}

int text_view(FILE *out, struct stats *s, const struct view_options *o, bool final)
{
	struct text t = { out, s, o, show_utf8() };

	if (final)
		text_summary_line(&t);
	text_heading(&t);
	text_verdict(&t);
	text_outcomes(&t);
	text_gauges(&t);
	text_phases(&t);
	if (!o->no_percentiles) {
		text_distribution(&t, METRIC_WAIT);
		text_distribution(&t, METRIC_PHASE(PHASE_HOSTNAME));
	}
	text_lookups(&t);
	text_reverse(&t);
	text_nameservers(&t);
	text_failures(&t);
	for (unsigned int i = 0; i < o->by_count; i++)
		text_by(&t, o->by[i]);
	text_setup(&t);
	fputc('\n', out);
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* -- one line for a connection -- */

static void event_time(int64_t at_ns, char *buf, size_t len)
{
	char clock[CLOCK_TEXT_LEN];

	clock_local(at_ns, clock);
	snprintf(buf, len, "%.8s.%03d", clock, (int)(at_ns / (int64_t)NS_PER_MS % 1000));
}

static void event_names(FILE *out, const struct conn *c, bool utf8)
{
	char user[4 * PG_NAME_LEN], database[4 * PG_NAME_LEN];

	if (c->has_user)
		fprintf(out, " %s@%s", show_name(c->user, utf8, user, sizeof(user)),
			show_name(c->database, utf8, database, sizeof(database)));
}

int text_event(FILE *out, const struct conn *c)
{
	enum phase slowest = conn_slowest_phase(c);
	char at[32], felt[DURATION_TEXT_LEN] = "-", part[DURATION_TEXT_LEN] = "-";
	char client[ADDR_TEXT_LEN], outcome[24];
	uint64_t ns;

	event_time(c->at_ns, at, sizeof(at));
	if (conn_felt(c, &ns))
		duration_format(ns, felt);
	if (slowest != PHASE_UNKNOWN)
		duration_format(c->phases_ns[slowest], part);
	fprintf(out, "%s %7s %-7s %-8s %7s %s", at, felt,
		show_words(outcome_name(c->outcome), outcome), phase_name(slowest), part,
		client_text(c, client));
	event_names(out, c, show_utf8());
	if (c->outcome != OUTCOME_READY && c->sqlstate[0])
		fprintf(out, " %s", c->sqlstate);
	fputc('\n', out);
	return ferror(out) ? -EIO : 0;
}
