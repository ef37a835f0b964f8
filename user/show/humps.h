/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The humps of a distribution: percentiles alone mislead where half of the values are 3 ms and
 * half are 10 s.
 */
#ifndef PGDNSTRACE_HUMPS_H
#define PGDNSTRACE_HUMPS_H

#include "model/hist.h"

#define HUMPS_MAX 3

struct hump {
	uint64_t count;
	uint64_t middle_ns; /* the median of its values */
};

/* The largest humps with gaps or deep valleys between them, fastest first; returns how many. */
int humps_find(const struct hist *h, struct hump humps[HUMPS_MAX]);

#endif
