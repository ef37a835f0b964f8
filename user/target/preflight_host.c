/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/preflight.h"
#include "target/proc.h"

#define KERNEL_BTF    "/sys/kernel/btf/vmlinux"
#define LOCKDOWN_FILE "/sys/kernel/security/lockdown"
#define UPROBE_FILE   "/sys/bus/event_source/devices/uprobe/type"
#define BTF_MAGIC     0xeb9f

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif

/* Capabilities count only in the initial user namespace, the one that maps all ids onto themselves.
 */
static bool in_user_namespace(void)
{
	unsigned int inside, outside, count;
	char map[256];

	return proc_read(getpid(), "uid_map", map, sizeof(map)) > 0 &&
	       sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 && count != UINT32_MAX;
}

/* The effective capabilities of this process; none when they cannot be read. */
static uint64_t capabilities(void)
{
	char status[4096];
	const char *line;

	if (in_user_namespace() || proc_read(getpid(), "status", status, sizeof(status)) < 0)
		return 0;
	line = strstr(status, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

static void privileges_check(struct preflight *p)
{
	uint64_t caps = capabilities();
	bool admin = caps >> CAP_SYS_ADMIN & 1;
	bool bpf = admin || (caps >> CAP_BPF & caps >> CAP_PERFMON & 1);
	bool ptrace = caps >> CAP_SYS_PTRACE & 1;
	struct check *check;

	if (!bpf || !ptrace) {
		check = preflight_add(p, "privileges", CHECK_MISSING);
		snprintf(check->text, sizeof(check->text), "this user may not %s%s%s",
			 bpf ? "" : "load BPF programs (CAP_BPF and CAP_PERFMON)",
			 bpf || ptrace ? "" : " and may not ",
			 ptrace ? "" : "look into the server's process (CAP_SYS_PTRACE)");
		snprintf(check->remedy, sizeof(check->remedy), "run pgdnstrace as root (sudo)");
	} else if (!admin) {
		check = preflight_add(p, "privileges", CHECK_DEGRADED);
		snprintf(check->text, sizeof(check->text),
			 "without CAP_SYS_ADMIN neither the accept queue of another network "
			 "namespace "
			 "nor the server's own C library can be opened");
		snprintf(check->remedy, sizeof(check->remedy), "run pgdnstrace as root (sudo)");
	} else {
		check = preflight_add(p, "privileges", CHECK_OK);
		snprintf(check->text, sizeof(check->text), "all that is needed");
	}
}

static void kernel_check(struct preflight *p)
{
	struct utsname kernel;
	int major = 0, minor = 0;
	bool enough;
	struct check *check;

	if (uname(&kernel) || sscanf(kernel.release, "%d.%d", &major, &minor) != 2)
		return;
	enough = major > 5 || (major == 5 && minor >= 10);
	check = preflight_add(p, "kernel", enough ? CHECK_OK : CHECK_MISSING);
	snprintf(check->text, sizeof(check->text), "Linux %s on %s%s", kernel.release,
		 kernel.machine, enough ? "" : " is too old");
	if (!enough)
		snprintf(check->remedy, sizeof(check->remedy), "Linux 5.10 or later is needed");
}

static void uprobes_check(struct preflight *p)
{
	struct check *check;

	if (!access(UPROBE_FILE, F_OK)) {
		check = preflight_add(p, "uprobes", CHECK_OK);
		snprintf(check->text, sizeof(check->text), "the kernel has them");
		return;
	}
	check = preflight_add(p, "uprobes", CHECK_MISSING);
	snprintf(check->text, sizeof(check->text), "the kernel has no uprobes (no %s)",
		 UPROBE_FILE);
	snprintf(check->remedy, sizeof(check->remedy),
		 "a kernel with CONFIG_UPROBE_EVENTS is needed, and /sys must be mounted");
}

/* 0 when it begins as BTF or as an ELF file that may hold a .BTF section. */
static int btf_read(const char *path)
{
	unsigned char start[4];
	uint16_t magic;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, start, sizeof(start));
	close(fd);
	if (got != sizeof(start))
		return got < 0 ? -EIO : -ENOEXEC;
	memcpy(&magic, start, sizeof(magic));
	return magic == BTF_MAGIC || !memcmp(start, "\177ELF", 4) ? 0 : -ENOEXEC;
}

static void btf_check(struct preflight *p, const char *btf)
{
	const char *path = btf ? btf : KERNEL_BTF;
	int error = btf_read(path);
	struct check *check = preflight_add(p, "btf", error ? CHECK_MISSING : CHECK_OK);

	if (!error) {
		snprintf(check->text, sizeof(check->text), "%.256s", path);
		return;
	}
	snprintf(check->text, sizeof(check->text),
		 "the kernel's types cannot be read from %.256s (%s)", path,
		 error == -ENOEXEC ? "no BTF in it" : strerror(-error));
	snprintf(check->remedy, sizeof(check->remedy),
		 btf ? "name a file that holds this kernel's BTF"
		     : "use a kernel built with CONFIG_DEBUG_INFO_BTF, or name its BTF with --btf "
		       "FILE");
}

bool preflight_locked_down(const char *lockdown)
{
	return strstr(lockdown, "[confidentiality]");
}

static void lockdown_check(struct preflight *p)
{
	char text[128] = "";
	FILE *f = fopen(LOCKDOWN_FILE, "re");
	bool locked;
	struct check *check;

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
	}
	locked = preflight_locked_down(text);
	check = preflight_add(p, "lockdown", locked ? CHECK_MISSING : CHECK_OK);
	snprintf(check->text, sizeof(check->text), "%s",
		 locked ? "kernel lockdown is at \"confidentiality\", which bars BPF programs from "
			  "reading kernel memory"
			: "it does not bar BPF programs");
	if (locked)
		snprintf(check->remedy, sizeof(check->remedy),
			 "start the kernel with lockdown=integrity or without lockdown");
}

void preflight_host(struct preflight *p, const char *btf)
{
	privileges_check(p);
	kernel_check(p);
	uprobes_check(p);
	btf_check(p, btf);
	lockdown_check(p);
}
