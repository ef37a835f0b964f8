/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output files of a root program: created new (O_EXCL, O_NOFOLLOW), mode 0600, owned by SUDO_UID
 * when there is one. -o FILE grows in place; windows, exports and metrics are made under a
 * temporary name in the same folder and renamed when whole.
 */
#ifndef PGDNSTRACE_FILE_H
#define PGDNSTRACE_FILE_H

#include <stdio.h>
#include <sys/types.h>

/* Opens path for -o: refuses an existing file (-EEXIST), follows no symlink. */
int file_create(FILE **out, const char *path, mode_t mode);

#define FILE_PARTIAL ".partial" /* how a temporary name ends: what was never made whole */

struct file_atomic {
	FILE *out;
	char *path, *temporary;
};
/*
 * A temporary beside path; commit renames it to path (replacing it), abort removes it. A commit
 * that fails (-ENOSPC) has aborted.
 */
int file_atomic_open(struct file_atomic *f, const char *path, mode_t mode);
int file_atomic_commit(struct file_atomic *f);
void file_atomic_abort(struct file_atomic *f); /* harmless after commit */

#endif
