/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an export or a report goes: standard output, or a file that appears when it is whole. */
#ifndef PGDNSTRACE_OUTFILE_H
#define PGDNSTRACE_OUTFILE_H

#include <stdbool.h>

#include "keep/file.h"

struct outfile {
	FILE *stream;
	struct file_atomic file;
	bool is_file;
};

int outfile_open(struct outfile *o, const char *path); /* NULL or "-": standard output */
/* rc is how the writing went: below 0 the file is given up. Returns rc, or the end's own -errno. */
int outfile_close(struct outfile *o, int rc);

#endif
