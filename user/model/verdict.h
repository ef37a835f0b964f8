/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the figures mean, in words: findings from the model alone, the strongest first, the same in
 * every view and in the trace. No finding without the figure that carries it.
 */
#ifndef PGDNSTRACE_VERDICT_H
#define PGDNSTRACE_VERDICT_H

#include "model/stats.h"

#define VERDICT_MAX 4

struct finding {
	char title[40]; /* "REVERSE DNS" */
	char text[400]; /* sentences with figures */
	char advice[400]; /* a command that can be pasted, or what to do; lines are parted by \n; "" : none */
};

struct verdict {
	unsigned int count;
	struct finding findings[VERDICT_MAX];
};

/* Never empty once a connection was seen: "nothing wrong" is a finding too. */
void verdict_build(struct stats *s, struct verdict *v);
/* "TITLE: text" in one line, as the trace's end has it. */
const char *verdict_line(const struct finding *f, char *buf, size_t len);

#endif
