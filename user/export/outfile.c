/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/outfile.h"

#include <errno.h>
#include <string.h>

int outfile_open(struct outfile *o, const char *path)
{
	int rc;

	*o = (struct outfile){ .stream = stdout, .is_file = path && strcmp(path, "-") };
	if (!o->is_file)
		return 0;
	rc = file_atomic_open(&o->file, path, 0600);
	o->stream = o->file.out;
	return rc;
}

int outfile_close(struct outfile *o, int rc)
{
	if (!o->is_file)
		return rc < 0 ? rc : fflush(stdout) ? -errno : 0;
	if (rc >= 0)
		return file_atomic_commit(&o->file);
	file_atomic_abort(&o->file);
	return rc;
}
