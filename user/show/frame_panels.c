/* SPDX-License-Identifier: BSD-2-Clause */
/* Panels: connections in setup with ticking ages, tables by key, lookups, failures. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/sqlstate.h"
#include "show/axis.h"
#include "show/frame_private.h"
#include "show/name.h"

/* Rows of a panel that are on view: a title and a heading stand above them. */
struct rows {
	size_t first, count;
	int y;
};

static struct rows rows_on_view(const struct area *a, const struct frame_input *in, int y,
				size_t count)
{
	size_t room = a->height > y ? a->height - y : 0;
	size_t first = in->desk->scroll;

	if (count <= room)
		first = 0;
	else if (first > count - room)
		first = count - room;
	return (struct rows){ first, count - first < room ? count - first : room, y };
}

/* -- in setup -- */

static void draw_setup_row(const struct area *a, const struct frame_input *in, int y,
			   const struct conn *c)
{
	char client[ADDR_TEXT_LEN], age[DURATION_TEXT_LEN];
	uint64_t age_ns = frame_ticking(in, c->age_ns);
	enum style style = axis_style(age_ns);
	int client_columns = a->width - 8 - 9 - 8 - 1;

	style = style == STYLE_BAR ? STYLE_NORMAL : style;
	area_printf(a, 0, y, STYLE_DIM, "%7d", c->pid);
	area_name(a, 8, y, client_columns, STYLE_NORMAL,
		  c->client.family == ADDR_NONE ? "-" : addr_format(&c->client, client));
	area_put(a, 8 + client_columns + 1, y, style,
		 c->phase == PHASE_UNKNOWN ? "before" : phase_name(c->phase));
	area_put_right(a, a->width, y, style, duration_format(age_ns, age));
}

/* "15", or "2 of 15" where a filter lists some of them only. */
static void setup_count(const struct frame_input *in, char *buf, size_t len)
{
	unsigned long long all = stats_in_setup(in->shown), listed = 0;
	size_t count;
	const struct conn *list = stats_in_setup_list(in->shown, &count);

	for (size_t i = 0; i < count; i++)
		listed += list[i].phase != PHASE_UNKNOWN;
	if (listed < all && count < IN_SETUP_LISTED)
		snprintf(buf, len, "%llu of %llu", listed, all);
	else
		snprintf(buf, len, "%llu", all);
}

static void draw_setup(const struct area *a, const struct frame_input *in)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(in->shown, &count);
	struct rows rows = rows_on_view(a, in, 1, count);
	char more[48];

	setup_count(in, more, sizeof(more));
	area_title(a, panel_name(PANEL_SETUP), more);
	if (count == 0)
		area_put(a, 1, 1, STYLE_DIM, "nobody waits");
	for (size_t i = 0; i < rows.count; i++)
		draw_setup_row(a, in, rows.y + i, &list[rows.first + i]);
}

/* -- tables by key -- */

static uint64_t not_ready(const struct key_row *row)
{
	return row->count - row->outcomes[OUTCOME_READY];
}

static uint64_t sort_value(const struct key_row *row, enum sort sort)
{
	switch (sort) {
	case SORT_CONNECTIONS:
		return row->count;
	case SORT_P99:
		return hist_percentile(&row->wait, 99);
	case SORT_NOT_READY:
		return not_ready(row);
	default:
		return row->wait_ns;
	}
}

struct sorted_row {
	const struct key_row *row;
	uint64_t value;
};

static int most_first(const void *left, const void *right)
{
	const struct sorted_row *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return strcmp(a->row->value, b->row->value);
}

static size_t sorted_rows(const struct frame_input *in, enum key key,
			  struct sorted_row sorted[KEY_ROWS + 2])
{
	enum sort sort = in->desk->sort;
	size_t count;
	const struct key_row *const *rows = stats_table(in->shown, key, &count);

	for (size_t i = 0; i < count; i++) {
		sorted[i].row = rows[i];
		sorted[i].value = sort == SORT_NAME ? 0 : sort_value(rows[i], sort);
	}
	qsort(sorted, count, sizeof(sorted[0]), most_first);
	return count;
}

