/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/prometheus.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"
#include "export/export.h"
#include "keep/file.h"

/* Bounds are powers of two in ns, where the histograms count exactly: 2^14 is 16 us, 2^36 is 69 s. */
#define BOUND_FIRST 14
#define BOUND_LAST  36

static void describe(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP pgdnstrace_%s %s\n# TYPE pgdnstrace_%s %s\n", name, help, name, type);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%llu.%09llu", (unsigned long long)(ns / NS_PER_S),
		(unsigned long long)(ns % NS_PER_S));
}

static void one_value(FILE *out, const char *name, const char *type, const char *help, uint64_t value)
{
	describe(out, name, type, help);
	fprintf(out, "pgdnstrace_%s %llu\n", name, (unsigned long long)value);
}

/* -- histograms -- */

/* le is "at most": the last ns below the bound. */
static void write_bucket(FILE *out, const char *name, const char *labels, uint64_t bound_ns,
			 uint64_t count)
{
	fprintf(out, "pgdnstrace_%s_bucket{%s%sle=\"", name, labels, labels[0] ? "," : "");
	put_seconds(out, bound_ns - 1);
	fprintf(out, "\"} %llu\n", (unsigned long long)count);
}

static void write_buckets(FILE *out, const char *name, const char *labels, const struct hist *h)
{
	uint64_t below = 0, from = 0;

	for (int bits = BOUND_FIRST; bits <= BOUND_LAST; bits++) {
		below += hist_count_between(h, from, 1ULL << bits);
		from = 1ULL << bits;
		write_bucket(out, name, labels, from, below);
	}
	fprintf(out, "pgdnstrace_%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels,
		labels[0] ? "," : "", (unsigned long long)h->count);
}

static void write_sum(FILE *out, const char *name, const char *labels, const struct hist *h)
{
	const char *open = labels[0] ? "{" : "", *close = labels[0] ? "}" : "";

	fprintf(out, "pgdnstrace_%s_sum%s%s%s ", name, open, labels, close);
	put_seconds(out, h->sum_ns);
	fprintf(out, "\npgdnstrace_%s_count%s%s%s %llu\n", name, open, labels, close,
		(unsigned long long)h->count);
}

/* A metric that no connection had has no line: it may be missing, not zero. */
static void write_hist(FILE *out, const char *name, const char *labels, struct stats *s, int metric)
{
	const struct hist *h = stats_hist(s, metric, STATS_ALL, NULL);

	if (!h->count)
		return;
	write_buckets(out, name, labels, h);
	write_sum(out, name, labels, h);
}

static void write_labelled(FILE *out, const char *name, const char *label, struct stats *s,
			   int first, int count)
{
	char labels[64];

	for (int m = first; m < first + count; m++) {
		snprintf(labels, sizeof(labels), "%s=\"%s\"", label, metric_name(m));
		write_hist(out, name, labels, s, m);
	}
}

static void write_durations(FILE *out, struct stats *s)
{
	describe(out, "wait_seconds", "histogram", "What clients waited: accept queue and setup.");
	write_hist(out, "wait_seconds", "", s, METRIC_WAIT);
	describe(out, "setup_seconds", "histogram", "From accept to ready, or to the end.");
	write_hist(out, "setup_seconds", "", s, METRIC_TOTAL);
	describe(out, "dns_seconds", "histogram",
		 "Name lookups of a connection, those that made one.");
	write_hist(out, "dns_seconds", "", s, METRIC_DNS);
	describe(out, "phase_seconds", "histogram", "Phases of connection setup.");
	write_labelled(out, "phase_seconds", "phase", s, METRIC_PHASE(0), PHASE_COUNT);
	describe(out, "within_seconds", "histogram", "Parts of phases, not added to them.");
	write_labelled(out, "within_seconds", "part", s, METRIC_WITHIN(0), WITHIN_COUNT);
}

/* -- counters -- */

static void write_outcomes(FILE *out, const struct stats *s)
{
	describe(out, "connections_total", "counter", "Connections that ended their setup.");
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		fprintf(out, "pgdnstrace_connections_total{outcome=\"%s\"} %llu\n", outcome_name(o),
			(unsigned long long)stats_outcome(s, o));
	one_value(out, "lost_total", "counter", "Connections that could not be told.", stats_lost(s));
	one_value(out, "filtered_total", "counter", "Connections that --only left out.",
		  stats_filtered(s));
}

static void write_failures(FILE *out, struct stats *s)
{
	size_t count;
	const struct failure_row *rows = stats_failures(s, &count);
	char state[2 * sizeof(rows->sqlstate) + 4];

	describe(out, "failures_total", "counter", "Connections that did not become ready, by SQLSTATE.");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "pgdnstrace_failures_total{outcome=\"%s\",sqlstate=\"%s\"} %llu\n",
			outcome_name(rows[i].outcome),
			safe_prometheus(rows[i].sqlstate, state, sizeof(state)),
			(unsigned long long)rows[i].count);
}

static void write_lookups(FILE *out, const struct stats *s)
{
	size_t count;
	const struct lookup_row *rows = stats_lookups(s, &count);
	char labels[160], code[24];

	describe(out, "lookup_seconds", "summary", "Name lookups by who asked and what came back.");
	for (size_t i = 0; i < count; i++) {
		if (rows[i].result == RESULT_PENDING)
			continue;
		snprintf(labels, sizeof(labels), "by=\"%s\",kind=\"%s\",result=\"%s\",code=\"%s\"",
			 asker_name(rows[i].by), direction_name(rows[i].kind),
			 result_name(rows[i].result),
			 rows[i].result == RESULT_FAILED ? eai_name(rows[i].code, code) : "");
		write_sum(out, "lookup_seconds", labels, &rows[i].dur);
	}
}

