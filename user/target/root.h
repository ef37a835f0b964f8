/* SPDX-License-Identifier: BSD-2-Clause */
/* Files as a process sees them, behind its own root: chroots, containers, private mounts. */
#ifndef PGDNSTRACE_ROOT_H
#define PGDNSTRACE_ROOT_H

#include <sys/stat.h>
#include <sys/types.h>

/* Paths and absolute links stay behind that root. Negative errno. */
int root_open(int pid, const char *path, int flags);
/* Of a regular file only: -EINVAL for anything else. */
ssize_t root_read(int pid, const char *path, char *buf, size_t len);
int root_stat(int pid, const char *path, struct stat *st);

#endif
