/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes of the stream, live or replayed: the model takes every event, the trace file and
 * the event lines take what the filter lets through, the view shows the model.
 */
#ifndef PGDNSTRACE_PIPELINE_H
#define PGDNSTRACE_PIPELINE_H

#include "cli.h"
#include "keep/output.h"
#include "metrics.h"
#include "model/stats.h"
#include "show/screen.h"

struct pipeline {
	const struct options *options;
	struct stats *stats;
	struct output *output; /* NULL: no -o */
	struct window *window; /* incident windows; NULL: a replay */
	bool parted; /* the files' last part has its end, and no other has begun */
	bool ending; /* the next sweep is the last: the files get what is in setup */
	struct screen *screen; /* NULL: text, or no view */
	struct metrics metrics;
	struct problem problem; /* what pipeline_open() failed for */
};

/* 0, or -errno with problem filled. */
int pipeline_open(struct pipeline *p, const struct options *o);
void pipeline_close(struct pipeline *p);
/* Takes the terminal, when the screen is asked for; without a terminal it stays with text. */
int pipeline_open_screen(struct pipeline *p);

/* An event_sink; ctx is the pipeline. -EPIPE: nobody reads our standard output any more. */
int pipeline_event(void *ctx, const struct event *ev);
/* Shows the model as it is; the summary gives the terminal back first. */
int pipeline_view(struct pipeline *p, bool final);
/* The sweep that follows is the last: what it shows goes to the files, line by line. */
void pipeline_ending(struct pipeline *p);
/*
 * The end of one server's part of the trace, after pipeline_ending() and the last sweep: the files are
 * told, and what comes next is another server's.
 */
int pipeline_part(struct pipeline *p, const char *reason);
/* Renders the metrics that are asked for. */
void pipeline_metrics(struct pipeline *p);
/* True when a file could not be written in full: the program exits with 1. */
bool pipeline_failed(const struct pipeline *p);
/*
 * The end of a live trace: tells the files the totals, then prints the summary. reason as in
 * struct end. 0; -EIO when a file was not written in full.
 */
int pipeline_end(struct pipeline *p, const char *reason);

#endif