/* -- gauges -- */

/* Nothing about those under way before tracing began: they have a counter of their own. */
static void write_in_setup(FILE *out, const struct stats *s)
{
	uint64_t by_phase[PHASE_COUNT] = { 0 }, oldest = 0;
	size_t count;
	const struct conn *list = stats_in_setup_list(s, &count);

	for (size_t i = 0; i < count; i++) {
		if (list[i].phase >= PHASE_COUNT)
			continue;
		by_phase[list[i].phase]++;
		oldest = list[i].age_ns > oldest ? list[i].age_ns : oldest;
	}
	describe(out, "in_setup", "gauge", "Connections in setup now, by phase.");
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		fprintf(out, "pgdnstrace_in_setup{phase=\"%s\"} %llu\n", phase_name(p),
			(unsigned long long)by_phase[p]);
	if (!stats_in_setup(s))
		return;
	describe(out, "in_setup_oldest_seconds", "gauge", "Age of the oldest connection in setup.");
	fprintf(out, "pgdnstrace_in_setup_oldest_seconds ");
	put_seconds(out, oldest);
	fputs("\n", out);
}

static void write_tick(FILE *out, const struct tick *t)
{
	one_value(out, "before_start", "gauge",
		  "Connections already in setup when tracing began and still there.",
		  t->before_start);
	if (!t->has_accept_queue)
		return;
	one_value(out, "accept_queue", "gauge", "Connections waiting to be accepted.", t->accept_queue);
	one_value(out, "accept_queue_limit", "gauge", "What the accept queue holds.",
		  t->accept_queue_limit);
	one_value(out, "listen_drops_total", "counter",
		  "What the listening socket dropped since tracing began.", t->listen_drops);
}

/* At most DNS_SERVERS of them: what the kernel sent to, not what a client chose. */
static void write_nameservers(FILE *out, const struct dns_report *dns)
{
	static const struct {
		const char *name, *help;
		size_t at; /* of the count in struct dns_server */
	} counters[] = {
		{ "dns_queries_total", "Questions by nameserver.", offsetof(struct dns_server, queries) },
		{ "dns_answers_total", "Answers by nameserver.", offsetof(struct dns_server, answers) },
		{ "dns_unanswered_total", "Questions that a nameserver left unanswered.",
		  offsetof(struct dns_server, unanswered) },
	};
	char address[ADDR_TEXT_LEN];

	for (size_t c = 0; dns && c < sizeof(counters) / sizeof(counters[0]); c++) {
		describe(out, counters[c].name, "counter", counters[c].help);
		for (unsigned int i = 0; i < dns->count; i++) {
			const struct dns_server *s = &dns->servers[i];
			uint64_t count;

			memcpy(&count, (const char *)s + counters[c].at, sizeof(count));
			fprintf(out, "pgdnstrace_%s{nameserver=\"%s\"} %llu\n", counters[c].name,
				addr_format(&s->address, address), (unsigned long long)count);
		}
	}
}

static void put_label(FILE *out, const char *name, const char *value, const char *end)
{
	char buf[2 * TEXT_LEN + 4];

	fprintf(out, "%s=\"%s\"%s", name, safe_prometheus(value, buf, sizeof(buf)), end);
}

static void write_info(FILE *out, const struct stats *s)
{
	const struct session *session = stats_session(s);
	const struct settings *settings = stats_settings(s);

	describe(out, "info", "gauge", "The tracer and the server it traces.");
	fputs("pgdnstrace_info{", out);
	put_label(out, "version", PGDNSTRACE_VERSION, ",");
	put_label(out, "server_version", session->server_version, ",");
	put_label(out, "cluster_name", session->cluster_name, ",");
	fprintf(out, "port=\"%d\"} 1\n", session->port);
	if (settings->has_log_hostname)
		one_value(out, "log_hostname", "gauge", "The server's log_hostname.",
			  settings->log_hostname);
	describe(out, "start_time_seconds", "gauge", "When tracing began, seconds since 1970.");
	fputs("pgdnstrace_start_time_seconds ", out);
	put_seconds(out, stats_first_ns(s));
	fputs("\n", out);
}

int prometheus_render(FILE *out, struct stats *s)
{
	write_info(out, s);
	write_outcomes(out, s);
	write_failures(out, s);
	write_durations(out, s);
	write_lookups(out, s);
	write_in_setup(out, s);
	write_tick(out, stats_tick(s));
	write_nameservers(out, stats_dns(s));
	return export_status(out);
}

char *prometheus_text(struct stats *s, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	int rc;

	if (!out)
		return NULL;
	rc = prometheus_render(out, s);
	if (!fclose(out) && !rc)
		return text;
	free(text);
	return NULL;
}

int prometheus_write(const char *path, struct stats *s)
{
	struct file_atomic file;
	int rc = file_atomic_open(&file, path, 0644);

	if (rc < 0)
		return rc;
	rc = prometheus_render(file.out, s);
	if (rc < 0)
		file_atomic_abort(&file);
	else
		rc = file_atomic_commit(&file);
	return rc;
}
