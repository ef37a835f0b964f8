/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram as in hist.h that takes memory only for the powers of two it has seen: five seconds
 * of one phase span a few of them, and 60 slots of 16 metrics have to fit beside a server.
 */
#ifndef PGDNSTRACE_SLICE_H
#define PGDNSTRACE_SLICE_H

#include "model/hist.h"

struct slice {
	uint64_t count, sum_ns, min_ns, max_ns;
	unsigned int first, span; /* buckets[] are these of a struct hist's */
	uint32_t *buckets;        /* NULL: never used */
};

void slice_reset(struct slice *s);              /* keeps the memory for the next time */
int slice_record(struct slice *s, uint64_t ns); /* 0 or -ENOMEM */
void slice_merge(struct hist *into, const struct slice *from);
/* Gives a copied struct memory of its own: 0 or -ENOMEM, and then it is empty. */
int slice_unshare(struct slice *s);
void slice_free(struct slice *s);

#endif
