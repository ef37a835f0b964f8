/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A number in the environment that sudo set; -1: none. */
static long sudo_number(const char *name)
{
	const char *text = getenv(name);
	long number;
	char *end;

	if (!text || !*text)
		return -1;
	errno = 0;
	number = strtol(text, &end, 10);
	return *end || errno || number < 0 || number > INT32_MAX ? -1 : number;
}

/* The person who called sudo can read and delete what was written for them. */
static int give_to_caller(int fd, mode_t mode)
{
	long uid = sudo_number("SUDO_UID"), gid = sudo_number("SUDO_GID");

	if (fchmod(fd, mode)) /* whatever the umask */
		return -errno;
	if (geteuid() || uid < 0)
		return 0;
	return fchown(fd, uid, gid < 0 ? (gid_t)-1 : (gid_t)gid) ? -errno : 0;
}

/* Takes fd in any case; path is removed again when it cannot be used. */
static int adopt(FILE **out, int fd, const char *path, mode_t mode)
{
	int err = give_to_caller(fd, mode);

	*out = err ? NULL : fdopen(fd, "w");
	if (*out)
		return 0;
	err = err ? err : -errno;
	close(fd);
	unlink(path);
	return err;
}

int file_create(FILE **out, const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : adopt(out, fd, path, mode);
}

int file_atomic_open(struct file_atomic *f, const char *path, mode_t mode)
{
	int fd, err;

	*f = (struct file_atomic){ .path = strdup(path) };
	if (!f->path || asprintf(&f->temporary, "%s.XXXXXX" FILE_PARTIAL, path) < 0) {
		f->temporary = NULL;
		file_atomic_abort(f);
		return -ENOMEM;
	}
	fd = mkostemps(f->temporary, strlen(FILE_PARTIAL), O_CLOEXEC);
	err = fd < 0 ? -errno : adopt(&f->out, fd, f->temporary, mode);
	if (err) {
		free(f->temporary); /* there is nothing to remove, and no name to remove by mistake
				     */
		f->temporary = NULL;
		file_atomic_abort(f);
	}
	return err;
}

int file_atomic_commit(struct file_atomic *f)
{
	int err = ferror(f->out) ? -EIO : 0;

	errno = EIO;
	if (fclose(f->out) && !err)
		err = -errno;
	f->out = NULL;
	if (!err && rename(f->temporary, f->path))
		err = -errno;
	if (!err) {
		free(f->temporary);
		f->temporary = NULL;
	}
	file_atomic_abort(f);
	return err;
}

void file_atomic_abort(struct file_atomic *f)
{
	if (f->out)
		fclose(f->out);
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct file_atomic){ 0 };
}
