/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "target/container.h"

#define ID_DIGITS 64
#define ID_SHOWN  12

/* Runtimes that name the group by an id of 64 hexadecimal digits: what stands before it. */
static const struct {
	const char *before;
	const char *runtime;
} by_id[] = {
	{ "cri-containerd-", "kubernetes" },
	{ "crio-", "kubernetes" },
	{ "docker-", "docker" },
	{ "/docker/", "docker" },
	{ "libpod-", "podman" },
	{ "nerdctl-", "containerd" },
};

/* Those that name it by the container's own name, which ends at a slash or before ".scope". */
static const struct {
	const char *before;
	const char *runtime;
	const char *after;
} by_name[] = {
	{ "/lxc.payload.", "lxc", "" },
	{ "/lxc/", "lxc", "" },
	{ "/systemd-nspawn@", "nspawn", ".service" },
	{ "/machine.slice/machine-", "nspawn", ".scope" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_id(const char *text)
{
	size_t digits = 0;

	while (isxdigit((unsigned char)text[digits]))
		digits++;
	return digits == ID_DIGITS;
}

/* The last id in the path: a container in a container is named by the inner one. */
static const char *last_id(const char *cgroup)
{
	const char *found = NULL;

	for (const char *at = cgroup; *at; at++) {
		if (!isxdigit((unsigned char)*at) ||
		    (at > cgroup && isxdigit((unsigned char)at[-1])))
			continue;
		if (is_id(at))
			found = at;
	}
	return found;
}

static const char *id_runtime(const char *cgroup, const char *id)
{
	for (size_t i = 0; i < COUNT(by_id); i++) {
		size_t len = strlen(by_id[i].before);

		if (id - cgroup >= len && !strncmp(id - len, by_id[i].before, len))
			return strstr(cgroup, "kubepods") ? "kubernetes" : by_id[i].runtime;
	}
	return strstr(cgroup, "kubepods") ? "kubernetes" : NULL;
}

static bool name_by_name(const char *cgroup, char *buf, size_t len)
{
	for (size_t i = 0; i < COUNT(by_name); i++) {
		const char *at = strstr(cgroup, by_name[i].before);
		size_t name, after = strlen(by_name[i].after);

		if (!at)
			continue;
		at += strlen(by_name[i].before);
		name = strcspn(at, "/\n");
		if (name > after && !strncmp(at + name - after, by_name[i].after, after))
			name -= after;
		if (!name)
			continue;
		snprintf(buf, len, "%s:%.*s", by_name[i].runtime, (int)name, at);
		return true;
	}
	return false;
}

bool container_name(const char *cgroup, char *buf, size_t len)
{
	const char *id = last_id(cgroup);
	const char *runtime = id ? id_runtime(cgroup, id) : NULL;

	buf[0] = '\0';
	if (!runtime)
		return name_by_name(cgroup, buf, len);
	snprintf(buf, len, "%s:%.*s", runtime, ID_SHOWN, id);
	return true;
}
