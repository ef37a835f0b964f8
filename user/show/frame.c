/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/frame.h"

#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"
#include "show/frame_private.h"

/* -- figures -- */

const char *frame_count(uint64_t count, char *buf)
{
	if (count < 1000000)
		snprintf(buf, 16, "%llu", (unsigned long long)count);
	else if (count < 1000000000)
		snprintf(buf, 16, "%.1fM", count / 1e6);
	else
		snprintf(buf, 16, "%.1fG", count / 1e9);
	return buf;
}

const char *frame_rate(double per_s, char *buf)
{
	snprintf(buf, 16, per_s < 100 ? "%.1f" : "%.0f", per_s);
	return buf;
}

const char *frame_percentile(const struct frame_input *in, const struct hist *h, double p,
			     char *buf)
{
	if (h->count == 0 || in->no_percentiles)
		return strcpy(buf, "-");
	return duration_format(hist_percentile(h, p), buf);
}

uint64_t frame_ticking(const struct frame_input *in, uint64_t ns)
{
	int64_t since = in->now_ns - stats_sweep_ns(in->shown);

	return since > 0 && !stats_end(in->shown) ? ns + since : ns;
}

double frame_span_s(const struct frame_input *in)
{
	double span = (stats_now_ns(in->shown) - stats_first_ns(in->shown)) / (double)NS_PER_S;
	double window = in->desk->minutes * 60.0;

	if (window > 0 && span > window)
		span = window;
	return span < 1 ? 1 : span;
}

/* -- flow -- */

void flow_put(struct flow *f, enum style style, const char *text)
{
	int columns = safe_columns(text);

	if (f->x > 0 && f->x + 2 + columns > f->area.width) {
		f->x = 0;
		f->y++;
	}
	f->x = area_put(&f->area, f->x ? f->x + 2 : 0, f->y, style, text);
}

/* -- layout -- */

bool frame_is_large(int width, int height)
{
	return width >= 80 && height >= 36;
}

static int header_rows(const struct canvas *c)
{
	return c->height >= 18 ? 3 : c->height >= 10 ? 2 : 1;
}

static int verdict_rows(const struct canvas *c)
{
	return c->height >= 50 ? 8 : c->height >= 36 ? 5 : c->height >= 18 ? 2 : 1;
}

/* One row of panels: the histogram, and what tab has chosen. */
static void draw_panels(const struct area *a, const struct frame_input *in)
{
	int half = a->width / 2;
	struct area left = area_part(a, 0, 0, half - 1, a->height);
	struct area right = area_part(a, half + 1, 0, a->width, a->height);

	if (a->width < 60) {
		frame_panel(a, in, in->desk->panel);
		return;
	}
	frame_chart(&left, in);
	frame_panel(&right, in, in->desk->panel);
}

static enum panel table_panel(const struct desk *d)
{
	if (d->panel == PANEL_SETUP || d->panel == PANEL_TIME)
		return PANEL_FIRST_KEY + KEY_CLIENT;
	return d->panel;
}

/* In setup, the table, and on wide screens the lookups (or the failures) beside it. */
static void draw_lists(const struct area *a, const struct frame_input *in)
{
	bool wide = a->width >= 150;
	int first = wide ? a->width / 4 : a->width / 2, second = (a->width - first) / 2;
	enum panel panel = table_panel(in->desk);
	struct area setup = area_part(a, 0, 0, first - 1, a->height);
	struct area table = area_part(a, first + 1, 0, wide ? second - 2 : a->width, a->height);
	struct area more = area_part(a, first + second + 1, 0, a->width, a->height);

	frame_panel(&setup, in, PANEL_SETUP);
	frame_panel(&table, in, panel);
	if (wide)
		frame_panel(&more, in, panel == PANEL_LOOKUPS ? PANEL_FAILURES : PANEL_LOOKUPS);
}

/* Two rows: histogram and strip; lists. */
static void draw_large(const struct area *a, const struct frame_input *in)
{
	int upper = a->height / 2, half = a->width / 2;
	struct area chart = area_part(a, 0, 0, half - 1, upper - 1);
	struct area time = area_part(a, half + 1, 0, a->width, upper - 1);
	struct area lists = area_part(a, 0, upper, a->width, a->height);

	frame_chart(&chart, in);
	frame_panel(&time, in, PANEL_TIME);
	draw_lists(&lists, in);
}

/* On small screens total, dns and tls are rows one scrolls to. */
static int phase_rows(const struct area *a, const struct frame_input *in)
{
	int metrics[METRIC_COUNT];
	int count = desk_metrics(in->shown, metrics), rows = 0;

	if (a->height >= 30)
		return 1 + count;
	while (rows < count && metrics[rows] != METRIC_TOTAL && metrics[rows] != METRIC_DNS &&
	       metrics[rows] < METRIC_WITHIN(0))
		rows++;
	return 1 + rows;
}

static void draw_body(const struct area *a, const struct frame_input *in)
{
	int rows = phase_rows(a, in), rest = a->height - rows, gap;
	struct area part;

	if (rest < 4)
		rows = a->height;
	part = area_part(a, 0, 0, a->width, rows);
	frame_phases(&part, in);
	if (rest < 4)
		return;
	gap = rest > 8;
	part = area_part(a, 0, rows + gap, a->width, rest - gap);
	if (frame_is_large(a->canvas->width, a->canvas->height))
		draw_large(&part, in);
	else
		draw_panels(&part, in);
}

void frame_draw(struct canvas *c, const struct frame_input *in)
{
	struct area whole = canvas_area(c);
	int y = header_rows(c), bottom = c->height - 1;
	struct area part = area_part(&whole, 0, 0, c->width, y);

	frame_header(&part, in);
	part = area_part(&whole, 0, bottom, c->width, 1);
	frame_keys(&part, in->desk);
	if (frame_has_status(in) && c->height > 4) {
		part = area_part(&whole, 0, --bottom, c->width, 1);
		frame_status(&part, in);
	}
	if (c->height > 3 && !in->desk->verdict && !in->desk->help) {
		part = area_part(&whole, 0, y, c->width, verdict_rows(c));
		frame_verdict(&part, in);
		y += verdict_rows(c);
	}
	part = area_part(&whole, 0, y, c->width, bottom - y);
	if (in->desk->verdict)
		frame_verdict(&part, in);
	else if (in->desk->help)
		frame_help(&part, in->desk);
	else
		draw_body(&part, in);
}
