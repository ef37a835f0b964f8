/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP (1U << HIST_SUB_BITS) /* memory comes by powers of two */

void slice_reset(struct slice *s)
{
	s->count = s->sum_ns = s->min_ns = s->max_ns = 0;
	if (s->buckets)
		memset(s->buckets, 0, s->span * sizeof(*s->buckets));
}

/* Makes the span hold the bucket: the groups between are zeros. */
static int widen(struct slice *s, unsigned int bucket)
{
	unsigned int first = bucket / GROUP * GROUP, end = first + GROUP;
	uint32_t *wider;

	if (s->buckets && s->first < first)
		first = s->first;
	if (s->buckets && s->first + s->span > end)
		end = s->first + s->span;
	wider = calloc(end - first, sizeof(*wider));
	if (!wider)
		return -ENOMEM;
	if (s->buckets)
		memcpy(wider + (s->first - first), s->buckets, s->span * sizeof(*wider));
	free(s->buckets);
	s->buckets = wider;
	s->first = first;
	s->span = end - first;
	return 0;
}

int slice_record(struct slice *s, uint64_t ns)
{
	unsigned int bucket = hist_bucket(ns);

	if ((!s->buckets || bucket < s->first || bucket >= s->first + s->span) &&
	    widen(s, bucket) < 0)
		return -ENOMEM;
	if (s->count == 0 || ns < s->min_ns)
		s->min_ns = ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
	s->count++;
	s->sum_ns += ns;
	s->buckets[bucket - s->first]++;
	return 0;
}

void slice_merge(struct hist *into, const struct slice *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	for (unsigned int i = 0; i < from->span; i++)
		into->buckets[from->first + i] += from->buckets[i];
}

int slice_unshare(struct slice *s)
{
	const uint32_t *from = s->buckets;

	if (!from)
		return 0;
	s->buckets = malloc(s->span * sizeof(*from));
	if (!s->buckets) {
		*s = (struct slice){ 0 };
		return -ENOMEM;
	}
	memcpy(s->buckets, from, s->span * sizeof(*from));
	return 0;
}

void slice_free(struct slice *s)
{
	free(s->buckets);
	s->buckets = NULL;
}
