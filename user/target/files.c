/* SPDX-License-Identifier: BSD-2-Clause */
/* What else /proc tells of the postmaster: its resolver's files, its libraries, its children. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/library.h"
#include "target/proc.h"
#include "target/resolver.h"
#include "target/root.h"
#include "target/target.h"

#define CONF_LEN    16384
#define TITLE_LEN   4096
#define ENVIRON_LEN 65536

/* A file's text, "" when there is none; false when it is barred. */
static bool conf_read(int pid, const char *path, char *buf, size_t len)
{
	ssize_t got = root_read(pid, path, buf, len);

	if (got < 0)
		buf[0] = '\0';
	return got >= 0 || got == -ENOENT || got == -ENOTDIR;
}

static void libc_read(const struct target *t, struct resolver *r)
{
	char path[64], name[PATH_TEXT_LEN];

	if (library_find(t->pid, "libc", path, sizeof(path), name, sizeof(name)))
		return;
	snprintf(r->libc, sizeof(r->libc), "%s", strstr(name, "ld-musl") ? "musl" : "glibc");
}

/* glibc lets the environment have the last word; the server got it when it started. */
static void environ_read(int pid, struct resolver *r)
{
	static const char key[] = "RES_OPTIONS=";
	char *environ_text = malloc(ENVIRON_LEN);
	ssize_t len = environ_text ? proc_read(pid, "environ", environ_text, ENVIRON_LEN) : 0;

	for (ssize_t at = 0; at < len; at += strlen(environ_text + at) + 1)
		if (!strncmp(environ_text + at, key, sizeof(key) - 1))
			resolver_parse_options(environ_text + at + sizeof(key) - 1, r);
	free(environ_text);
}

int target_resolver(const struct target *t, struct resolver *out)
{
	char text[CONF_LEN];
	struct stat st;

	memset(out, 0, sizeof(*out));
	libc_read(t, out);
	if (!conf_read(t->pid, "etc/resolv.conf", text, sizeof(text)))
		return -EACCES;
	resolver_parse_conf(text, out);
	if (!conf_read(t->pid, "etc/nsswitch.conf", text, sizeof(text)))
		return -EACCES;
	resolver_parse_nsswitch(text, out);
	if (!strcmp(out->libc, "glibc")) {
		environ_read(t->pid, out);
		out->nscd = !root_stat(t->pid, "var/run/nscd/socket", &st) && S_ISSOCK(st.st_mode);
	}
	out->has = true;
	return 0;
}

int target_library(const struct target *t, const char *name, char *path, size_t len)
{
	char found[PATH_TEXT_LEN];

	return library_find(t->pid, name, path, len, found, sizeof(found));
}

/* The parent's own command line: a child that has set its title has another. */
static bool untitled(int pid, const char *title, ssize_t title_len)
{
	char cmdline[TITLE_LEN];
	ssize_t len = proc_read(pid, "cmdline", cmdline, sizeof(cmdline));

	return len == title_len && !memcmp(cmdline, title, len);
}

int target_untitled_children(const struct target *t, int *pids, int max)
{
	char title[TITLE_LEN], path[64], *line = NULL, *at, *end;
	ssize_t title_len = proc_read(t->pid, "cmdline", title, sizeof(title));
	size_t size = 0;
	int count = 0, pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", t->pid, t->pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (title_len > 0 && getline(&line, &size, f) > 0) {
		for (at = line; count < max && (pid = strtol(at, &end, 10)) > 0; at = end)
			if (untitled(pid, title, title_len))
				pids[count++] = pid;
	}
	free(line);
	fclose(f);
	return count;
}
