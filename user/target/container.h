/* SPDX-License-Identifier: BSD-2-Clause */
/* A container's name from the control group that its processes are in. */
#ifndef PGDNSTRACE_CONTAINER_H
#define PGDNSTRACE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * cgroup: the text of /proc/PID/cgroup as the host sees it. "docker:0123456789ab" (the first 12
 * digits, as docker ps shows them), "kubernetes:...", "podman:...", "containerd:...",
 * "lxc:NAME", "nspawn:NAME". False and "": no container that we know.
 */
bool container_name(const char *cgroup, char *buf, size_t len);

#endif
