/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that a process has mapped. */
#ifndef PGDNSTRACE_LIBRARY_H
#define PGDNSTRACE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* "libc": libc.so.6, libc-2.31.so, ld-musl-x86_64.so.1; "libldap": libldap_r-2.4.so.2 too. */
bool library_matches(const char *file, const char *name);
/* path: of the mapping, /proc/PID/map_files/START-END; file: as it is mapped. -ENOENT. */
int library_find(int pid, const char *name, char *path, size_t path_len, char *file,
		 size_t file_len);

#endif
