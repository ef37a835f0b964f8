/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PostgreSQL 18's own timings of fork and authentication beside ours: the check of the one by the
 * other that -v prints.
 */
#ifndef PGDNSTRACE_COMPARE_H
#define PGDNSTRACE_COMPARE_H

#include "model/conn.h"

struct compare {
	uint64_t count; /* connections that have both */
	uint64_t pg_fork_ns, pg_auth_ns; /* sums */
	uint64_t fork_ns, child_ns, auth_ns;
};

void compare_add(struct compare *c, const struct conn *conn);
/* One line (log_debug), none when there is nothing to compare. */
void compare_log(const struct compare *c);

#endif
