/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdict's frame: runs the table of findings and orders what they found. */
#include "model/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/verdict_private.h"

#define ADVICE_COLUMNS 76

static const struct {
	const char *title;
	bool (*find)(const struct evidence *e, struct finding *f);
} findings[] = {
#define FINDING_ROW(title, function) { title, function },
	FINDINGS(FINDING_ROW)
#undef FINDING_ROW
};

/* -- what findings are made of -- */

double seconds(uint64_t ns)
{
	return ns / (double)NS_PER_S;
}

uint64_t mean_ns(const struct hist *h)
{
	return h->count ? h->sum_ns / h->count : 0;
}

uint64_t hist_above(const struct hist *h, uint64_t from_ns)
{
	return hist_count_between(h, hist_border(from_ns), UINT64_MAX);
}

uint64_t hist_above_percentile(const struct hist *h, uint64_t from_ns, double p)
{
	double above = h->count ? hist_above(h, from_ns) / (double)h->count : 0;

	return hist_percentile(h, 100 - (100 - p) * above);
}

double share_of(const struct evidence *e, int metric)
{
	double share = stats_share(e->s, metric, STATS_ALL);

	return share > 0 ? share : 0;
}

void say(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->text), room = sizeof(f->text) - used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(f->text + used + (used > 0), room - (used > 0), format, args);
	va_end(args);
	if (len + (used > 0) >= (int)room)
		f->text[used] = '\0';
	else if (used > 0)
		f->text[used] = ' ';
}

void advise(struct finding *f, const char *format, ...)
{
	size_t used = strlen(f->advice), room = sizeof(f->advice) - used;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(f->advice + used + (used > 0), room - (used > 0), format, args);
	va_end(args);
	if (len + (used > 0) >= (int)room)
		f->advice[used] = '\0';
	else if (used > 0)
		f->advice[used] = '\n';
}

static void append(char *buf, size_t len, const char *text)
{
	size_t used = strlen(buf);

	snprintf(buf + used, len - used, "%s", text);
}

/* -h DIRECTORY, when that needs no quoting, and -p PORT, when it is not the usual one. */
static void psql_where(const struct session *session, char *buf, size_t len)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@";
	const char *dir = session->socket_directory;

	buf[0] = '\0';
	if (*dir && dir[strspn(dir, plain)] == '\0' && strlen(dir) < 48)
		snprintf(buf, len, " -h %s", dir);
	if (session->port && session->port != 5432)
		snprintf(buf + strlen(buf), len - strlen(buf), " -p %d", session->port);
}

void advise_psql(const struct evidence *e, struct finding *f, const char *a, const char *b)
{
	const char *const commands[] = { a, b, NULL };
	char text[480], where[80];
	size_t line;

	psql_where(stats_session(e->s), where, sizeof(where));
	snprintf(text, sizeof(text), "Now: sudo -u postgres psql%s", where);
	line = strlen(text);
	for (int i = 0; commands[i]; i++) {
		if (line + 6 + strlen(commands[i]) > ADVICE_COLUMNS) {
			append(text, sizeof(text), " \\\n   ");
			line = 3;
		}
		append(text, sizeof(text), " -c ");
		append(text, sizeof(text), commands[i]);
		line += 4 + strlen(commands[i]);
	}
	advise(f, "%s", text);
}

void advise_trace(const struct evidence *e, struct finding *f, const char *arguments)
{
	advise(f, "Which: sudo pgdnstrace -p %d %s", stats_session(e->s)->postmaster, arguments);
}

void advise_lookup(const struct evidence *e, struct finding *f, const char *address)
{
	const struct session *session = stats_session(e->s);

	if (session->container[0])
		advise(f, "See: sudo nsenter -t %d -m -n getent hosts %s", session->postmaster, address);
	else
		advise(f, "See: time getent hosts %s", address);
}

void say_gave_up(const struct evidence *e, struct finding *f, enum phase p)
{
	const struct hist *after = stats_gave_up_after(e->s);
	uint64_t count = stats_ended_in(e->s, OUTCOME_GAVE_UP, p);
	char half[DURATION_TEXT_LEN];

	if (count == 0)
		return;
	if (after->count == 0)
		say(f, "%llu clients gave up.", (unsigned long long)count);
	else
		say(f, "%llu client%s gave up, half of them by %s.", (unsigned long long)count,
		    count == 1 ? "" : "s", duration_format(hist_percentile(after, 50), half));
}

/* -- the verdict -- */

