/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several traces as one, in order of time, in constant memory. The start of each comes first;
 * every other line names its server ("db1:5432"); ticks are one stream of sums; one end has the
 * totals. What overlapping windows of a server both hold is written once.
 */
#ifndef PGDNSTRACE_MERGE_H
#define PGDNSTRACE_MERGE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * 0, -errno of out, or -ENOMEM. What is wrong with an input is logged and sets incomplete: one
 * that was cut off, or cannot be read from some line on, takes part as far as it goes.
 */
int merge_traces(char *const *paths, unsigned int count, FILE *out, bool *incomplete);

#endif
