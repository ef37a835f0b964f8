/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram in rows that people can read: 1-2us, 2-4us, ... 512us-1ms, ... 8-16s. Borders are
 * the histogram's own nearest ones, so a count is exact and a label true to within 1.6 %.
 */
#ifndef PGDNSTRACE_SHOW_BINS_H
#define PGDNSTRACE_SHOW_BINS_H

#include "model/hist.h"

#define BINS          33
#define BIN_LABEL_LEN 32

uint64_t bin_from_ns(unsigned int bin);             /* as its label says, 0 for the first */
const char *bin_label(unsigned int bin, char *buf); /* "2-4ms"; buf holds BIN_LABEL_LEN */
void bins_count(const struct hist *h, uint64_t counts[BINS]);

#endif
