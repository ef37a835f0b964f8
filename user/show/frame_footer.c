/* SPDX-License-Identifier: BSD-2-Clause */
/* The bottom of the frame: keys, prompt, status; and the help. */
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"
#include "show/frame_private.h"

/* -- footer -- */

static const struct {
	const char *key, *does;
	bool live, replay; /* where it means something */
} keys[] = {
	{ "q", "quit", true, true },    { "?", "help", true, true },
	{ "p", "pause", true, true },   { "+-", "speed", false, true },
	{ "j", "jump", false, true },   { "[]", "10 s", false, true },
	{ "r", "reset", true, true },   { "t", "time", true, true },
	{ "/", "client", true, true },  { "s", "sort", true, true },
	{ "tab", "table", true, true }, { "\u2191\u2193", "phase", true, true },
	{ "v", "verdict", true, true }, { "w", "write window", true, false },
};

static void draw_keys(const struct area *a, const struct desk *d)
{
	int x = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *key = keys[i].key;

		if (d->replay ? !keys[i].replay : !keys[i].live)
			continue;
		if ((unsigned char)key[0] > 0x7f && !a->canvas->utf8)
			key = "up/dn";
		if (x + safe_columns(key) + (int)strlen(keys[i].does) + 1 > a->width)
			return;
		x = area_put(a, x, 0, STYLE_KEY, key) + 1;
		x = area_put(a, x, 0, STYLE_NORMAL, keys[i].does) + 2;
	}
}

static void draw_prompt(const struct area *a, const struct desk *d)
{
	int x = area_put(a, 0, 0, STYLE_TITLE,
			 d->prompt == PROMPT_FILTER
				 ? (a->width < 60 ? "client: "
						  : "client (address or network, empty for all): ")
				 : (a->width < 60 ? "time: " : "jump to (HH:MM:SS): "));

	x = area_put(a, x, 0, STYLE_NORMAL, d->typed);
	area_char(a, x, 0, STYLE_SELECTED, ' ');
}

void frame_keys(const struct area *a, const struct desk *d)
{
	if (d->prompt != PROMPT_NONE)
		draw_prompt(a, d);
	else
		draw_keys(a, d);
}

/* -- status: what differs from the plain view -- */

bool frame_has_status(const struct frame_input *in)
{
	const struct desk *d = in->desk;

	return d->paused || d->replay || d->filter[0] || d->since_ns || d->message[0];
}

static void draw_progress(struct flow *f, const struct frame_input *in)
{
	const struct desk *d = in->desk;
	char from[CLOCK_TEXT_LEN], to[CLOCK_TEXT_LEN], text[96];
	int columns = 20;
	double done;

	snprintf(text, sizeof(text), "replay x%u", d->speed);
	flow_put(f, STYLE_TITLE, text);
	if (d->last_ns <= d->first_ns || f->area.width < 60)
		return;
	done = (double)(in->now_ns - d->first_ns) / (d->last_ns - d->first_ns);
	done = done < 0 ? 0 : done > 1 ? 1 : done;
	clock_local(d->first_ns, from);
	clock_local(d->last_ns, to);
	snprintf(text, sizeof(text), "%.8s", from);
	flow_put(f, STYLE_DIM, text);
	for (int i = 0; i < columns; i++)
		area_char(&f->area, f->x + 1 + i, f->y, i < done * columns ? STYLE_BAR : STYLE_DIM,
			  f->area.canvas->utf8 ? (i < done * columns ? 0x2501 : 0x2500)
					       : (i < done * columns ? '=' : '-'));
	f->x += columns;
	snprintf(text, sizeof(text), "%.8s", to);
	flow_put(f, STYLE_DIM, text);
}

void frame_status(const struct area *a, const struct frame_input *in)
{
	const struct desk *d = in->desk;
	struct flow f = { .area = *a };
	char text[160], clock[CLOCK_TEXT_LEN];

	if (d->message[0])
		flow_put(&f, d->message_level <= LOG_WARN ? STYLE_BAD : STYLE_NORMAL, d->message);
	if (d->paused)
		flow_put(&f, STYLE_SELECTED, d->replay ? " paused " : " PAUSED ");
	if (d->replay)
		draw_progress(&f, in);
	if (d->filter[0]) {
		snprintf(text, sizeof(text), "only client %s", d->filter);
		flow_put(&f, STYLE_WARN, text);
	}
	if (d->since_ns && !d->replay) {
		snprintf(text, sizeof(text), "since %.8s", clock_local(d->since_ns, clock));
		flow_put(&f, STYLE_WARN, text);
	}
}

/* -- help -- */

static const char *const help_lines[] = {
	"up, down     the phase: its histogram and its strip over time",
	"tab, arrows  the table: in setup, over time, lookups, failures, client, ...",
	"page up/down scroll the table",
	"v            the verdict in full, with what to do",
	"s            order of the tables: wait, count, p99, not ready, name",
	"t            time window: all, the last minute, the last 5 minutes",
	"/            only one client or network, counted from now on",
	"r            reset: count from now on",
	"p            pause: hold the figures still; the trace goes on",
	"q            quit, with the summary",
	"",
	"wait         what the client felt: queue and total",
	"unready      connections that did not become ready",
	"colours      fast, 100 ms and more, 1 s and more",
};

static const char *const live_lines[] = {
	"w            write an incident window now, and say where",
};

static const char *const replay_lines[] = {
	"space, p     play or pause        + -  speed",
	"j            jump to a time       [ ]  10 s back, on",
	"home, end    to the start, to the end",
};

void frame_help(const struct area *a, const struct desk *d)
{
	int y = 1;

	area_title(a, "help", "");
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++)
		area_put(a, 1, y++, STYLE_NORMAL, help_lines[i]);
	for (size_t i = 0; !d->replay && i < sizeof(live_lines) / sizeof(live_lines[0]); i++)
		area_put(a, 1, y++, STYLE_NORMAL, live_lines[i]);
	for (size_t i = 0; d->replay && i < sizeof(replay_lines) / sizeof(replay_lines[0]); i++)
		area_put(a, 1, y++, STYLE_NORMAL, replay_lines[i]);
}
