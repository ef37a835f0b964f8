// SPDX-License-Identifier: BSD-2-Clause
/* What is asked of single processes, the server's and its children's. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/proc.h"
#include "target/target.h"

#define SECCOMP_FILTER 2 /* "Seccomp:" in /proc/PID/status */

int target_inner_pid(int pid)
{
	int inner = proc_status_number(pid, "NSpid");

	return inner > 0 ? inner : pid;
}

/* Up to the title's end: blanks may follow, where the command line's own bytes were longer. */
bool target_session_idle(int pid)
{
	static const char idle[] = " idle";
	char title[1024];
	ssize_t len = proc_read(pid, "cmdline", title, sizeof(title));

	while (len > 0 && (title[len - 1] == ' ' || title[len - 1] == '\0'))
		len--;
	return len >= (ssize_t)sizeof(idle) - 1 &&
	       !memcmp(title + len - (sizeof(idle) - 1), idle, sizeof(idle) - 1);
}

/* Field 22 of /proc/PID/stat counts clock ticks since boot; the name before it may hold blanks. */
int64_t target_process_start(int pid)
{
	unsigned long long ticks;
	char stat[1024];
	const char *behind_name;

	if (proc_read(pid, "stat", stat, sizeof(stat)) <= 0)
		return 0;
	behind_name = strrchr(stat, ')');
	if (!behind_name ||
	    sscanf(behind_name + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return 0;
	return clock_boot_offset_ns() + (int64_t)(ticks * (NS_PER_S / (unsigned int)sysconf(_SC_CLK_TCK)));
}

bool target_has_seccomp(const struct target *t)
{
	return proc_status_number(t->pid, "Seccomp") == SECCOMP_FILTER;
}
