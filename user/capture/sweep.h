/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is in setup at an instant: every state in the kernel's map, and the connections that were
 * under way before tracing began and so have none.
 */
#ifndef PGDNSTRACE_SWEEP_H
#define PGDNSTRACE_SWEEP_H

#include "model/conn.h"
#include "target/target.h"

struct sweep {
	struct state *values;
	__u32 *keys;
	unsigned int batch;
	struct conn *list;
	size_t count, room;
	unsigned int traced; /* of the list: those with a record of ours */
};

/* Lists all states of the map anew. 0 or -errno. */
int sweep_states(struct sweep *s, int map_fd, int64_t offset_ns);
/* A connection of the list has ended meanwhile, and has been told. */
void sweep_ended(struct sweep *s, const struct conn *ended);
void sweep_drop_ended(struct sweep *s);
void sweep_sort(struct sweep *s); /* oldest first */
void sweep_free(struct sweep *s);

#define UNTITLED_MAX 1024

/* Children that were under way when tracing began. */
struct earlier {
	int pids[UNTITLED_MAX];
	int count;
	uint64_t seen; /* how many there were, once the second look confirmed them */
	uint64_t second_look_ns; /* 0: done */
};

void earlier_begin(struct earlier *e, const struct target *t);
/* Adds those that are still under way to the sweep. 0 or -ENOMEM. */
int earlier_list(struct earlier *e, const struct target *t, struct sweep *s);

#endif
