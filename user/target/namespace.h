/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling thread's visit to a namespace of another process. */
#ifndef PGDNSTRACE_NAMESPACE_H
#define PGDNSTRACE_NAMESPACE_H

/*
 * Enters the process's namespace of that name ("net", "uts") and hands out the way back: an fd for
 * namespace_leave(), or -1 when it is our own already. Other threads stay where they are.
 */
int namespace_enter(int pid, const char *name, int *back);
/* Aborts when the way back is barred: going on in a foreign namespace would be worse. */
void namespace_leave(int back);

#endif
