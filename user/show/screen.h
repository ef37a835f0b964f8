/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live screen: the frame on a terminal. The only file that knows curses. It owns standard
 * input and output while open, restores the terminal on every exit, a crash signal included, and
 * shows log messages in a row of its own.
 *
 * Poll screen_fd() for POLLIN, then call screen_keys(); call screen_draw() as often as the figures
 * shall move (it notices a new size of the window by itself). Feed every event to screen_event().
 */
#ifndef PGDNSTRACE_SCREEN_H
#define PGDNSTRACE_SCREEN_H

#include "show/desk.h"

struct screen;

struct screen_options {
	bool replay;                 /* keys for speed and time, see player.h */
	bool no_percentiles;         /* see struct view_options */
	const struct filter *filter; /* --only, under the client that / adds; may be NULL */
};

/* 0; -ENOTTY: no terminal, or one that curses does not know; -ENOMEM. One screen at a time. */
int screen_open(struct screen **out, const struct screen_options *o);
/* Gives the terminal back and prints the warnings that were shown meanwhile. Accepts NULL. */
void screen_close(struct screen *sc);

int screen_fd(const struct screen *sc);
/* For the figures since a reset, or of one client. 0 or -errno of stats_event(). */
int screen_event(struct screen *sc, const struct event *ev);
/* whole: everything since the start. now_ns: wall clock, or where a replay stands. */
void screen_draw(struct screen *sc, struct stats *whole, int64_t now_ns);
/*
 * Takes the keys that wait. WISH_QUIT: the person wants to leave, or the terminal is gone. When
 * live, only WISH_WINDOW comes out besides: the others are fulfilled. Draw afterwards.
 */
enum desk_wish screen_keys(struct screen *sc, struct stats *whole, int64_t now_ns);

/* -- for a replay -- */

struct desk *screen_desk(struct screen *sc);
/* The filter in force, client included. */
const struct filter *screen_filter(const struct screen *sc);

#endif
