/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/proc.h"

#define PROC_PATH_LEN 64

static const char *proc_path(int pid, const char *name, char *path)
{
	snprintf(path, PROC_PATH_LEN, "/proc/%d/%s", pid, name);
	return path;
}

ssize_t proc_read(int pid, const char *name, char *buf, size_t len)
{
	char path[PROC_PATH_LEN];
	size_t have = 0;
	ssize_t got = 1;
	int fd = open(proc_path(pid, name, path), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
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

ssize_t proc_link(int pid, const char *name, char *buf, size_t len)
{
	char path[PROC_PATH_LEN];
	ssize_t got = readlink(proc_path(pid, name, path), buf, len - 1);

	if (got < 0)
		return -errno;
	buf[got] = '\0';
	return got;
}

/* The key stands at a line's start; the first line of status, Name, is the process's own text. */
static const char *status_line(const char *status, const char *key)
{
	size_t len = strlen(key);
	const char *line = status;

	while ((line = strchr(line, '\n'))) {
		line++;
		if (!strncmp(line, key, len) && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

int proc_status_number(int pid, const char *key)
{
	char status[4096];
	ssize_t got = proc_read(pid, "status", status, sizeof(status));
	const char *line = got < 0 ? NULL : status_line(status, key);
	int value = -ENOENT;
	char *end;

	if (got < 0)
		return got;
	while (line && *line && *line != '\n') {
		value = strtol(line, &end, 10);
		if (end == line)
			return -ENOENT;
		line = end + strspn(end, " \t");
	}
	return value;
}

int proc_namespace(int pid, const char *name, uint32_t *inode)
{
	char path[PROC_PATH_LEN], ns[16];
	struct stat st;

	snprintf(ns, sizeof(ns), "ns/%s", name);
	if (stat(proc_path(pid, ns, path), &st))
		return -errno;
	*inode = st.st_ino;
	return 0;
}

int proc_each(bool (*visit)(int pid, void *context), void *context)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool more = true;

	if (!dir)
		return -errno;
	while (more && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			more = visit(atoi(entry->d_name), context);
	closedir(dir);
	return 0;
}
