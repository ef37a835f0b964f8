/* SPDX-License-Identifier: BSD-2-Clause */
/* Between find.c, which chooses a process, and target.c, which opens it. */
#ifndef PGDNSTRACE_OPEN_H
#define PGDNSTRACE_OPEN_H

#include "target/target.h"

/* Opens that very process, a postmaster or not; on an error there is nothing to close. */
int target_open_pid(int pid, struct target *t, struct problem *problem);
/* The server itself says that it is a postmaster, not a standalone backend or an orphan; true when
 * it doesn't say. */
bool target_is_postmaster(const struct target *t);
/* The problem that this user may not look at a process; returns error. */
int problem_barred(struct problem *problem, int error, int pid);
/* Fills in the problem and returns error. */
__attribute__((format(printf, 4, 5))) int problem_set(struct problem *problem, int error,
						      enum exit_code code, const char *format, ...);

#endif
