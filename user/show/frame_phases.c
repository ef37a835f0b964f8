/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of phases: a row each with figures, share as a bar, and the distribution in one line.
 */
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "show/axis.h"
#include "show/frame_private.h"
#include "show/name.h"

/* Columns from the left, each ending at its figure; 0: no room for it. */
struct columns {
	int count, rate, p50, p90, p99, max, share, bar, bar_width, hist, hist_width;
};

static int take(int *x, int width)
{
	*x += width;
	return *x;
}

static struct columns columns_for(int width)
{
	struct columns c = { 0 };
	int x = 9;

	c.count = take(&x, 7);
	if (width >= 96)
		c.rate = take(&x, 8);
	c.p50 = take(&x, 7);
	if (width >= 66)
		c.p90 = take(&x, 7);
	c.p99 = take(&x, 7);
	if (width >= 50)
		c.max = take(&x, 7);
	if (width >= 74) {
		c.share = take(&x, 6);
		c.bar = x + 1;
		c.bar_width = width >= 150 ? 20 : width >= 96 ? 10 : 5;
		x = c.bar + c.bar_width;
	}
	c.hist = x + 1;
	c.hist_width = width - c.hist;
	if (c.hist_width > 3 * AXIS_DECADES) /* each decade on columns of its own */
		c.hist_width -= c.hist_width % AXIS_DECADES;
	return c;
}

static void draw_heading(const struct area *a, const struct frame_input *in,
			 const struct columns *c)
{
	char span[DURATION_TEXT_LEN], title[40];

	if (in->desk->minutes)
		snprintf(title, sizeof(title), "last %um", in->desk->minutes);
	else
		snprintf(title, sizeof(title), "in %s",
			 show_span(frame_span_s(in) * NS_PER_S, span));
	area_put(a, 1, 0, STYLE_TITLE, title);
	area_put_right(a, c->count, 0, STYLE_DIM, "count");
	area_put_right(a, c->p50, 0, STYLE_DIM, "p50");
	area_put_right(a, c->p99, 0, STYLE_DIM, "p99");
	if (c->rate)
		area_put_right(a, c->rate, 0, STYLE_DIM, "/s");
	if (c->p90)
		area_put_right(a, c->p90, 0, STYLE_DIM, "p90");
	if (c->max)
		area_put_right(a, c->max, 0, STYLE_DIM, "max");
	if (c->share)
		area_put_right(a, c->share, 0, STYLE_DIM, "share");
	axis_labels(a, c->hist, 0, c->hist_width);
}

static void draw_duration(const struct area *a, int x, int y, const char *text, uint64_t ns)
{
	enum style style = text[0] == '-' ? STYLE_DIM : axis_style(ns);

	area_put_right(a, x, y, style == STYLE_BAR ? STYLE_NORMAL : style, text);
}

static void draw_percentile(const struct area *a, const struct frame_input *in, int x, int y,
			    const struct hist *h, double p)
{
	char text[DURATION_TEXT_LEN];

	if (x)
		draw_duration(a, x, y, frame_percentile(in, h, p, text), hist_percentile(h, p));
}

static void draw_bar(const struct area *a, int x, int y, int columns, double share,
		     enum style style)
{
	int eighths = share * columns * 8 + 0.5;

	if (eighths == 0 && share > 0)
		eighths = 1;
	for (int i = 0; i < columns; i++)
		area_char(a, x + i, y, style, canvas_bar_right(a->canvas, eighths - 8 * i));
}

/* wait and queue lie outside total, and total has no share of itself. */
static void draw_share(const struct area *a, const struct frame_input *in, const struct columns *c,
		       int y, int metric)
{
	double share = stats_share(in->shown, metric, in->desk->minutes);
	char text[8];

	if (!c->share || share < 0 || in->no_percentiles || metric == METRIC_WAIT ||
	    metric == METRIC_TOTAL || metric == METRIC_PHASE(PHASE_QUEUE))
		return;
	area_put_right(a, c->share, y, STYLE_NORMAL, show_share(share, text));
	draw_bar(a, c->bar, y, c->bar_width, share, share >= 0.5 ? STYLE_WARN : STYLE_BAR);
}

static void draw_line(const struct area *a, const struct columns *c, int y, const struct hist *h)
{
	uint64_t counts[512], most = 0;
	int columns = c->hist_width < 512 ? c->hist_width : 512;

	if (columns < 4)
		return;
	axis_count(h, columns, counts);
	for (int i = 0; i < columns; i++)
		most = counts[i] > most ? counts[i] : most;
	for (int i = 0; i < columns; i++) {
		if (counts[i] == 0)
			continue;
		area_char(a, c->hist + i, y, axis_style(axis_from_ns(i, columns)),
			  canvas_bar_up(a->canvas, 1 + (counts[i] * 7 + most / 2) / most));
	}
}

static void draw_row(const struct area *a, const struct frame_input *in, const struct columns *c,
		     int y, int metric)
{
	struct hist scratch;
	const struct hist *h = stats_hist(in->shown, metric, in->desk->minutes, &scratch);
	bool selected = metric == in->desk->metric;
	char text[16];

	area_put(a, 0, y, STYLE_KEY, selected ? (a->canvas->utf8 ? "\u25b8" : ">") : " ");
	area_put(a, 1, y, selected ? STYLE_SELECTED : STYLE_NORMAL, metric_name(metric));
	area_put_right(a, c->count, y, STYLE_NORMAL, frame_count(h->count, text));
	if (c->rate)
		area_put_right(a, c->rate, y, STYLE_DIM,
			       frame_rate(h->count / frame_span_s(in), text));
	draw_percentile(a, in, c->p50, y, h, 50);
	draw_percentile(a, in, c->p90, y, h, 90);
	draw_percentile(a, in, c->p99, y, h, 99);
	if (c->max)
		draw_duration(a, c->max, y, h->count ? duration_format(h->max_ns, text) : "-",
			      h->max_ns);
	draw_share(a, in, c, y, metric);
	draw_line(a, c, y, h);
}

/* The selected row stays on view where not all have room. */
static int first_row(const int *metrics, int count, int rows, int selected)
{
	int at = 0;

	while (at < count && metrics[at] != selected)
		at++;
	return at < count && at >= rows ? at - rows + 1 : 0;
}

void frame_phases(const struct area *a, const struct frame_input *in)
{
	struct columns c = columns_for(a->width);
	int metrics[METRIC_COUNT];
	int count = desk_metrics(in->shown, metrics), rows = a->height - 1;
	int first = first_row(metrics, count, rows, in->desk->metric);

	draw_heading(a, in, &c);
	for (int i = 0; i < rows && first + i < count; i++)
		draw_row(a, in, &c, 1 + i, metrics[first + i]);
}
