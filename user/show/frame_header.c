/* SPDX-License-Identifier: BSD-2-Clause */
/* The top of the frame: the server, the counts, what hangs; and the verdict in words. */
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"
#include "model/verdict.h"
#include "show/axis.h"
#include "show/frame_private.h"
#include "show/name.h"

/* -- header: pieces that flow over its rows, the most important first -- */

static void flow_row(struct flow *f)
{
	f->y += f->x > 0;
	f->x = 0;
}

/* Text in the first row, where there is room for it. */
static void put_if_fits(struct flow *f, enum style style, const char *text)
{
	if (text[0] && f->x + 2 + safe_columns(text) <= f->area.width)
		flow_put(f, style, text);
}

static void draw_server(struct flow *f, const struct frame_input *in)
{
	const struct session *session = stats_session(in->whole);
	const struct settings *settings = stats_settings(in->whole);
	char text[128], clock[CLOCK_TEXT_LEN], span[DURATION_TEXT_LEN];
	int right;

	snprintf(text, sizeof(text), "%s  %s", clock_local(in->now_ns, clock),
		 show_span(in->now_ns - stats_first_ns(in->whole), span));
	right = f->area.width - safe_columns(text);
	area_put(&f->area, right, 0, STYLE_NORMAL, text);
	f->area.width = right - 2;
	snprintf(text, sizeof(text), "PostgreSQL %s", session->server_version);
	put_if_fits(f, STYLE_TITLE, text);
	snprintf(text, sizeof(text), "port %d", session->port);
	put_if_fits(f, STYLE_NORMAL, text);
	if (settings->has_log_hostname)
		put_if_fits(f, settings->log_hostname ? STYLE_WARN : STYLE_GOOD,
			    settings->log_hostname ? "log_hostname on" : "log_hostname off");
	snprintf(text, sizeof(text), "pid %d", session->postmaster);
	put_if_fits(f, STYLE_DIM, text);
	put_if_fits(f, STYLE_DIM, show_name(session->host, f->area.canvas->utf8, text, 32));
	put_if_fits(f, STYLE_DIM, show_name(session->cluster_name, f->area.canvas->utf8, text, 32));
	flow_row(f);
}

static enum style outcome_style(enum outcome o, uint64_t count)
{
	if (o == OUTCOME_READY)
		return STYLE_GOOD;
	if (o == OUTCOME_GAVE_UP || o == OUTCOME_KILLED)
		return count ? STYLE_BAD : STYLE_DIM;
	return o == OUTCOME_FAILED && count ? STYLE_WARN : STYLE_NORMAL;
}

/* Under a client the counts are those of the client, as the figures below them. */
static uint64_t outcome_count(const struct frame_input *in, enum outcome o)
{
	uint64_t count = 0;

	if (!in->desk->filter[0])
		return stats_outcome(in->shown, o);
	for (int p = 0; p <= PHASE_UNKNOWN; p++)
		count += stats_ended_in(in->shown, o, p);
	return count;
}

static uint64_t ended_count(const struct frame_input *in)
{
	uint64_t count = 0;

	for (int o = 0; o < OUTCOME_COUNT; o++)
		count += outcome_count(in, o);
	return count;
}

static void draw_outcomes(struct flow *f, const struct frame_input *in)
{
	char text[64], words[24], rate[16];
	int used = 0;

	if (f->area.width >= 60) {
		if (in->desk->filter[0])
			used = snprintf(text, sizeof(text), "%llu of ",
					(unsigned long long)ended_count(in));
		snprintf(text + used, sizeof(text) - used, "%llu connections",
			 (unsigned long long)stats_connections(in->shown));
		flow_put(f, STYLE_TITLE, text);
		snprintf(text, sizeof(text), "%s/s", frame_rate(stats_rate(in->shown, 10), rate));
		flow_put(f, STYLE_NORMAL, text);
	}
	for (int o = 0; o < OUTCOME_COUNT; o++) {
		uint64_t count = outcome_count(in, o);

		if (count == 0 && o != OUTCOME_READY && o != OUTCOME_GAVE_UP)
			continue;
		if (o == OUTCOME_READY && f->area.width < 60)
			continue;
		snprintf(text, sizeof(text), "%llu %s", (unsigned long long)count,
			 show_words(outcome_name(o), words));
		flow_put(f, outcome_style(o, count), text);
	}
	if (stats_tick(in->whole)->before_start > 0) {
		snprintf(text, sizeof(text), "%llu before start",
			 (unsigned long long)stats_tick(in->whole)->before_start);
		put_if_fits(f, STYLE_DIM, text);
	}
	flow_row(f);
}

static uint64_t in_setup_count(const struct frame_input *in)
{
	uint64_t count = stats_in_setup(in->shown);

	/* a trace tells who is in setup at its end only, but how many every 10 s */
	if (count == 0 && in->desk->replay && !stats_end(in->shown))
		count = stats_tick(in->whole)->in_setup;
	return count;
}

