/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a function returns to: the instruction behind each call of it in the same file. A plain
 * uprobe there stands in for a return probe where those are unsafe.
 */
#ifndef PGDNSTRACE_RETURN_SITES_H
#define PGDNSTRACE_RETURN_SITES_H

#include <stdint.h>

/*
 * File offsets of the instructions behind the calls of symbol, in order; returns their number.
 * Each call was confirmed as an instruction by decoding its function from the start. Left out are
 * calls in functions that established sessions run (pg_stat_activity, inet_client_addr(), %L).
 * Negative errno, and then the phase that ends with this return cannot be told: -ENOENT: no such
 * function or no call of it. -ENOTSUP: it is also reached by a jump, so it returns elsewhere as
 * well; or the file has no .eh_frame_hdr. -EILSEQ: a function that may hold a call could not be
 * decoded. -ENOSPC: more than max.
 */
int return_sites_find(int fd, const char *symbol, uint64_t *offsets, int max);

#endif