/* Columns from the right: count, p50, p99, and where there is room not ready, max, dns, wait. */
static void draw_figures(const struct area *a, const struct frame_input *in, int y,
			 const struct key_row *row, uint64_t all_wait_ns)
{
	char text[DURATION_TEXT_LEN];
	uint64_t p99_ns = hist_percentile(&row->wait, 99);
	enum style slow = axis_style(p99_ns);
	int x = a->width;

	if (a->width >= 66) {
		if (all_wait_ns > 0)
			area_put_right(a, x, y, STYLE_NORMAL,
				       show_share((double)row->wait_ns / all_wait_ns, text));
		x -= 6;
		if (row->dns_ns > 0 && row->wait_ns > 0)
			area_put_right(a, x, y, STYLE_NORMAL,
				       show_share((double)row->dns_ns / row->wait_ns, text));
		x -= 6;
	}
	area_put_right(a, x, y, slow == STYLE_BAR ? STYLE_NORMAL : slow,
		       frame_percentile(in, &row->wait, 99, text));
	area_put_right(a, x - 7, y, STYLE_NORMAL, frame_percentile(in, &row->wait, 50, text));
	x -= 14;
	if (a->width >= 50) {
		area_put_right(a, x, y, not_ready(row) ? STYLE_BAD : STYLE_DIM,
			       frame_count(not_ready(row), text));
		x -= 8;
	}
	area_put_right(a, x, y, STYLE_NORMAL, frame_count(row->count, text));
}

static void draw_table_heading(const struct area *a)
{
	int x = a->width;

	if (a->width >= 66) {
		area_put_right(a, x, 1, STYLE_DIM, "wait");
		area_put_right(a, x - 6, 1, STYLE_DIM, "dns");
		x -= 12;
	}
	area_put_right(a, x, 1, STYLE_DIM, "p99");
	area_put_right(a, x - 7, 1, STYLE_DIM, "p50");
	x -= 14;
	if (a->width >= 50) {
		area_put_right(a, x, 1, STYLE_DIM, "unready");
		x -= 8;
	}
	area_put_right(a, x, 1, STYLE_DIM, "count");
}

static int name_columns(const struct area *a)
{
	return a->width - 14 - 7 - (a->width >= 50 ? 8 : 0) - (a->width >= 66 ? 12 : 0);
}

static void draw_table(const struct area *a, const struct frame_input *in, enum key key)
{
	struct sorted_row sorted[KEY_ROWS + 2];
	size_t count = sorted_rows(in, key, sorted);
	struct rows rows = rows_on_view(a, in, 2, count);
	uint64_t all_wait_ns = 0;
	char more[48];

	for (size_t i = 0; i < count; i++)
		all_wait_ns += sorted[i].row->wait_ns;
	snprintf(more, sizeof(more), "%zu, by %s", count, sort_name(in->desk->sort));
	area_title(a, key_word(key), more);
	draw_table_heading(a);
	for (size_t i = 0; i < rows.count; i++) {
		const struct key_row *row = sorted[rows.first + i].row;

		area_name(a, 1, rows.y + i, name_columns(a) - 1,
			  row->special ? STYLE_DIM : STYLE_NORMAL, row->value);
		draw_figures(a, in, rows.y + i, row, all_wait_ns);
	}
}

/* -- lookups -- */

static void draw_lookup_row(const struct area *a, const struct frame_input *in, int y,
			    const struct lookup_row *row)
{
	char what[64], code[24] = "", text[DURATION_TEXT_LEN];
	enum style style = row->result == RESULT_FAILED ? STYLE_BAD : STYLE_NORMAL;

	if (row->result == RESULT_FAILED)
		eai_name(row->code, code);
	snprintf(what, sizeof(what), "%s%s%s %s %s",
		 row->result == RESULT_PENDING ? "cut off" : result_name(row->result),
		 code[0] ? " " : "", code, asker_name(row->by), direction_name(row->kind));
	area_name(a, 1, y, a->width - 22, style, what);
	area_put_right(a, a->width - 14, y, STYLE_NORMAL, frame_count(row->dur.count, text));
	area_put_right(a, a->width - 7, y, STYLE_NORMAL, frame_percentile(in, &row->dur, 50, text));
	area_put_right(a, a->width, y, style, duration_format(row->dur.max_ns, text));
}

