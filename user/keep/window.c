/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/safe.h"
#include "keep/backlog.h"
#include "keep/window_file.h"

#define WINDOW_LONGEST_NS (3600 * (int64_t)NS_PER_S)
#define WINDOW_TICK_NS    (10 * (int64_t)NS_PER_S)

struct window {
	const struct window_options *options;
	const struct filter *filter;
	struct condition_watch *watches[WINDOW_CONDITIONS];
	struct backlog *backlog;
	struct event start; /* of the trace */
	struct tick tick;   /* the last one */
	int64_t ticked_ns;  /* the last that was kept */
	int64_t dns_told_ns;

	bool open; /* a window is being written */
	struct window_file file;
	char path[PATH_TEXT_LEN];
	int64_t opened_ns, until_ns;
	unsigned int told;   /* bit per condition: its trigger stands in the file */
	bool wants_in_setup; /* with the next sweep */

	int64_t not_before_ns; /* one failed: when to try again */
	unsigned int written;
};

int window_open(struct window **out, const struct window_options *o, const struct filter *f)
{
	struct window *w = calloc(1, sizeof(*w));
	bool complete;

	if (!w)
		return -ENOMEM;
	w->options = o;
	w->filter = f;
	w->backlog = backlog_new(o->before_ns, o->cap_bytes);
	complete = w->backlog;
	for (unsigned int i = 0; i < o->condition_count; i++) {
		w->watches[i] = condition_watch_new(&o->conditions[i]);
		complete = complete && w->watches[i];
	}
	if (complete) {
		*out = w;
		return 0;
	}
	window_close(w);
	return -ENOMEM;
}

void window_close(struct window *w)
{
	if (!w)
		return;
	if (w->open)
		window_file_abort(&w->file);
	for (unsigned int i = 0; i < w->options->condition_count; i++)
		condition_watch_free(w->watches[i]);
	backlog_free(w->backlog);
	free(w);
}

/* -- the file -----------------------------------------------------------------------------------
 */

/*
 * Gives the window up. For as long as it would have lasted no other one is tried, so that a full
 * disk is told once an incident.
 */
static void give_up(struct window *w, int64_t now_ns, int err)
{
	char dir[PATH_TEXT_LEN];

	log_error("cannot write an incident window in %s: %s; tracing goes on without it",
		  safe_terminal(w->options->dir, dir, sizeof(dir)), strerror(-err));
	if (w->open)
		window_file_abort(&w->file);
	w->open = false;
	w->not_before_ns = now_ns + (int64_t)w->options->after_ns;
}

/* Passes on whether it went well. */
static bool check(struct window *w, int64_t now_ns, int err)
{
	if (err)
		give_up(w, now_ns, err);
	return !err;
}

static int write_trigger(struct window *w, int64_t now_ns, const struct condition *c, double value)
{
	return window_file_trigger(&w->file, now_ns, c, value, backlog_cut_off(w->backlog, now_ns));
}

static int begin_file(struct window *w, int64_t now_ns)
{
	int err = window_file_path(w->options->dir, &w->start.start, now_ns, w->path,
				   sizeof(w->path));

	if (!err)
		err = window_file_open(&w->file, w->path);
	if (err)
		return err;
	w->open = true;
	w->opened_ns = now_ns;
	w->told = 0;
	w->wants_in_setup = true;
	backlog_expire(w->backlog, now_ns);
	return window_file_backlog(&w->file, &w->start, w->backlog, now_ns);
}

static void begin(struct window *w, int64_t now_ns, const struct condition *c, double value)
{
	char path[PATH_TEXT_LEN];
	int err = begin_file(w, now_ns);

	if (!err)
		err = write_trigger(w, now_ns, c, value);
	if (!check(w, now_ns, err))
		return;
	safe_terminal(w->path, path, sizeof(path));
	if (c)
		log_info("%s came true (%.3g): writing %s", c->text, value, path);
	else
		log_info("writing %s", path);
}

static void finish(struct window *w, int64_t now_ns, const char *reason)
{
	char path[PATH_TEXT_LEN];
	int err = window_file_commit(&w->file, now_ns, reason, &w->tick);

	w->open = false;
	if (!check(w, now_ns, err))
		return;
	w->written++;
	log_info("incident window written: %s", safe_terminal(w->path, path, sizeof(path)));
	window_file_prune(w->options->dir, &w->start.start, w->options->keep);
}

