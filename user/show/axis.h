/* SPDX-License-Identifier: BSD-2-Clause */
/* The log axis of the screen, 1 us to 100 s: which latencies a column of it holds. */
#ifndef PGDNSTRACE_AXIS_H
#define PGDNSTRACE_AXIS_H

#include "model/hist.h"
#include "show/canvas.h"

#define AXIS_DECADES 8

/* Counts of a histogram in so many columns; what lies outside counts in the end columns. */
void axis_count(const struct hist *h, int columns, uint64_t *counts);
/* Where a column begins. */
uint64_t axis_from_ns(int column, int columns);
/* The column that holds a latency. */
int axis_column(uint64_t ns, int columns);
/* Fast, slow or bad: the colour of a latency. */
enum style axis_style(uint64_t ns);
/* Labels of the decades ("1us", "1ms", "1s" when there is no room for each) in row y. */
void axis_labels(const struct area *a, int x, int y, int columns);

#endif
