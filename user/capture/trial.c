// SPDX-License-Identifier: BSD-2-Clause
#include "capture/trial.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_VALUE 42

/* What gets the return probe: a call that the compiler keeps, with a value to check. */
__attribute__((noinline, noclone)) static int trial_function(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static int (*volatile trial_call)(int) = trial_function;

/* File offset of an address of our own. */
static int own_offset(uintptr_t addr, size_t *offset)
{
	uintptr_t start, end, base;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	int err = -ENOENT;

	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR, &start, &end, &base) != 3 ||
		    addr < start || addr >= end)
			continue;
		*offset = addr - start + base;
		err = 0;
		break;
	}
	fclose(maps);
	return err;
}

/* Allows what the child needs, kills on any other system call. */
static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

static void trial_child(void)
{
	if (confine())
		_exit(TRIAL_VALUE + 1);
	_exit(trial_call(TRIAL_VALUE));
}

static int trial_run(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		trial_child();
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == TRIAL_VALUE + 1)
		return -EPERM;
	return WIFEXITED(status) && WEXITSTATUS(status) == TRIAL_VALUE;
}

/* sys_uretprobe came with Linux 6.11, on x86-64 alone; 6.14 made seccomp let it pass. */
bool trial_needed(void)
{
#if defined(__x86_64__)
	struct utsname name;
	int major, minor;

	return uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2 || major > 6 ||
	       (major == 6 && minor >= 11);
#else
	return false;
#endif
}

int trial_return_probe(struct bpf_program *uretprobe, struct bpf_link **link)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = true);
	size_t offset = 0;
	int err;

	*link = NULL;
	err = own_offset((uintptr_t)trial_function, &offset);
	if (err)
		return err;
	*link = bpf_program__attach_uprobe_opts(uretprobe, -1, "/proc/self/exe", offset, &opts);
	return *link ? trial_run() : -errno;
}
