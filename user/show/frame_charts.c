/* SPDX-License-Identifier: BSD-2-Clause */
/* The big histogram of the selected phase, and the strip of the last minutes. */
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "show/axis.h"
#include "show/frame_private.h"
#include "show/humps.h"
#include "show/name.h"

#define LABEL_COLUMNS 7
#define CHART_COLUMNS 512

/* -- histogram -- */

/* "57% 3.1ms" above its hump: what a median hides. The slowest has its place first. */
static void draw_humps(const struct area *a, const struct hist *h)
{
	struct hump humps[HUMPS_MAX];
	char middle[DURATION_TEXT_LEN], share[8], text[32];
	int room = a->width;

	for (int i = humps_find(h, humps) - 1; i >= 0; i--) {
		int len = snprintf(text, sizeof(text), "%s %s",
				   show_share((double)humps[i].count / h->count, share),
				   duration_format(humps[i].middle_ns, middle));
		int x = axis_column(humps[i].middle_ns, a->width) - len / 2;

		x = x < 0 ? 0 : x;
		x = x + len > room ? room - len : x;
		if (x < 0)
			return;
		area_put(a, x, 0, STYLE_TITLE, text);
		room = x - 1;
	}
}

static void draw_column(const struct area *a, int x, int height, uint64_t count, uint64_t most,
			enum style style)
{
	int eighths = (count * height * 8 + most / 2) / most;

	if (eighths == 0 && count > 0)
		eighths = 1;
	for (int y = 0; y < height; y++) {
		int level = eighths - 8 * (height - 1 - y);

		if (level > 0)
			area_char(a, x, y, style, canvas_bar_up(a->canvas, level));
	}
}

static void draw_bars(const struct area *a, const struct hist *h)
{
	uint64_t counts[CHART_COLUMNS], most = 0;
	int columns = a->width < CHART_COLUMNS ? a->width : CHART_COLUMNS;

	axis_count(h, columns, counts);
	for (int i = 0; i < columns; i++)
		most = counts[i] > most ? counts[i] : most;
	for (int i = 0; i < columns && most > 0; i++)
		draw_column(a, i, a->height, counts[i], most, axis_style(axis_from_ns(i, columns)));
}

/* Every decade on a column of its own, where there is room. */
static int chart_columns(int width)
{
	return width > 4 * AXIS_DECADES ? width - width % AXIS_DECADES : width;
}

void frame_chart(const struct area *a, const struct frame_input *in)
{
	struct hist scratch;
	const struct hist *h = stats_hist(in->shown, in->desk->metric, in->desk->minutes, &scratch);
	struct area plot = area_part(a, 1, 1, chart_columns(a->width - 2), a->height - 2), bars;
	char more[16];

	area_title(a, metric_name(in->desk->metric), frame_count(h->count, more));
	if (plot.height < 2 || plot.width < AXIS_DECADES)
		return;
	axis_labels(a, 1, a->height - 1, plot.width);
	if (h->count == 0) {
		area_put(&plot, 0, 0, STYLE_DIM, "nothing measured yet");
		return;
	}
	draw_humps(&plot, h);
	bars = area_part(&plot, 0, 1, plot.width, plot.height - 1);
	draw_bars(&bars, h);
}

/* -- over time -- */

static uint64_t row_from_ns(int row)
{
	return row == 0 ? 0 : 1ULL << (12 + 2 * (row - 1));
}

struct strip {
	unsigned int columns;
	uint32_t counts[STRIP_COLUMNS][STRIP_ROWS];
	int top, bottom; /* rows on view */
	uint32_t most;
};

static int highest_used(const struct strip *s)
{
	for (int row = STRIP_ROWS - 1; row >= 0; row--)
		for (unsigned int i = 0; i < s->columns; i++)
			if (s->counts[i][row] > 0)
				return row;
	return -1;
}

/* What does not fit at the bottom counts in the lowest row on view. */
static void fold(struct strip *s)
{
	for (unsigned int i = 0; i < s->columns; i++) {
		for (int row = 0; row < s->bottom; row++)
			s->counts[i][s->bottom] += s->counts[i][row];
		for (int row = s->bottom; row <= s->top; row++)
			if (s->counts[i][row] > s->most)
				s->most = s->counts[i][row];
	}
}

static void take_strip(struct strip *s, const struct frame_input *in, int columns, int rows)
{
	s->columns = stats_strip(in->shown, in->desk->metric, columns, s->counts);
	s->top = highest_used(s);
	s->top = s->top < rows - 1 ? rows - 1 : s->top;
	s->top = s->top > STRIP_ROWS - 1 ? STRIP_ROWS - 1 : s->top;
	s->bottom = s->top - rows + 1 > 0 ? s->top - rows + 1 : 0;
	s->most = 0;
	fold(s);
}

/* A shade for each power of four, so that one slow connection among thousands is seen. */
static int shade_of(uint32_t count, uint32_t most)
{
	int level = 4;

	if (count == 0)
		return 0;
	while (level > 1 && count < most) {
		most /= 4;
		level--;
	}
	return level;
}

static void draw_strip_row(const struct area *a, const struct strip *s, int row, int y)
{
	char label[DURATION_TEXT_LEN], above[DURATION_TEXT_LEN];
	int x = a->width - s->columns;

	if (row > s->bottom)
		duration_format(row_from_ns(row), label);
	else
		snprintf(label, sizeof(label), "<%.8s",
			 duration_format(row_from_ns(row + 1), above));
	area_put_right(a, LABEL_COLUMNS, y, STYLE_DIM, label);
	for (unsigned int i = 0; i < s->columns; i++)
		area_char(a, x + i, y, axis_style(row_from_ns(row)),
			  canvas_shade(a->canvas, shade_of(s->counts[i][row], s->most)));
}

static void draw_time_labels(const struct area *a, const struct strip *s)
{
	int per_minute = 60 / STRIP_SLOT_S;
	char label[16];

	area_put_right(a, a->width, a->height - 1, STYLE_DIM, "now");
	for (int m = 1; a->width - m * per_minute > LABEL_COLUMNS + 3; m++) {
		if (m * per_minute > (int)s->columns + per_minute / 2)
			break;
		snprintf(label, sizeof(label), "-%dm", m);
		area_put_right(a, a->width - m * per_minute + 1, a->height - 1, STYLE_DIM, label);
	}
}

void frame_time(const struct area *a, const struct frame_input *in)
{
	struct strip s;
	int columns = a->width - LABEL_COLUMNS - 1, rows = a->height - 2;
	char more[64];

	snprintf(more, sizeof(more), "%s, %d s a column", metric_name(in->desk->metric),
		 STRIP_SLOT_S);
	area_title(a, panel_name(PANEL_TIME), more);
	if (columns < 1 || rows < 1)
		return;
	take_strip(&s, in, columns, rows < STRIP_ROWS ? rows : STRIP_ROWS);
	for (int row = s.top; row >= s.bottom; row--)
		draw_strip_row(a, &s, row, 1 + s.top - row);
	draw_time_labels(a, &s);
}
