// SPDX-License-Identifier: BSD-2-Clause
#include "capture/compare.h"

#include "base/log.h"

void compare_add(struct compare *c, const struct conn *conn)
{
	const unsigned int needed = 1u << PHASE_FORK | 1u << PHASE_CHILD | 1u << PHASE_AUTH;

	if (!conn->has_pg || (conn->phases_present & needed) != needed)
		return;
	c->count++;
	c->pg_fork_ns += conn->pg_fork_ns;
	c->pg_auth_ns += conn->pg_auth_ns;
	c->fork_ns += conn->phases_ns[PHASE_FORK];
	c->child_ns += conn->phases_ns[PHASE_CHILD];
	c->auth_ns += conn->phases_ns[PHASE_AUTH];
}

static double mean_us(const struct compare *c, uint64_t sum_ns)
{
	return (double)sum_ns / 1000 / (double)c->count;
}

/* Its fork ends in the child's first step: between our fork and our fork and child. */
void compare_log(const struct compare *c)
{
	if (!c->count)
		return;
	log_debug("PostgreSQL's own timings of %llu connections, mean: fork %.1f us (ours %.1f, with child "
		  "%.1f), authentication %.1f us (ours %.1f)",
		  (unsigned long long)c->count, mean_us(c, c->pg_fork_ns), mean_us(c, c->fork_ns),
		  mean_us(c, c->fork_ns + c->child_ns), mean_us(c, c->pg_auth_ns),
		  mean_us(c, c->auth_ns));
}
