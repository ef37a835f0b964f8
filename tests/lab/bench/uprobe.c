// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hit of a uprobe costs on this machine: functions whose first instruction the kernel
 * emulates or single-steps, called with and without a probe (a perf event that only counts).
 * Prints nanoseconds a hit: emulated, emulated with return, single-stepped.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS  100000
#define ROUNDS 5

extern const char __executable_start[];

#if defined(__x86_64__)
__asm__(".text\n"
	"emulated: push %rbp\n pop %rbp\n ret\n"
	"stepped: lea (%rsp), %rax\n ret\n");
#else
__asm__(".text\n"
	"emulated: nop\n ret\n"
	"stepped: add x0, x0, #1\n ret\n");
#endif
void emulated(void);
void stepped(void);

static int read_int(const char *path)
{
	FILE *f = fopen(path, "r");
	int value = -1;

	if (!f || fscanf(f, "%d", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

static int probe_open(void (*function)(void), int at_return)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = read_int("/sys/bus/event_source/devices/uprobe/type"),
		.config = at_return,
		.config1 = (uintptr_t) "/proc/self/exe",
		.config2 = (uintptr_t)function - (uintptr_t)__executable_start,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double call_ns(void (*function)(void))
{
	struct timespec a, b;
	double best = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < CALLS; i++)
			function();
		clock_gettime(CLOCK_MONOTONIC, &b);
		double ns = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / CALLS;

		best = ns < best ? ns : best;
	}
	return best;
}

static double hit_ns(void (*function)(void), int at_return)
{
	double bare = call_ns(function), probed;
	int fd = probe_open(function, at_return);

	if (fd < 0) {
		perror("uprobe");
		exit(1);
	}
	probed = call_ns(function);
	close(fd);
	return probed - bare;
}

int main(void)
{
	printf("%.0f %.0f %.0f\n", hit_ns(emulated, 0), hit_ns(emulated, 1), hit_ns(stepped, 0));
	return 0;
}
