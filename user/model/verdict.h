/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the figures mean, in words: findings from the model alone, the strongest first, the same in
 * every view and in the trace. No finding without the figure that carries it.
 */
#ifndef PGDNSTRACE_VERDICT_H
#define PGDNSTRACE_VERDICT_H

#include "model/stats.h"

#define VERDICT_MAX 4 /* as many as an end line holds */

struct finding {
	double weight; /* seconds of clients' time that it explains; orders the findings */
	char title[20]; /* "REVERSE DNS" */
	char text[232]; /* sentences with figures, in one line; may hold a hostile name */
	char advice[480]; /* lines of at most 78 columns, commands to paste first; "" : none. Holds nothing
			     that came from the network */
};

struct verdict {
	unsigned int count;
	struct finding findings[VERDICT_MAX];
};

/* Never empty: "nothing wrong" and "no connection yet" are findings too. */
void verdict_build(struct stats *s, struct verdict *v);
/* "TITLE: text" in one line, as the trace's end has it. */
const char *verdict_line(const struct finding *f, char *buf, size_t len);

#endif
