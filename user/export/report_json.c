/* SPDX-License-Identifier: BSD-2-Clause */
/* The report's data as JSON: numbers and names; words and looks are report.js's. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/report.h"
#include "export/report_json.h"
#include "model/verdict.h"

#define JSON_LEN (8 << 20) /* all the bounded lists with the most hostile names take half */

/* -- what it is about -- */

static void put_settings(struct json_out *j, const struct settings *s)
{
	if (s->has_log_hostname)
		json_put_bool(j, "log_hostname", s->log_hostname);
	if (s->has_log_line_prefix)
		json_put_text(j, "log_line_prefix", s->log_line_prefix);
}

static void put_resolver(struct json_out *j, const struct resolver *r)
{
	if (!r->has)
		return;
	json_put_open(j, "resolver", '{');
	json_put_open(j, "hosts", '[');
	for (unsigned int i = 0; i < r->host_count; i++)
		json_put_text(j, NULL, r->hosts[i]);
	json_put_close(j, ']');
	json_put_open(j, "nameservers", '[');
	for (unsigned int i = 0; i < r->nameserver_count; i++)
		json_put_text(j, NULL, r->nameservers[i]);
	json_put_close(j, ']');
	json_put_int(j, "timeout_s", r->timeout_s);
	json_put_int(j, "attempts", r->attempts);
	json_put_text(j, "libc", r->libc);
	json_put_close(j, '}');
}

static void put_missing(struct json_out *j, unsigned int missing)
{
	json_put_open(j, "missing_phases", '[');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		if (missing & 1u << p)
			json_put_text(j, NULL, phase_name(p));
	json_put_close(j, ']');
}

/* A filter names what it lets through, which may be what is to be hidden. */
static const char *shown_filter(const struct page_json *r, const struct session *s)
{
	return s->filter[0] && hide_any(&r->d->hide) ? "(hidden)" : s->filter;
}

static void put_session(struct page_json *r, const struct report_session *rs)
{
	const struct session *s = &rs->session;
	struct json_out *j = &r->j;

	json_put_open(j, NULL, '{');
	report_put_ms(j, "at", rs->at_ns);
	json_put_text(j, "host", s->host);
	json_put_text(j, "cluster_name", s->cluster_name);
	json_put_text(j, "server_version", s->server_version);
	json_put_int(j, "port", s->port);
	json_put_int(j, "postmaster", s->postmaster);
	json_put_text(j, "data_directory", s->data_directory);
	json_put_text(j, "container", s->container);
	json_put_text(j, "time_zone", s->time_zone);
	json_put_text(j, "kernel", s->kernel);
	json_put_text(j, "tool", s->tool);
	json_put_text(j, "filter", shown_filter(r, s));
	put_missing(j, s->missing_phases);
	put_settings(j, &s->settings);
	put_resolver(j, &s->resolver);
	json_put_close(j, '}');
}

static bool is_filtered(const struct report_data *d)
{
	for (unsigned int i = 0; i < d->session_count; i++)
		if (strstr(d->sessions[i].session.filter, "longer"))
			return true;
	return false;
}

