/* SPDX-License-Identifier: BSD-2-Clause */
/* The text view: 80 columns, no control sequence, for pipes, logs and people without a screen. */
#ifndef PGDNSTRACE_SHOW_TEXT_H
#define PGDNSTRACE_SHOW_TEXT_H

#include <stdio.h>

#include "model/stats.h"

struct view_options {
	unsigned int by_count;
	enum key by[KEY_COUNT];
	bool no_percentiles; /* the trace at hand holds long connections only */
};

/* The whole view; final: the summary at the end. 0 or -errno of the stream. */
int text_view(FILE *out, struct stats *s, const struct view_options *o, bool final);
/* One line for a connection (-e): time, wait, outcome, slowest phase, client, user@database. */
int text_event(FILE *out, const struct conn *c);

#endif
