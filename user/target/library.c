/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/library.h"

bool library_matches(const char *file, const char *name)
{
	const char *base = strrchr(file, '/');
	size_t len = strlen(name);

	base = base ? base + 1 : file;
	if (!strcmp(name, "libc") && !strncmp(base, "ld-musl-", 8))
		return true;
	if (strncmp(base, name, len))
		return false;
	base += len;
	if (!strncmp(base, "_r", 2)) /* the threaded variant that libldap 2.4 came in */
		base += 2;
	return !strncmp(base, ".so", 3) || (base[0] == '-' && isdigit((unsigned char)base[1]));
}

/* One line of maps: "start-end perms offset device inode   file". */
static bool mapping_matches(const char *line, const char *name, unsigned long *start,
			    unsigned long *end, int *file)
{
	*file = 0;
	return sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", start, end, file) == 2 && *file &&
	       line[*file] == '/' && library_matches(line + *file, name);
}

int library_find(int pid, const char *name, char *path, size_t path_len, char *file,
		 size_t file_len)
{
	char maps[32], *line = NULL;
	unsigned long start, end;
	int at, ret = -ENOENT;
	size_t size = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	f = fopen(maps, "re");
	if (!f)
		return -errno;
	while (ret && getline(&line, &size, f) > 0) {
		if (!mapping_matches(line, name, &start, &end, &at))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, path_len, "/proc/%d/map_files/%lx-%lx", pid, start, end);
		snprintf(file, file_len, "%s", line + at);
		ret = 0;
	}
	free(line);
	fclose(f);
	return ret;
}