/* The oldest that is counted: those from before the start have no known phase. */
static const struct conn *oldest(const struct frame_input *in)
{
	size_t listed;
	const struct conn *list = stats_in_setup_list(in->shown, &listed);

	for (size_t i = 0; i < listed; i++)
		if (list[i].phase != PHASE_UNKNOWN)
			return &list[i];
	return NULL;
}

static void draw_in_setup(struct flow *f, const struct frame_input *in)
{
	char text[96], age[DURATION_TEXT_LEN];
	const struct conn *first = oldest(in);
	uint64_t age_ns;
	int used;

	used = snprintf(text, sizeof(text), "in setup %llu",
			(unsigned long long)in_setup_count(in));
	if (!first) {
		flow_put(f, STYLE_NORMAL, text);
		return;
	}
	age_ns = frame_ticking(in, first->age_ns);
	snprintf(text + used, sizeof(text) - used,
		 f->area.width < 60 ? ", %s %s" : ", oldest %s in %s", duration_format(age_ns, age),
		 phase_name(first->phase));
	flow_put(f, age_ns >= NS_PER_S ? axis_style(age_ns) : STYLE_NORMAL, text);
}

static void draw_gauges(struct flow *f, const struct frame_input *in)
{
	const struct tick *tick = stats_tick(in->whole);
	uint64_t lost = stats_lost(in->whole);
	char text[64];

	draw_in_setup(f, in);
	snprintf(text, sizeof(text), "lost %llu", (unsigned long long)lost);
	if (lost > 0 || f->area.width >= 60)
		flow_put(f, lost ? STYLE_BAD : STYLE_DIM, text);
	if (tick->has_accept_queue && f->area.width >= 60) {
		snprintf(text, sizeof(text), "accept queue %u/%u", tick->accept_queue,
			 tick->accept_queue_limit);
		flow_put(f,
			 tick->accept_queue * 2 > tick->accept_queue_limit ? STYLE_BAD : STYLE_DIM,
			 text);
		snprintf(text, sizeof(text), "dropped %llu",
			 (unsigned long long)tick->listen_drops);
		flow_put(f, tick->listen_drops ? STYLE_BAD : STYLE_DIM, text);
	}
}

void frame_header(const struct area *a, const struct frame_input *in)
{
	struct flow f = { .area = *a };

	draw_server(&f, in);
	f.area.width = a->width;
	if (a->height > 2)
		draw_outcomes(&f, in);
	draw_gauges(&f, in);
	if (a->height <= 2)
		draw_outcomes(&f, in);
}

/* -- verdict -- */

struct words {
	const struct area *area;
	int x, y;
};

/* Wraps at blanks; what lies below the area is not seen. */
static void words_put(struct words *w, enum style style, const char *text)
{
	char word[256];

	while (*text) {
		int len = strcspn(text, " ");

		snprintf(word, sizeof(word), "%.*s", len, text);
		if (w->x > 2 && w->x + 1 + safe_columns(word) > w->area->width) {
			w->x = 2;
			w->y++;
		}
		w->x = area_put(w->area, w->x > 2 ? w->x + 1 : w->x, w->y, style, word);
		text += len + strspn(text + len, " ");
	}
}

static void draw_advice(struct words *w, const struct finding *f, bool utf8)
{
	char lines[sizeof(f->advice)], safe[2 * sizeof(lines)];

	strcpy(lines, f->advice);
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
		area_put(w->area, 2, w->y++, STYLE_GOOD, show_name(line, utf8, safe, sizeof(safe)));
}

static bool is_healthy(const struct frame_input *in)
{
	return stats_outcome_recent(in->shown, OUTCOME_GAVE_UP, 1) == 0 &&
	       stats_lost(in->whole) == 0;
}

static void draw_finding(struct words *w, const struct finding *f, enum style style, bool utf8)
{
	char lines[sizeof(f->text)], safe[2 * sizeof(lines)], title[sizeof(f->title) + 1];

	strcpy(lines, f->text);
	snprintf(title, sizeof(title), "%s:", f->title);
	w->x = area_put(w->area, 0, w->y, style, title);
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
		words_put(w, STYLE_NORMAL, show_name(line, utf8, safe, sizeof(safe)));
	w->y++;
	draw_advice(w, f, utf8);
}

/* Not all of it is seen: the key that shows the rest. */
static void draw_more(const struct area *a)
{
	int x = area_put(a, a->width - 10, a->height - 1, STYLE_NORMAL, " ... ");

	x = area_put(a, x, a->height - 1, STYLE_KEY, "v");
	area_put(a, x, a->height - 1, STYLE_NORMAL, " all");
}

void frame_verdict(const struct area *a, const struct frame_input *in)
{
	struct words w = { .area = a };
	enum style style = is_healthy(in) ? STYLE_TITLE : STYLE_BAD;
	struct verdict v;

	verdict_build(in->shown, &v);
	for (unsigned int i = 0; i < v.count; i++)
		draw_finding(&w, &v.findings[i], style, a->canvas->utf8);
	if (w.y > a->height)
		draw_more(a);
}
