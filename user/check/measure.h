/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the server's own resolver takes for a few of its clients, found out beside the server: each
 * lookup runs in a process of ours that has joined the server's network and mount namespaces and
 * its root, so that it reads the server's resolv.conf, nsswitch.conf and hosts.
 */
#ifndef PGDNSTRACE_MEASURE_H
#define PGDNSTRACE_MEASURE_H

#include "target/target.h"

#define MEASURE_MAX	5
#define MEASURE_LIMIT_S 30 /* for all together; they run side by side */

struct measurement {
	struct addr address;
	enum result result; /* RESULT_PENDING: no answer within MEASURE_LIMIT_S, dur is that long */
	int code; /* EAI_* of RESULT_FAILED */
	uint64_t dur_ns;
	char name[DNS_NAME_LEN]; /* hostile */
};

/* Peers of the server's port, as many as max, different ones, at most. Returns how many. */
int measure_clients(const struct target *t, struct addr *clients, int max);
/* Fills in m[i] for clients[i]. 0, or -errno when the namespaces cannot be joined. */
int measure_lookups(const struct target *t, const struct addr *clients, int count,
		    struct measurement *m);

#endif
