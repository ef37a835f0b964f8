/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log-linear histogram of durations in ns: 32 buckets per power of two, 1 us to 1 h, so a value
 * is known to within 3.2 %. Below 1 us values share the first buckets, above 1 h the last one;
 * min, max and sum are exact. Fixed size, no allocation, mergeable.
 */
#ifndef PGDNSTRACE_HIST_H
#define PGDNSTRACE_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 5 /* 32 buckets per power of two */
#define HIST_MIN_BITS 10 /* 1024 ns */
#define HIST_MAX_BITS 42 /* 2^42 ns = 73 min */
#define HIST_BUCKETS  ((HIST_MAX_BITS - HIST_MIN_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t count, sum_ns, min_ns, max_ns;
	uint32_t buckets[HIST_BUCKETS];
};

void hist_reset(struct hist *h);
void hist_record(struct hist *h, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
/* Value at percentile p (0 to 100): the upper end of its bucket, never above max_ns; 0 when empty. */
uint64_t hist_percentile(const struct hist *h, double p);
/* Count of values in [from_ns, to_ns), exact when both are bucket borders (powers of two are). */
uint64_t hist_count_between(const struct hist *h, uint64_t from_ns, uint64_t to_ns);
/* The index of a value's bucket. */
unsigned int hist_bucket(uint64_t ns);
/* The bucket border nearest to ns, at most 1.6 % away from it (above 1 us). */
uint64_t hist_border(uint64_t ns);

#endif
