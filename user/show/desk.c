/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/desk.h"

#include <stdio.h>
#include <string.h>

#define DESK_NAME(name, text) text,
static const char *const panel_names[] = { PANELS(DESK_NAME) };
static const char *const sort_names[] = { SORTS(DESK_NAME) };
#undef DESK_NAME

const char *panel_name(enum panel p)
{
	return p < PANEL_FIRST_KEY ? panel_names[p] : key_word(p - PANEL_FIRST_KEY);
}

const char *sort_name(enum sort s)
{
	return sort_names[s];
}

void desk_init(struct desk *d, bool replay)
{
	*d = (struct desk){ .metric = METRIC_WAIT, .replay = replay, .speed = 1 };
}

void desk_message(struct desk *d, enum log_level level, const char *text)
{
	d->message_level = level;
	snprintf(d->message, sizeof(d->message), "%s", text);
}

/* A phase that some servers have no marker for is a row only where it was seen. */
static bool is_row(const struct stats *s, int metric)
{
	unsigned int missing = stats_session(s)->missing_phases;
	bool seen = stats_hist(s, metric, STATS_ALL, NULL)->count > 0;

	if (metric < METRIC_PHASE(0) || metric >= METRIC_WITHIN(0))
		return seen || metric == METRIC_WAIT;
	if (metric == METRIC_PHASE(PHASE_LOGIN))
		return seen;
	return seen || !(missing & 1U << (metric - METRIC_PHASE(0)));
}

int desk_metrics(const struct stats *s, int *metrics)
{
	int count = 0;

	metrics[count++] = METRIC_WAIT;
	for (int metric = METRIC_PHASE(0); metric < METRIC_WITHIN(0); metric++)
		if (is_row(s, metric))
			metrics[count++] = metric;
	if (is_row(s, METRIC_TOTAL))
		metrics[count++] = METRIC_TOTAL;
	if (is_row(s, METRIC_DNS))
		metrics[count++] = METRIC_DNS;
	for (int metric = METRIC_WITHIN(0); metric < METRIC_COUNT; metric++)
		if (is_row(s, metric))
			metrics[count++] = metric;
	return count;
}

static void select_metric(struct desk *d, const struct stats *s, int by)
{
	int metrics[METRIC_COUNT];
	int count = desk_metrics(s, metrics), at = 0;

	while (at < count && metrics[at] != d->metric)
		at++;
	if (at == count)
		at = 0;
	d->metric = metrics[(at + by + count) % count];
}

static void select_panel(struct desk *d, int by)
{
	do
		d->panel = (d->panel + by + PANEL_COUNT) % PANEL_COUNT;
	while (d->tables_only && (d->panel == PANEL_SETUP || d->panel == PANEL_TIME));
	d->scroll = 0;
}

static void scroll(struct desk *d, int by)
{
	d->scroll = by < 0 && d->scroll < (unsigned int)-by ? 0 : d->scroll + by;
}

/* -- the prompt -- */

static void open_prompt(struct desk *d, enum prompt prompt)
{
	d->prompt = prompt;
	snprintf(d->typed, sizeof(d->typed), "%s", prompt == PROMPT_FILTER ? d->filter : "");
}

/* Addresses and times are ASCII; anything else is not taken. */
static void type(struct desk *d, int key)
{
	size_t len = strlen(d->typed);

	if (key == DESK_BACKSPACE && len > 0)
		d->typed[len - 1] = '\0';
	if (key == 'U' - '@')
		d->typed[0] = '\0';
	if (key < 0x20 || key > 0x7e || len + 1 == sizeof(d->typed))
		return;
	d->typed[len] = key;
	d->typed[len + 1] = '\0';
}

static enum desk_wish prompt_key(struct desk *d, int key)
{
	enum prompt prompt = d->prompt;

	if (key == DESK_ESCAPE)
		d->prompt = PROMPT_NONE;
	if (key != DESK_ENTER) {
		type(d, key);
		return WISH_NOTHING;
	}
	d->prompt = PROMPT_NONE;
	if (prompt == PROMPT_FILTER)
		return WISH_FILTER;
	return d->typed[0] ? WISH_JUMP : WISH_NOTHING;
}

/* -- keys that both modes have -- */

static bool move_key(struct desk *d, const struct stats *s, int key)
{
	switch (key) {
	case DESK_UP:
	case DESK_DOWN:
		select_metric(d, s, key == DESK_UP ? -1 : 1);
		return true;
	case DESK_LEFT:
	case DESK_BACK_TAB:
		select_panel(d, -1);
		return true;
	case DESK_RIGHT:
	case DESK_TAB:
		select_panel(d, 1);
		return true;
	case DESK_PAGE_UP:
	case DESK_PAGE_DOWN:
		scroll(d, key == DESK_PAGE_UP ? -5 : 5);
		return true;
	}
	return false;
}

static enum desk_wish set_speed(struct desk *d, bool faster)
{
	static const unsigned int speeds[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, DESK_SPEED_MAX };
	int at = 0, last = sizeof(speeds) / sizeof(speeds[0]) - 1;

	while (speeds[at] != d->speed && at < last)
		at++;
	at += faster ? 1 : -1;
	d->speed = speeds[at < 0 ? 0 : at > last ? last : at];
	return WISH_SPEED;
}

static enum desk_wish step(struct desk *d, int seconds)
{
	d->step_s = seconds;
	return WISH_STEP;
}

static enum desk_wish replay_key(struct desk *d, int key)
{
	switch (key) {
	case ' ':
		d->paused = !d->paused;
		return WISH_PAUSE;
	case '+':
	case '=':
		return set_speed(d, true);
	case '-':
		return set_speed(d, false);
	case 'j':
		open_prompt(d, PROMPT_JUMP);
		return WISH_NOTHING;
	case '[':
		return step(d, -10);
	case ']':
		return step(d, 10);
	case DESK_HOME:
	case DESK_END:
		return step(d, key == DESK_END ? DESK_STEP_ALL : -DESK_STEP_ALL);
	}
	return WISH_NOTHING;
}

enum desk_wish desk_key(struct desk *d, const struct stats *s, int key)
{
	if (d->prompt != PROMPT_NONE)
		return prompt_key(d, key);
	d->message[0] = '\0';
	if ((d->help || d->verdict) && key != 'q') {
		d->help = d->verdict = false;
		return WISH_NOTHING;
	}
	if (move_key(d, s, key))
		return WISH_NOTHING;
	switch (key) {
	case 'q':
		return WISH_QUIT;
	case 'p':
		d->paused = !d->paused;
		return WISH_PAUSE;
	case 'r':
		return WISH_RESET;
	case 'w':
		return d->replay ? WISH_NOTHING : WISH_WINDOW;
	case 's':
		d->sort = (d->sort + 1) % SORT_COUNT;
		break;
	case 't':
		d->minutes = d->minutes == STATS_ALL ? 1 : d->minutes == 1 ? 5 : STATS_ALL;
		break;
	case '/':
		open_prompt(d, PROMPT_FILTER);
		break;
	case 'v':
		d->verdict = true;
		break;
	case '?':
	case 'h':
		d->help = true;
		break;
	default:
		return d->replay ? replay_key(d, key) : WISH_NOTHING;
	}
	return WISH_NOTHING;
}
