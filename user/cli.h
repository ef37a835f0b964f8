/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of tracing and of replay: options as one struct. */
#ifndef PGDNSTRACE_CLI_H
#define PGDNSTRACE_CLI_H

#include "capture/live.h"
#include "keep/window.h"
#include "model/filter.h"
#include "show/text.h"
#include "target/target.h"

enum view { VIEW_AUTO, VIEW_TEXT, VIEW_SCREEN, VIEW_NONE };

struct options {
	struct target_query target;
	struct live_options live;
	uint64_t interval_ns; /* 0: the view's own */
	uint64_t duration_ns; /* 0: until stopped */
	bool follow; /* go on with the next postmaster of target.pgdata */
	bool events;
	enum view view; /* never VIEW_AUTO once parsed */
	struct filter filter;
	struct view_options show;
	const char *output; /* "-" : standard output; NULL: none */
	struct window_options window; /* cap_bytes 0: none (replay) */
	const char *prometheus, *listen; /* metrics; NULL: none */

	const char *file; /* replay */
	const char *from, *to;
};

/* Parse argv; on a mistake they say what is wrong and exit with EXIT_USAGE. */
void cli_trace(int argc, char **argv, struct options *o);
void cli_replay(int argc, char **argv, struct options *o);

#endif
