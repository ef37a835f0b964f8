/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the person at the screen has chosen: the phase, the table, the span of time, the order, and
 * what is being typed. Keys change it; the frame shows it. Pure: no terminal, no clock.
 */
#ifndef PGDNSTRACE_DESK_H
#define PGDNSTRACE_DESK_H

#include "base/log.h"
#include "model/stats.h"

/* What the panel beside the histogram shows; the tables by key follow in the order of KEYS. */
#define PANELS(X)                                                                                  \
	X(SETUP, "in setup")                                                                       \
	X(TIME, "over time")                                                                       \
	X(LOOKUPS, "lookups")                                                                      \
	X(FAILURES, "failures")
#define DESK_ENUM(name, text) PANEL_##name,
enum panel { PANELS(DESK_ENUM) PANEL_FIRST_KEY, PANEL_COUNT = PANEL_FIRST_KEY + KEY_COUNT };
#undef DESK_ENUM
const char *panel_name(enum panel p); /* "in setup", "client" */

/* Orders of the tables by key. */
#define SORTS(X)                                                                                   \
	X(WAIT, "wait")                                                                            \
	X(CONNECTIONS, "count")                                                                    \
	X(P99, "p99")                                                                              \
	X(NOT_READY, "not ready")                                                                  \
	X(NAME, "name")
#define DESK_ENUM(name, text) SORT_##name,
enum sort { SORTS(DESK_ENUM) SORT_COUNT };
#undef DESK_ENUM
const char *sort_name(enum sort s);

/* Keys: characters as themselves, the others as these. */
enum desk_key {
	DESK_UP = 0x200000,
	DESK_DOWN,
	DESK_LEFT,
	DESK_RIGHT,
	DESK_PAGE_UP,
	DESK_PAGE_DOWN,
	DESK_HOME,
	DESK_END,
	DESK_TAB,
	DESK_BACK_TAB,
	DESK_ENTER,
	DESK_ESCAPE,
	DESK_BACKSPACE,
};

/* What a key asks of whoever owns the statistics; the desk itself has changed already. */
enum desk_wish {
	WISH_NOTHING,
	WISH_QUIT,
	WISH_PAUSE,  /* paused changed: hold the figures still, or let them go */
	WISH_RESET,  /* count from now on */
	WISH_WINDOW, /* live: write an incident window */
	WISH_FILTER, /* typed has the client, "" for all */
	WISH_SPEED,  /* replay: speed changed */
	WISH_JUMP,   /* replay: typed has the time */
	WISH_STEP,   /* replay: step_s seconds on or back */
};

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_JUMP };

#define DESK_SPEED_MAX 1000
#define DESK_STEP_ALL  1000000000 /* step_s: to the end; below 0 to the start */

struct desk {
	int metric; /* selected in the table of phases */
	enum panel panel;
	bool tables_only;     /* in setup and over time are on view anyhow: tab skips them */
	unsigned int minutes; /* 0: all, 1 or 5 */
	enum sort sort;
	unsigned int scroll;        /* rows of the panel */
	bool paused, help, verdict; /* verdict: in full, with what to do */

	enum prompt prompt;
	char typed[64];

	char filter[64];  /* in force, "" : none */
	int64_t since_ns; /* the figures count from here; 0: from the start */

	bool replay;
	unsigned int speed; /* times real time */
	int step_s;
	int64_t first_ns, last_ns; /* of the trace; last 0: not known */

	enum log_level message_level;
	char message[256]; /* "" : none */
};

void desk_init(struct desk *d, bool replay);
/* s: the statistics on view, which know the rows there are. */
enum desk_wish desk_key(struct desk *d, const struct stats *s, int key);
void desk_message(struct desk *d, enum log_level level, const char *text);

/* Rows of the table of phases, in order; returns how many (at most METRIC_COUNT). */
int desk_metrics(const struct stats *s, int *metrics);

#endif
