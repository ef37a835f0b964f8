/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/humps.h"

#include "show/bins.h"

/* Between two humps the valley is this much lower than either. */
#define DEPTH 4

/* Bins (powers of two) from `from` up to but without `to`. */
struct part {
	unsigned int from, to;
};

static uint64_t border(unsigned int bin)
{
	if (bin == 0)
		return 0;
	return bin < BINS ? hist_border(bin_from_ns(bin)) : UINT64_MAX;
}

static uint64_t part_count(const struct hist *h, const struct part *p)
{
	return hist_count_between(h, border(p->from), border(p->to));
}

/* The median of the part's values. */
static uint64_t middle(const struct hist *h, const struct part *p)
{
	uint64_t below = hist_count_between(h, 0, border(p->from));

	return hist_percentile(h, 100.0 * (below + (part_count(h, p) + 1) / 2) / h->count);
}

/* Up to the lowest bin before the next rise, or the end. */
static struct part take_part(const uint64_t *counts, unsigned int from)
{
	uint64_t peak = 0, lowest = 0;
	unsigned int valley = from;

	for (unsigned int bin = from; bin < BINS; bin++) {
		if (lowest * DEPTH < peak && counts[bin] > lowest * DEPTH)
			return (struct part){ from, valley };
		if (counts[bin] >= peak)
			peak = lowest = counts[bin];
		if (counts[bin] <= lowest) {
			lowest = counts[bin];
			valley = bin;
		}
	}
	return (struct part){ from, BINS };
}

/* Keeps the largest: with all places taken the smallest goes, which may be the new one. */
static int keep_hump(struct hump humps[HUMPS_MAX], int found, struct hump new)
{
	int least = 0;

	if (found < HUMPS_MAX) {
		humps[found] = new;
		return found + 1;
	}
	for (int i = 1; i < HUMPS_MAX; i++)
		least = humps[i].count < humps[least].count ? i : least;
	if (new.count <= humps[least].count)
		return found;
	for (int i = least; i + 1 < HUMPS_MAX; i++)
		humps[i] = humps[i + 1];
	humps[HUMPS_MAX - 1] = new;
	return found;
}

/* What holds less than 1 % is a stray, and no hump. */
int humps_find(const struct hist *h, struct hump humps[HUMPS_MAX])
{
	uint64_t counts[BINS];
	struct part p = { 0, 0 };
	int found = 0;

	bins_count(h, counts);
	while (p.to < BINS) {
		p = take_part(counts, p.to);
		if (h->count && part_count(h, &p) * 100 >= h->count)
			found = keep_hump(humps, found, (struct hump){ part_count(h, &p), middle(h, &p) });
	}
	return found;
}