/* With --dns-packets: what the wire says of each nameserver. */
static void draw_nameservers(const struct area *a, const struct frame_input *in, int y)
{
	const struct dns_report *r = stats_dns(in->whole);
	char text[ADDR_TEXT_LEN];

	if (!r)
		return;
	area_put(a, 1, y, STYLE_DIM, "nameserver");
	area_put_right(a, a->width - 16, y, STYLE_DIM, "asked");
	area_put_right(a, a->width - 7, y, STYLE_DIM, "silent");
	area_put_right(a, a->width, y, STYLE_DIM, "p50");
	for (unsigned int i = 0; i < r->count; i++) {
		const struct dns_server *s = &r->servers[i];

		y++;
		area_name(a, 1, y, a->width - 23, STYLE_NORMAL, addr_format(&s->address, text));
		area_put_right(a, a->width - 16, y, STYLE_NORMAL, frame_count(s->queries, text));
		area_put_right(a, a->width - 7, y, s->unanswered ? STYLE_BAD : STYLE_DIM,
			       frame_count(s->unanswered, text));
		area_put_right(a, a->width, y, STYLE_NORMAL,
			       s->rtt_count ? duration_format(s->rtt_p50_ns, text) : "-");
	}
}

static void draw_lookups(const struct area *a, const struct frame_input *in)
{
	size_t count;
	const struct lookup_row *list = stats_lookups(in->shown, &count);
	struct rows rows = rows_on_view(a, in, 2, count);
	uint64_t pending = 0;
	char more[48];

	for (int by = 0; by < ASKER_COUNT; by++)
		pending += stats_in_setup_pending(in->shown, by);
	snprintf(more, sizeof(more), "%llu pending now", (unsigned long long)pending);
	area_title(a, panel_name(PANEL_LOOKUPS), more);
	area_put_right(a, a->width - 14, 1, STYLE_DIM, "count");
	area_put_right(a, a->width - 7, 1, STYLE_DIM, "p50");
	area_put_right(a, a->width, 1, STYLE_DIM, "max");
	for (size_t i = 0; i < rows.count; i++)
		draw_lookup_row(a, in, rows.y + i, &list[rows.first + i]);
	draw_nameservers(a, in, rows.y + rows.count + 1);
}

/* -- failures -- */

static void draw_failures(const struct area *a, const struct frame_input *in)
{
	size_t count;
	const struct failure_row *list = stats_failures(in->shown, &count);
	struct rows rows = rows_on_view(a, in, 1, count);
	char text[64];

	area_title(a, panel_name(PANEL_FAILURES), "");
	if (count == 0)
		area_put(a, 1, 1, STYLE_DIM, "none");
	for (size_t i = 0; i < rows.count; i++) {
		const struct failure_row *row = &list[rows.first + i];
		int y = rows.y + i;

		area_put(a, 1, y, STYLE_NORMAL, row->sqlstate[0] ? row->sqlstate : "-");
		area_put(a, 7, y, STYLE_NORMAL,
			 row->sqlstate[0] ? sqlstate_name(row->sqlstate) : "no SQLSTATE told");
		snprintf(text, sizeof(text), " %s %llu", outcome_name(row->outcome),
			 (unsigned long long)row->count);
		area_put_right(a, a->width, y, STYLE_BAD, text);
	}
}

void frame_panel(const struct area *a, const struct frame_input *in, enum panel panel)
{
	switch (panel) {
	case PANEL_SETUP:
		draw_setup(a, in);
		break;
	case PANEL_TIME:
		frame_time(a, in);
		break;
	case PANEL_LOOKUPS:
		draw_lookups(a, in);
		break;
	case PANEL_FAILURES:
		draw_failures(a, in);
		break;
	default:
		draw_table(a, in, panel - PANEL_FIRST_KEY);
		break;
	}
}