/* -- triggers -----------------------------------------------------------------------------------
 */

static void hold(struct window *w, int64_t now_ns)
{
	w->until_ns = now_ns + (int64_t)w->options->after_ns;
}

/* A condition that holds opens a window or keeps it open; its first time in one is told. */
static void take_condition(struct window *w, unsigned int i, int64_t now_ns, double value)
{
	const struct condition *c = &w->options->conditions[i];

	if (!w->open && now_ns < w->not_before_ns)
		return;
	if (!w->open)
		begin(w, now_ns, c, value);
	else if (!(w->told >> i & 1))
		check(w, now_ns, write_trigger(w, now_ns, c, value));
	w->told |= 1u << i;
	hold(w, now_ns);
}

static void watch(struct window *w, const struct event *ev)
{
	double value;

	if (ev->type == EVENT_CONN && !filter_match(w->filter, &ev->conn))
		return;
	for (unsigned int i = 0; i < w->options->condition_count; i++)
		if (condition_holds(w->watches[i], ev, &value))
			take_condition(w, i, ev->at_ns, value);
}

const char *window_trigger(struct window *w)
{
	int64_t now_ns = clock_real_ns();

	if (w->open)
		check(w, now_ns, write_trigger(w, now_ns, NULL, 0));
	else
		begin(w, now_ns, NULL, 0);
	hold(w, now_ns);
	return window_current(w);
}

const char *window_current(const struct window *w)
{
	return w->open ? w->path : NULL;
}

unsigned int window_written(const struct window *w)
{
	return w->written;
}

/* -- the stream ---------------------------------------------------------------------------------
 */

/* Ticks and nameservers come with each sweep; some seconds apart they are enough in memory and in files. */
static bool is_kept(struct window *w, const struct event *ev)
{
	int64_t *told_ns;

	if (ev->type == EVENT_CONN || ev->type == EVENT_SETTINGS)
		return true;
	if (ev->type == EVENT_IN_SETUP) /* the end of the trace */
		return w->open;
	told_ns = ev->type == EVENT_TICK ? &w->ticked_ns : ev->type == EVENT_DNS ? &w->dns_told_ns : NULL;
	if (!told_ns || ev->at_ns - *told_ns < WINDOW_TICK_NS)
		return false;
	*told_ns = ev->at_ns;
	return true;
}

static int keep(struct window *w, const struct event *ev)
{
	bool told = ev->type != EVENT_CONN || filter_tell(w->filter, &ev->conn);

	if (w->open)
		check(w, ev->at_ns, window_file_event(&w->file, ev, told));
	return backlog_put(w->backlog, ev, told);
}

static bool is_over(const struct window *w, int64_t now_ns)
{
	return now_ns >= w->until_ns || now_ns - w->opened_ns >= WINDOW_LONGEST_NS;
}

/* What is in the file by now survives us: it is flushed with every sweep. */
static void sweep(struct window *w, const struct event *ev)
{
	bool over = is_over(w, ev->at_ns);
	int err = 0;

	if (over || w->wants_in_setup)
		err = window_file_in_setup(&w->file, ev, w->filter, over);
	w->wants_in_setup = false;
	if (!err)
		err = window_file_flush(&w->file);
	if (check(w, ev->at_ns, err) && over)
		finish(w, ev->at_ns, "window");
}

static void take_start(struct window *w, const struct event *ev)
{
	w->start = *ev;
	*backlog_settings(w->backlog) = ev->start.settings;
}

int window_event(struct window *w, const struct event *ev)
{
	int err = 0;

	if (ev->type == EVENT_START)
		take_start(w, ev);
	if (ev->type == EVENT_TICK)
		w->tick = ev->tick;
	if (is_kept(w, ev))
		err = keep(w, ev);
	backlog_expire(w->backlog, ev->at_ns);
	watch(w, ev);
	if (w->open && ev->type == EVENT_SWEEP)
		sweep(w, ev);
	if (w->open && ev->type == EVENT_END)
		finish(w, ev->at_ns, ev->end.reason);
	return err;
}
