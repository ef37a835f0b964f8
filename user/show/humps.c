/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/humps.h"

#include "show/bins.h"

/* Bins are powers of two; one below a tenth of the lower peak beside it is a valley. */
struct part {
	unsigned int from, to; /* bins, to is behind the last */
	uint64_t count, peak;
};

static uint64_t border(unsigned int bin)
{
	if (bin == 0)
		return 0;
	return bin < BINS ? hist_border(bin_from_ns(bin)) : UINT64_MAX;
}

/* The value of a rank among those in [from, to). */
static uint64_t middle(const struct hist *h, const struct part *p)
{
	uint64_t below = hist_count_between(h, 0, border(p->from));

	return hist_percentile(h, 100.0 * (below + (p->count + 1) / 2) / h->count);
}

static struct part take_part(const uint64_t *counts, unsigned int from)
{
	struct part p = { .from = from, .to = from };

	while (p.to < BINS && counts[p.to] > 0 &&
	       (counts[p.to] * 10 >= p.peak || p.to + 1 == BINS || counts[p.to + 1] <= counts[p.to])) {
		p.count += counts[p.to];
		p.peak = counts[p.to] > p.peak ? counts[p.to] : p.peak;
		p.to++;
	}
	return p;
}

/* What holds less than 1 % is a stray, and part of no hump. */
int humps_find(const struct hist *h, struct hump humps[HUMPS_MAX])
{
	uint64_t counts[BINS];
	int found = 0;

	bins_count(h, counts);
	for (unsigned int bin = 0; bin < BINS && found < HUMPS_MAX;) {
		struct part p = take_part(counts, bin);

		if (p.to == bin) {
			bin++;
			continue;
		}
		if (p.count * 100 >= h->count)
			humps[found++] = (struct hump){ p.count, middle(h, &p) };
		bin = p.to;
	}
	return found;
}