static void put_happenings(struct page_json *r)
{
	struct report_data *d = r->d;
	struct json_out *j = &r->j;

	json_put_open(j, "changes", '[');
	for (unsigned int i = 0; i < d->change_count; i++) {
		json_put_open(j, NULL, '{');
		report_put_ms(j, "at", d->changes[i].at_ns);
		put_settings(j, &d->changes[i].settings);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
	json_put_open(j, "triggers", '[');
	for (unsigned int i = 0; i < d->trigger_count; i++) {
		json_put_open(j, NULL, '{');
		report_put_ms(j, "at", d->triggers[i].at_ns);
		json_put_text(j, "condition", d->triggers[i].trigger.condition);
		json_put_real(j, "value", d->triggers[i].trigger.value);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

static void put_about(struct page_json *r)
{
	struct json_out *j = &r->j;

	json_put_text(j, "tool", "pgdnstrace " PGDNSTRACE_VERSION);
	json_put_text(j, "file", r->o->file);
	report_put_ms(j, "made", clock_real_ns());
	report_put_ms(j, "from", r->d->from_ns);
	report_put_ms(j, "to", r->d->to_ns);
	json_put_bool(j, "complete", r->o->complete);
	json_put_bool(j, "no_percentiles", is_filtered(r->d));
	json_put_open(j, "hidden", '[');
	for (int k = 0; k < KEY_COUNT; k++)
		if (r->d->hide.keys[k])
			json_put_text(j, NULL, key_word(k));
	json_put_close(j, ']');
	json_put_open(j, "sessions", '[');
	for (unsigned int i = 0; i < r->d->session_count; i++)
		put_session(r, &r->d->sessions[i]);
	json_put_close(j, ']');
	put_happenings(r);
}

/* -- figures -- */

static void put_counts(struct page_json *r)
{
	struct stats *s = r->d->stats;
	const struct tick *t = stats_tick(s);
	struct json_out *j = &r->j;
	int i = 0;

	json_put_open(j, "counts", '{');
	json_put_uint(j, "connections", stats_connections(s));
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		json_put_uint(j, outcome_name(o), stats_outcome(s, o));
	json_put_uint(j, "in_setup", stats_in_setup(s));
	json_put_uint(j, "lost", stats_lost(s));
	json_put_uint(j, "filtered", stats_filtered(s));
	json_put_uint(j, "before_start", t->before_start);
	if (t->has_accept_queue)
		json_put_uint(j, "listen_drops", t->listen_drops);
	json_put_close(j, '}');
	json_put_open(j, "waited", '[');
#define PUT_WAITED(ms)                                                                             \
	json_put_open(j, NULL, '{');                                                               \
	json_put_int(j, "ms", ms);                                                                 \
	json_put_uint(j, "count", r->d->waited[i++]);                                              \
	json_put_close(j, '}');
	REPORT_WAITS(PUT_WAITED)
	json_put_close(j, ']');
}

/* Counts per power of two; the first covers all below 1 us, so that nothing is left out. */
static void put_bands(struct json_out *j, const struct hist *h)
{
	uint64_t from = 0;

	json_put_open(j, "bands", '[');
	for (int bits = HIST_MIN_BITS; bits <= HIST_MAX_BITS; bits++) {
		uint64_t count = hist_count_between(h, from, 1ULL << bits);

		from = 1ULL << bits;
		json_put_uint(j, NULL, count);
	}
	json_put_close(j, ']');
}

static void put_metric(struct page_json *r, int metric)
{
	const struct hist *h = stats_hist(r->d->stats, metric, STATS_ALL, NULL);
	double share = stats_share(r->d->stats, metric, STATS_ALL);
	struct json_out *j = &r->j;

	if (!h->count)
		return;
	json_put_open(j, NULL, '{');
	json_put_text(j, "name", metric_name(metric));
	json_put_bool(j, "phase", metric >= METRIC_PHASE(0) && metric < METRIC_WITHIN(0));
	report_put_percentiles(j, h);
	if (metric != METRIC_WAIT && metric != METRIC_TOTAL && metric != METRIC_PHASE(PHASE_QUEUE) &&
	    share >= 0)
		json_put_real(j, "share", share);
	put_bands(j, h);
	json_put_close(j, '}');
}

static void put_metrics(struct page_json *r)
{
	json_put_open(&r->j, "metrics", '[');
	for (int m = 0; m < METRIC_COUNT; m++)
		put_metric(r, m);
	json_put_close(&r->j, ']');
	json_put_int(&r->j, "band_bits", HIST_MIN_BITS);
}

/* -- pictures -- */

static void put_dots(struct page_json *r)
{
	struct json_out *j = &r->j;

	json_put_open(j, "dots", '{');
	json_put_uint(j, "of", r->d->dots_seen);
	json_put_open(j, "list", '[');
	for (unsigned int i = 0; i < r->d->dot_count; i++) {
		const struct dot *dot = &r->d->dots[i];

		json_put_open(j, NULL, '[');
		report_put_ms(j, NULL, dot->at_ns);
		report_put_us(j, NULL, dot->wait_ns);
		json_put_int(j, NULL, dot->outcome);
		json_put_close(j, ']');
	}
	json_put_close(j, ']');
	json_put_close(j, '}');
}

static void put_slot(struct json_out *j, const struct slot *s)
{
	json_put_open(j, NULL, '{');
	json_put_open(j, "outcomes", '[');
	for (int o = 0; o < OUTCOME_COUNT; o++)
		json_put_uint(j, NULL, s->outcomes[o]);
	json_put_close(j, ']');
	json_put_open(j, "phases", '[');
	for (int p = 0; p < PHASE_COUNT; p++)
		report_put_us(j, NULL, s->phases_ns[p]);
	json_put_close(j, ']');
	if (s->has_tick)
		json_put_uint(j, "in_setup", s->in_setup);
	if (s->has_queue)
		json_put_uint(j, "accept_queue", s->accept_queue);
	json_put_close(j, '}');
}

static void put_timeline(struct page_json *r)
{
	const struct timeline *t = &r->d->timeline;
	struct json_out *j = &r->j;

	json_put_open(j, "timeline", '{');
	report_put_ms(j, "base", t->base_ns);
	report_put_ms(j, "width", t->width_ns);
	json_put_open(j, "slots", '[');
	for (unsigned int i = 0; i < t->used; i++)
		put_slot(j, &t->slots[i]);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

static void put_names(struct json_out *j)
{
	json_put_open(j, "outcome_names", '[');
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		json_put_text(j, NULL, outcome_name(o));
	json_put_close(j, ']');
	json_put_open(j, "phase_names", '[');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		json_put_text(j, NULL, phase_name(p));
	json_put_close(j, ']');
}

/* -- what it means -- */

static void put_findings(struct page_json *r)
{
	struct json_out *j = &r->j;
	struct verdict v;

	verdict_build(r->d->stats, &v);
	json_put_open(j, "findings", '[');
	for (unsigned int i = 0; i < v.count; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "title", v.findings[i].title);
		report_put_sentence(r, "text", v.findings[i].text);
		report_put_sentence(r, "advice", v.findings[i].advice);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

/* Shell words: what cannot stand in a command as it is gives no command. */
static bool is_harmless(const char *name)
{
	return name[0] && name[0] != '-' &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

/* The lookup that took longest among the connections shown; NULL: there was none. */
static const struct lookup *longest_lookup(const struct report_data *d)
{
	const struct lookup *longest = NULL;

	for (unsigned int i = 0; i < d->slowest_count; i++)
		for (unsigned int l = 0; l < d->slowest[i].lookups_told; l++)
			if (!longest || d->slowest[i].lookups[l].dur_ns > longest->dur_ns)
				longest = &d->slowest[i].lookups[l];
	return longest;
}

static const char *first_nameserver(const struct resolver *r)
{
	struct addr a;

	return r->nameserver_count && !addr_parse(r->nameservers[0], &a) ? r->nameservers[0] : NULL;
}

/* The command that shows it again. With clients hidden the reader puts the address in. */
static void put_again(struct page_json *r)
{
	const struct lookup *l = longest_lookup(r->d);
	const char *nameserver = first_nameserver(r->resolver), *what;
	char address[ADDR_TEXT_LEN], command[DNS_NAME_LEN + 96];

	if (!l || (l->kind == DIRECTION_FORWARD && !is_harmless(l->name)))
		return;
	what = l->kind == DIRECTION_FORWARD ? l->name : addr_format(&l->address, address);
	if (r->d->hide.keys[KEY_CLIENT])
		what = l->kind == DIRECTION_FORWARD ? "NAME" : "CLIENT_ADDRESS";
	snprintf(command, sizeof(command), "dig %s%s%s%s", l->kind == DIRECTION_FORWARD ? "" : "-x ",
		 what, nameserver ? " @" : "", nameserver ? nameserver : "");
	json_put_text(&r->j, "again", command);
}

char *report_page_json(struct report_data *d, const struct report_options *o)
{
	struct page_json r = { .d = d, .o = o };
	char *text = malloc(JSON_LEN);

	if (!text)
		return NULL;
	report_data_sort(d);
	r.resolver = &stats_session(d->stats)->resolver;
	json_put_start(&r.j, text, JSON_LEN);
	json_put_open(&r.j, NULL, '{');
	put_about(&r);
	put_names(&r.j);
	put_counts(&r);
	put_findings(&r);
	put_again(&r);
	put_metrics(&r);
	put_dots(&r);
	put_timeline(&r);
	report_put_connections(&r);
	report_put_tables(&r);
	json_put_close(&r.j, '}');
	json_put_raw(&r.j, "", 1);
	if (!r.j.full)
		return text;
	free(text);
	return NULL;
}
