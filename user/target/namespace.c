/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/namespace.h"

static int namespace_open(const char *process, const char *name, struct stat *st)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int namespace_enter(int pid, const char *name, int *back)
{
	struct stat theirs, ours;
	char process[16];
	int there, here, ret = 0;

	*back = -1;
	snprintf(process, sizeof(process), "%d", pid);
	there = namespace_open(process, name, &theirs);
	if (there < 0)
		return there;
	here = namespace_open("thread-self", name, &ours);
	if (here < 0)
		ret = here;
	else if (theirs.st_ino != ours.st_ino && setns(there, 0))
		ret = -errno;
	else if (theirs.st_ino != ours.st_ino)
		*back = here;
	if (here >= 0 && *back < 0)
		close(here);
	close(there);
	return ret;
}

void namespace_leave(int back)
{
	if (back < 0)
		return;
	if (setns(back, 0))
		abort();
	close(back);
}
