/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/hist.h"

#include <string.h>

#define SUB_BUCKETS (1U << HIST_SUB_BITS)

/* Group 0 is linear up to 2^HIST_MIN_BITS, group n covers [2^(MIN_BITS+n-1), 2^(MIN_BITS+n)). */
unsigned int hist_bucket(uint64_t ns)
{
	unsigned int exponent;

	if (ns >> HIST_MIN_BITS == 0)
		return ns >> (HIST_MIN_BITS - HIST_SUB_BITS);
	if (ns >> HIST_MAX_BITS != 0)
		return HIST_BUCKETS - 1;
	exponent = 63 - __builtin_clzll(ns);
	return ((exponent - HIST_MIN_BITS + 1) << HIST_SUB_BITS) +
	       ((ns >> (exponent - HIST_SUB_BITS)) & (SUB_BUCKETS - 1));
}

static uint64_t bucket_start(unsigned int bucket)
{
	unsigned int group = bucket >> HIST_SUB_BITS;
	uint64_t sub = bucket & (SUB_BUCKETS - 1);

	if (group == 0)
		return sub << (HIST_MIN_BITS - HIST_SUB_BITS);
	return (SUB_BUCKETS + sub) << (HIST_MIN_BITS - HIST_SUB_BITS + group - 1);
}

void hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void hist_record(struct hist *h, uint64_t ns)
{
	if (h->count == 0 || ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->count++;
	h->sum_ns += ns;
	h->buckets[hist_bucket(ns)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

/* The rank of a percentile, 1 to count: the smallest that has p % of the values at or below it. */
static uint64_t rank_of(uint64_t count, double p)
{
	double exact = count * p / 100.0;
	uint64_t rank = exact;

	if (rank < exact)
		rank++;
	if (rank < 1)
		return 1;
	return rank > count ? count : rank;
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	uint64_t rank, seen = 0, end;

	if (h->count == 0)
		return 0;
	rank = rank_of(h->count, p);
	for (unsigned int i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->buckets[i];
		if (seen < rank)
			continue;
		end = bucket_start(i + 1) - 1;
		return end < h->max_ns ? end : h->max_ns;
	}
	return h->max_ns;
}

uint64_t hist_count_between(const struct hist *h, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t count = 0;
	unsigned int last = to_ns >> HIST_MAX_BITS ? HIST_BUCKETS : hist_bucket(to_ns);

	for (unsigned int i = hist_bucket(from_ns); i < last; i++)
		count += h->buckets[i];
	return count;
}

uint64_t hist_border(uint64_t ns)
{
	unsigned int bucket = hist_bucket(ns);
	uint64_t below = bucket_start(bucket), above = bucket_start(bucket + 1);

	return ns - below <= above - ns ? below : above;
}
