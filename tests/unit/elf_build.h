/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files for tests: compiles a C source into a temporary file and opens it. */
#ifndef PGDNSTRACE_ELF_BUILD_H
#define PGDNSTRACE_ELF_BUILD_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs "gcc FLAGS -o FILE source.c", then "AFTER FILE" when given; returns an fd on FILE, or -1. */
static int elf_build(const char *source, const char *flags, const char *after)
{
	char dir[] = "/tmp/pgdnstrace-elf.XXXXXX", command[1024], path[64];
	FILE *f;
	int fd = -1;

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/source.c", dir);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fputs(source, f);
	fclose(f);
	snprintf(command, sizeof(command), "cd %s && gcc -w %s -o binary source.c && %s binary",
		 dir, flags, after ? after : "test -x");
	if (!system(command)) {
		snprintf(path, sizeof(path), "%s/binary", dir);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) ? -1 : fd;
}

#endif
