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

/* Children that still carry the parent's own command line: one that has set its title has another.
 */
struct untitled {
	char title[TITLE_LEN];
	ssize_t title_len;
	int parent;
	int *pids;
	int count, max;
};

static void untitled_add(struct untitled *u, int pid)
{
	char cmdline[TITLE_LEN];
	ssize_t len = proc_read(pid, "cmdline", cmdline, sizeof(cmdline));

	if (u->count < u->max && len == u->title_len && !memcmp(cmdline, u->title, len))
		u->pids[u->count++] = pid;
}

static bool untitled_visit(int pid, void *context)
{
	struct untitled *u = context;

	if (proc_status_number(pid, "PPid") == u->parent)
		untitled_add(u, pid);
	return u->count < u->max;
}

/* The kernel's own list of children, where it was built with CONFIG_PROC_CHILDREN. */
static int children_read(int parent, char **list)
{
	char path[64];
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	*list = NULL;
	if (getline(list, &size, f) < 0 && *list)
		(*list)[0] = '\0';
	fclose(f);
	return 0;
}

int target_untitled_children(const struct target *t, int *pids, int max)
{
	struct untitled u = { .parent = t->pid, .pids = pids, .max = max };
	char *list = NULL, *at, *end;
	int pid;

	u.title_len = proc_read(t->pid, "cmdline", u.title, sizeof(u.title));
	if (u.title_len <= 0)
		return 0;
	if (children_read(t->pid, &list)) {
		proc_each(untitled_visit, &u);
		return u.count;
	}
	for (at = list; at && (pid = strtol(at, &end, 10)) > 0; at = end)
		untitled_add(&u, pid);
	free(list);
	return u.count;
}
