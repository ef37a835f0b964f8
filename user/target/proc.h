/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of a process. Negative errno: -ESRCH and -ENOENT when it is gone. */
#ifndef PGDNSTRACE_PROC_H
#define PGDNSTRACE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Up to len - 1 bytes of /proc/PID/NAME and a NUL; returns their number. */
ssize_t proc_read(int pid, const char *name, char *buf, size_t len);
/* Where the link /proc/PID/NAME points; returns its length. */
ssize_t proc_link(int pid, const char *name, char *buf, size_t len);
/* The number behind "KEY:" in /proc/PID/status, the last one in its line (NSpid has several). */
int proc_status_number(int pid, const char *key);
/* Inode number of /proc/PID/ns/NAME ("net", "uts"). */
int proc_namespace(int pid, const char *name, uint32_t *inode);
/* Calls visit for each process until it returns false. */
int proc_each(bool (*visit)(int pid, void *context), void *context);

#endif
