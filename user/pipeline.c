// SPDX-License-Identifier: BSD-2-Clause
#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "model/verdict.h"

static bool files_go_to_stdout(const struct options *o)
{
	return o->output && !strcmp(o->output, "-");
}

/* A folder that is not there is better told now than when the incident comes. */
static int open_window(struct pipeline *p)
{
	const struct window_options *o = &p->options->window;
	int err = 0;

	if (!o->cap_bytes)
		return 0;
	if (o->condition_count && access(o->dir, W_OK | X_OK))
		err = -errno;
	if (!err)
		err = window_open(&p->window, o, &p->options->filter);
	if (err)
		snprintf(p->problem.text, sizeof(p->problem.text),
			 "cannot write incident windows in %s: %s", o->dir, strerror(-err));
	return err;
}

static int open_output(struct pipeline *p)
{
	if (!p->options->output)
		return 0;
	return output_open(&p->output, p->options->output, &p->options->filter, p->problem.text,
			   sizeof(p->problem.text));
}

int pipeline_open(struct pipeline *p, const struct options *o)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->options = o;
	p->problem.exit_code = EXIT_FAILURE;
	p->stats = stats_new();
	if (!p->stats) {
		snprintf(p->problem.text, sizeof(p->problem.text), "out of memory");
		return -ENOMEM;
	}
	err = open_window(p);
	if (!err)
		err = open_output(p);
	if (!err)
		err = metrics_open(&p->metrics, o->prometheus, o->listen, p->problem.text,
				   sizeof(p->problem.text));
	return err;
}

int pipeline_open_screen(struct pipeline *p)
{
	struct screen_options o = { .filter = &p->options->filter,
				    .no_percentiles = p->options->show.no_percentiles };
	int err;

	if (p->options->view != VIEW_SCREEN)
		return 0;
	err = screen_open(&p->screen, &o);
	if (err != -ENOTTY)
		return err;
	log_warn("no screen: this is no terminal that curses knows (TERM); text instead");
	return 0;
}

static void close_screen(struct pipeline *p)
{
	screen_close(p->screen);
	p->screen = NULL;
}

void pipeline_close(struct pipeline *p)
{
	close_screen(p);
	metrics_close(&p->metrics);
	output_close(p->output);
	window_close(p->window);
	stats_free(p->stats);
}

static int event_line(const struct pipeline *p, const struct event *ev)
{
	if (!p->options->events || p->screen || ev->type != EVENT_CONN || files_go_to_stdout(p->options) ||
	    !filter_tell(&p->options->filter, &ev->conn))
		return 0;
	return text_event(stdout, &ev->conn);
}

/* The window first: it has to be whole also when nobody reads standard output any more. */
static int tell_files(struct pipeline *p, const struct event *ev)
{
	int err = p->window ? window_event(p->window, ev) : 0;

	return err || !p->output ? err : output_event(p->output, ev);
}

/* Each connection still in setup as a line of its own. */
static int tell_in_setup(struct pipeline *p, const struct event *sweep)
{
	struct event ev = { .type = EVENT_IN_SETUP, .at_ns = sweep->at_ns };
	int err = 0;

	for (size_t i = 0; i < sweep->sweep.count && !err; i++) {
		ev.conn = sweep->sweep.list[i];
		if (ev.conn.phase != PHASE_UNKNOWN && filter_match(&p->options->filter, &ev.conn))
			err = tell_files(p, &ev);
	}
	return err;
}

int pipeline_event(void *ctx, const struct event *ev)
{
	struct pipeline *p = ctx;
	int err = stats_event(p->stats, &p->options->filter, ev);

	if (ev->type == EVENT_START)
		p->parted = false;
	if (!err && p->screen)
		err = screen_event(p->screen, ev);
	if (!err)
		err = event_line(p, ev);
	if (!err)
		err = tell_files(p, ev);
	if (!err && p->ending && ev->type == EVENT_SWEEP)
		err = tell_in_setup(p, ev);
	return err;
}

void pipeline_ending(struct pipeline *p)
{
	p->ending = true;
}

int pipeline_view(struct pipeline *p, bool final)
{
	if (p->screen && !final) {
		screen_draw(p->screen, p->stats, clock_real_ns());
		return 0;
	}
	close_screen(p);
	if (p->options->view == VIEW_NONE || (p->options->events && !final))
		return fflush(stdout) ? -errno : 0;
	return text_view(stdout, p->stats, &p->options->show, final);
}

void pipeline_metrics(struct pipeline *p)
{
	metrics_update(&p->metrics, p->stats);
}

bool pipeline_failed(const struct pipeline *p)
{
	return p->metrics.failed || (p->output && output_failed(p->output));
}

static void end_verdict(struct pipeline *p, struct end *end)
{
	struct verdict verdict;

	verdict_build(p->stats, &verdict);
	for (unsigned int i = 0; i < verdict.count && i < 4; i++)
		verdict_line(&verdict.findings[i], end->verdict[end->verdict_count++], TEXT_LEN);
}

static void end_event(struct pipeline *p, const char *reason, struct event *ev)
{
	struct end *end = &ev->end;

	memset(ev, 0, sizeof(*ev));
	ev->type = EVENT_END;
	ev->at_ns = clock_real_ns();
	snprintf(end->reason, sizeof(end->reason), "%s", reason);
	for (int o = 0; o < OUTCOME_COUNT; o++)
		end->outcomes[o] = stats_outcome(p->stats, o);
	end->connections = stats_connections(p->stats);
	end->in_setup = stats_in_setup(p->stats);
	end->before_start = stats_tick(p->stats)->before_start;
	end->lost = stats_lost(p->stats);
	end->filtered = stats_filtered(p->stats);
	end_verdict(p, end);
}

int pipeline_part(struct pipeline *p, const char *reason)
{
	struct event ev;
	int err = 0;

	end_event(p, reason, &ev);
	p->ending = false;
	p->parted = true;
	if (p->window)
		err = window_event(p->window, &ev);
	return err || !p->output ? err : output_part(p->output, &ev);
}

int pipeline_end(struct pipeline *p, const char *reason)
{
	struct event ev;
	int err, shown;

	end_event(p, reason, &ev);
	err = p->parted ? 0 : tell_files(p, &ev);
	stats_event(p->stats, NULL, &ev);
	pipeline_metrics(p);
	shown = pipeline_view(p, true);
	return err ? err : shown;
}
