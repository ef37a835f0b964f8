/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/bins.h"

#include <stdio.h>

#include "base/clock.h"

/* Bin 0 is what is below 1 us; then ten bins each of us and ms, and twelve of s, up to 68 min. */
static const struct {
	const char *name;
	uint64_t ns;
} units[] = { { "us", NS_PER_US }, { "ms", NS_PER_MS }, { "s", NS_PER_S } };

static unsigned int unit_of(unsigned int bin)
{
	return bin < 11 ? 0 : bin < 21 ? 1 : 2;
}

static unsigned int value_of(unsigned int bin)
{
	return 1U << (bin - 1 - 10 * unit_of(bin));
}

uint64_t bin_from_ns(unsigned int bin)
{
	return bin == 0 ? 0 : value_of(bin) * units[unit_of(bin)].ns;
}

const char *bin_label(unsigned int bin, char *buf)
{
	const char *unit = units[unit_of(bin)].name;

	if (bin == 0)
		snprintf(buf, BIN_LABEL_LEN, "<1us");
	else if (bin == BINS - 1)
		snprintf(buf, BIN_LABEL_LEN, ">%u%s", value_of(bin), unit);
	else if (unit_of(bin) == unit_of(bin + 1))
		snprintf(buf, BIN_LABEL_LEN, "%u-%u%s", value_of(bin), value_of(bin + 1), unit);
	else
		snprintf(buf, BIN_LABEL_LEN, "%u%s-%u%s", value_of(bin), unit, value_of(bin + 1),
			 units[unit_of(bin + 1)].name);
	return buf;
}

void bins_count(const struct hist *h, uint64_t counts[BINS])
{
	for (unsigned int bin = 0; bin < BINS; bin++) {
		uint64_t from = bin ? hist_border(bin_from_ns(bin)) : 0;
		uint64_t to = bin + 1 < BINS ? hist_border(bin_from_ns(bin + 1)) : UINT64_MAX;

		counts[bin] = hist_count_between(h, from, to);
	}
}
