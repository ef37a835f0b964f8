/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/root.h"

int root_open(int pid, const char *path, int flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	char root[32];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(dir);
	return fd;
}

/*
 * A regular file, or -EINVAL: opening is what a container that is root within could have us do to a
 * device that it may not open itself, and a pipe would be waited for.
 */
static int regular_open(int pid, const char *path)
{
	char again[32];
	struct stat st;
	int fd, found = root_open(pid, path, O_PATH);

	if (found < 0)
		return found;
	fd = fstat(found, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!fd) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
		fd = open(again, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(found);
	return fd;
}

ssize_t root_read(int pid, const char *path, char *buf, size_t len)
{
	int fd = regular_open(pid, path);
	size_t have = 0;
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	while (got > 0 && have < len - 1) {
		got = read(fd, buf + have, len - 1 - have);
		if (got > 0)
			have += got;
	}
	if (got < 0)
		got = -errno;
	close(fd);
	buf[have] = '\0';
	return got < 0 ? got : have;
}

int root_stat(int pid, const char *path, struct stat *st)
{
	int fd = root_open(pid, path, O_PATH);
	int ret;

	if (fd < 0)
		return fd;
	ret = fstat(fd, st) ? -errno : 0;
	close(fd);
	return ret;
}
