/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The screen's picture: a pure function of statistics, desk and size. Top to bottom: is it bad,
 * where is the wait, who waits now, who waits most, what to do.
 */
#ifndef PGDNSTRACE_FRAME_H
#define PGDNSTRACE_FRAME_H

#include "show/canvas.h"
#include "show/desk.h"

struct frame_input {
	struct stats *shown;       /* since the reset, or through the filter; sorted in place */
	const struct stats *whole; /* everything: losses, queue, settings; may be the same */
	const struct desk *desk;
	int64_t now_ns;      /* wall clock: ages tick with it */
	bool no_percentiles; /* the trace at hand holds long connections only */
};

/* Draws into a canvas that canvas_resize() has just made blank. */
void frame_draw(struct canvas *c, const struct frame_input *in);
/* True when so large a screen has room for in setup and over time beside the tables. */
bool frame_is_large(int width, int height);

#endif