static double ages_s(struct stats *s)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(s, &count);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += seconds(list[i].age_ns);
	return sum;
}

static struct evidence gather(struct stats *s)
{
	const struct hist *wait = stats_hist(s, METRIC_WAIT, STATS_ALL, NULL);
	const struct hist *total = stats_hist(s, METRIC_TOTAL, STATS_ALL, NULL);
	struct evidence e = { .s = s };

	e.total_s = seconds(total->sum_ns);
	e.felt_s = seconds(wait->sum_ns > total->sum_ns ? wait->sum_ns : total->sum_ns) + ages_s(s);
	e.ended = total->count > wait->count ? total->count : wait->count;
	return e;
}

/* Keeps the heaviest ones, in order; of two that weigh the same the table's first. */
static void keep(struct verdict *v, const struct finding *f)
{
	unsigned int at = v->count;

	while (at > 0 && v->findings[at - 1].weight < f->weight)
		at--;
	if (at == VERDICT_MAX)
		return;
	if (v->count < VERDICT_MAX)
		v->count++;
	memmove(&v->findings[at + 1], &v->findings[at], (v->count - 1 - at) * sizeof(*f));
	v->findings[at] = *f;
}

static void nothing_wrong(const struct evidence *e, struct finding *f)
{
	const struct hist *h = stats_hist(e->s, METRIC_WAIT, STATS_ALL, NULL);
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	int most = PHASE_FORK;

	if (h->count == 0)
		h = stats_hist(e->s, METRIC_TOTAL, STATS_ALL, NULL);
	if (h->count == 0) {
		snprintf(f->title, sizeof(f->title), "TOO EARLY");
		say(f, "%llu connections are in setup, none has ended yet.",
		    (unsigned long long)stats_in_setup(e->s));
		return;
	}
	for (int p = PHASE_FORK; p < PHASE_COUNT; p++)
		if (share_of(e, METRIC_PHASE(p)) > share_of(e, METRIC_PHASE(most)))
			most = p;
	snprintf(f->title, sizeof(f->title), "NOTHING WRONG");
	say(f, "%llu connection%s took %s (p50), %s (p99), most of it in %s (%.0f%%).",
	    (unsigned long long)h->count, h->count == 1 ? "" : "s",
	    duration_format(hist_percentile(h, 50), p50),
	    duration_format(hist_percentile(h, 99), p99), phase_name(most),
	    100 * share_of(e, METRIC_PHASE(most)));
}

static const char *advice_for(const struct verdict *v, const char *title)
{
	for (unsigned int i = 0; i < v->count; i++)
		if (!strcmp(v->findings[i].title, title))
			return v->findings[i].advice;
	return "";
}

/*
 * A trace without its short connections would make every figure look worse than it was: there the
 * words count that were written when all were known. Advice carries no figure.
 */
static void take_recorded(const struct end *end, struct verdict *v)
{
	struct verdict now = *v;

	v->count = 0;
	for (unsigned int i = 0; i < end->verdict_count && i < VERDICT_MAX; i++) {
		struct finding *f = &v->findings[v->count];
		size_t title_len = strcspn(end->verdict[i], ":");

		if (title_len >= sizeof(f->title) || strncmp(end->verdict[i] + title_len, ": ", 2))
			continue;
		*f = (struct finding){ .weight = VERDICT_MAX - i };
		snprintf(f->title, sizeof(f->title), "%.*s", (int)title_len, end->verdict[i]);
		snprintf(f->text, sizeof(f->text), "%.*s", (int)sizeof(f->text) - 1,
			 end->verdict[i] + title_len + 2);
		snprintf(f->advice, sizeof(f->advice), "%s", advice_for(&now, f->title));
		v->count++;
	}
	if (v->count == 0)
		*v = now;
}

void verdict_build(struct stats *s, struct verdict *v)
{
	struct evidence e = gather(s);

	*v = (struct verdict){ 0 };
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
		struct finding f = { 0 };

		snprintf(f.title, sizeof(f.title), "%s", findings[i].title);
		if (findings[i].find(&e, &f))
			keep(v, &f);
	}
	if (v->count == 0)
		nothing_wrong(&e, &v->findings[v->count++]);
	if (stats_end(s) && filter_text_drops_short(stats_session(s)->filter))
		take_recorded(stats_end(s), v);
}

const char *verdict_line(const struct finding *f, char *buf, size_t len)
{
	snprintf(buf, len, "%s: %s", f->title, f->text);
	return buf;
}
