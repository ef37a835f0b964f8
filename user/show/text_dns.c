/* SPDX-License-Identifier: BSD-2-Clause */
/* The text view's account of the resolver, and of the nameservers whose packets are watched. */
#include <stdarg.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/timeouts.h"
#include "show/name.h"
#include "show/text_private.h"

#define LINE_LEN 1024

/* A line that grows; what does not fit is left out. */
struct words {
	char text[LINE_LEN];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(w->text + w->used, LINE_LEN - w->used, format, args);
	va_end(args);
	if (len > 0)
		w->used += (size_t)len < LINE_LEN - w->used ? (size_t)len : LINE_LEN - 1 - w->used;
}

/* From the server's files: as hostile as any name. */
static void say_list(struct words *w, const struct text *t, const char *first, size_t stride,
		     unsigned int count)
{
	char safe[4 * TEXT_LEN];

	for (unsigned int i = 0; i < count; i++)
		say(w, " %s", show_name(first + i * stride, t->utf8, safe, sizeof(safe)));
}

#define SAY_LIST(w, t, list, count) say_list(w, t, (list)[0], sizeof((list)[0]), count)

static void say_options(struct words *w, const struct resolver *r)
{
	say(w, "; timeout %ds, attempts %d%s%s%s%s", r->timeout_s, r->attempts,
	    r->rotate ? ", rotate" : "", r->single_request ? ", single-request" : "",
	    r->nscd ? "; nscd answers first" : "", r->nss_resolve ? "; systemd-resolved asks" : "");
}

static void say_longest(struct words *w, const struct resolver *r)
{
	uint64_t reverse_ns = timeouts_longest_ns(r, DIRECTION_REVERSE);
	uint64_t forward_ns = timeouts_longest_ns(r, DIRECTION_FORWARD);

	if (!reverse_ns)
		return;
	say(w, ". Without any answer a lookup takes %llus",
	    (unsigned long long)(reverse_ns / NS_PER_S));
	if (forward_ns != reverse_ns)
		say(w, ", one of a name %llus", (unsigned long long)(forward_ns / NS_PER_S));
}

static uint64_t slowest_ns(const struct text *t)
{
	uint64_t v4_ns = stats_family(t->s, ADDR_V4)->dur.max_ns;
	uint64_t v6_ns = stats_family(t->s, ADDR_V6)->dur.max_ns;

	return v4_ns > v6_ns ? v4_ns : v6_ns;
}

static void say_slowest(struct words *w, const struct text *t, const struct resolver *r)
{
	char why[TIMEOUTS_TEXT_LEN], safe[2 * TIMEOUTS_TEXT_LEN], took[DURATION_TEXT_LEN];
	uint64_t ns = slowest_ns(t);

	if (*timeouts_explain(r, DIRECTION_REVERSE, ns, why, sizeof(why)))
		say(w, "; %s is %s", duration_format(ns, took),
		    show_name(why, t->utf8, safe, sizeof(safe)));
}

/* Only beside lookups: without them nobody waits for it. */
void text_resolver(const struct text *t)
{
	const struct resolver *r = &stats_session(t->s)->resolver;
	struct words w = { .used = 0 };

	if (!r->has)
		return;
	say(&w, "hosts");
	SAY_LIST(&w, t, r->hosts, r->host_count);
	say(&w, "; nameserver%s", r->nameserver_count == 1 ? "" : "s");
	SAY_LIST(&w, t, r->nameservers, r->nameserver_count);
	if (r->search_count) {
		say(&w, "; search");
		SAY_LIST(&w, t, r->search, r->search_count);
	}
	say_options(&w, r);
	say_longest(&w, r);
	say_slowest(&w, t, r);
	fputs("resolver   ", t->out);
	text_wrap(t, w.text, 11, 11);
}

/* -- nameservers -- */

static void text_nameserver_details(const struct text *t, const struct dns_server *s)
{
	char rcode[DNS_RCODE_TEXT_LEN], border[DURATION_TEXT_LEN];
	struct words w = { .used = 0 };

	for (unsigned int i = 0; i < DNS_RCODES; i++)
		if (s->rcodes[i])
			say(&w, "%s%s %llu", w.used ? ", " : "", dns_rcode_name(i, rcode),
			    (unsigned long long)s->rcodes[i]);
	say(&w, "; round trip");
	for (unsigned int i = 0; i < DNS_RTT_BINS; i++)
		if (s->rtt_bins[i])
			say(&w, " <%s %llu", duration_format(NS_PER_US << i, border),
			    (unsigned long long)s->rtt_bins[i]);
	if (s->answers)
		text_wrap(t, w.text, 0, 2);
}

static void text_nameserver(const struct text *t, const struct dns_server *s)
{
	char address[ADDR_TEXT_LEN], p50[DURATION_TEXT_LEN] = "-", p99[DURATION_TEXT_LEN] = "-";

	if (s->rtt_count) {
		duration_format(s->rtt_p50_ns, p50);
		duration_format(s->rtt_p99_ns, p99);
	}
	text_name(t, addr_format(&s->address, address), 26);
	fprintf(t->out, "%9llu%9llu%11llu%8llu%8s%8s\n", (unsigned long long)s->queries,
		(unsigned long long)s->answers, (unsigned long long)s->unanswered,
		(unsigned long long)s->retries, p50, p99);
	text_nameserver_details(t, s);
}

void text_nameservers(const struct text *t)
{
	const struct dns_report *r = stats_dns(t->s);

	if (!r)
		return;
	fprintf(t->out, "\n%-26s%9s%9s%11s%8s%8s%8s\n", "nameserver", "queries", "answers",
		"unanswered", "retries", "p50", "p99");
	for (unsigned int i = 0; i < r->count; i++)
		text_nameserver(t, &r->servers[i]);
	fprintf(t->out, "%llu DNS packets seen, lost %llu", (unsigned long long)r->packets,
		(unsigned long long)r->lost);
	if (r->others)
		fprintf(t->out, ", %llu questions to other servers", (unsigned long long)r->others);
	fputc('\n', t->out);
}
