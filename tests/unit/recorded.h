/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of a recorded trace (tests/data); make unit runs from the top of the tree. */
#ifndef PGDNSTRACE_RECORDED_H
#define PGDNSTRACE_RECORDED_H

#include <stdio.h>

#include "keep/trace.h"
#include "model/stats.h"

static inline struct stats *stats_recorded(const char *name)
{
	char path[128], err[TRACE_ERR_LEN];
	struct stats *s = stats_new();
	struct trace_reader *r;
	static struct event ev;
	int more;

	snprintf(path, sizeof(path), "tests/data/%s.jsonl", name);
	assert_int_equal(trace_open(&r, path, err, sizeof(err)), 0);
	while ((more = trace_next(r, &ev, err, sizeof(err))) > 0)
		assert_int_equal(stats_event(s, NULL, &ev), 0);
	assert_int_equal(more, 0);
	trace_close(r);
	return s;
}

#endif
