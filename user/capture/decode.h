/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's record of a connection, turned into what the model takes: phases as durations,
 * the outcome by its rules, lookups with results. Pure functions of the record.
 */
#ifndef PGDNSTRACE_DECODE_H
#define PGDNSTRACE_DECODE_H

#include "bpf/record.h"
#include "model/conn.h"

/*
 * now_ns: CLOCK_MONOTONIC, the end of a connection that is still in setup (ignored for ended
 * ones). offset_ns: what makes a wall clock time of a monotonic one.
 */
void decode_conn(const struct record *rec, uint64_t now_ns, int64_t offset_ns, struct conn *out);

/*
 * It got ready without the marker having fired: an exit status of 0 behind authentication comes only
 * from an established session. Such a connection is told as ready, without total and wait.
 */
bool decode_ready_unseen(const struct record *rec);

/* Makes such a one of a connection whose setup was thought to go on. */
void decode_as_ready_unseen(struct conn *c);

/* The outcome by the rules of the record alone; OUTCOME_NONE when it has not ended. */
enum outcome decode_outcome(const struct record *rec);

#endif
