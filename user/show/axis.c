/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/axis.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

uint64_t axis_from_ns(int column, int columns)
{
	return NS_PER_US * pow(10, (double)AXIS_DECADES * column / columns) + 0.5;
}

int axis_column(uint64_t ns, int columns)
{
	int column = 0;

	while (column < columns - 1 && axis_from_ns(column + 1, columns) <= ns)
		column++;
	return column;
}

void axis_count(const struct hist *h, int columns, uint64_t *counts)
{
	for (int i = 0; i < columns; i++) {
		uint64_t from = i == 0 ? 0 : hist_border(axis_from_ns(i, columns));
		uint64_t to =
			i == columns - 1 ? UINT64_MAX : hist_border(axis_from_ns(i + 1, columns));

		counts[i] = h->count ? hist_count_between(h, from, to) : 0;
	}
}

enum style axis_style(uint64_t ns)
{
	if (ns >= NS_PER_S)
		return STYLE_BAD;
	return ns >= 100 * NS_PER_MS ? STYLE_WARN : STYLE_BAR;
}

void axis_labels(const struct area *a, int x, int y, int columns)
{
	static const char *const labels[AXIS_DECADES] = { "1us",  "10us",  "100us", "1ms",
							  "10ms", "100ms", "1s",    "10s" };
	int step = columns >= 6 * AXIS_DECADES ? 1 : columns >= 16 ? 3 : 6;

	for (int i = 0; i < AXIS_DECADES; i += step) {
		int at = columns * i / AXIS_DECADES;

		if (at + (int)strlen(labels[i]) <= columns)
			area_put(a, x + at, y, STYLE_DIM, labels[i]);
	}
}
