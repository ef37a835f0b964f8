/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A signal handler has no argument of ours: the one terminal that is guarded stands here. */
static struct {
	int fd;
	struct termios before;
	char restore[256];
	volatile sig_atomic_t armed;
} guard;

static const int crash_signals[] = { SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
				     SIGABRT, SIGQUIT, SIGTRAP, SIGSYS };

/* Async-signal-safe: write() and tcsetattr() alone. */
static void restore_now(void)
{
	if (!guard.armed)
		return;
	guard.armed = false;
	if (write(STDOUT_FILENO, guard.restore, strlen(guard.restore)) < 0)
		return; /* the terminal is gone */
	tcsetattr(guard.fd, TCSANOW, &guard.before);
}

/* SA_RESETHAND: the signal raised again does what it would have done without us. */
static void on_crash(int signal_number)
{
	restore_now();
	raise(signal_number);
}

int terminal_save(int fd)
{
	guard.fd = fd;
	return tcgetattr(fd, &guard.before) < 0 ? -errno : 0;
}

void terminal_guard(const char *restore)
{
	static bool registered;
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND };

	snprintf(guard.restore, sizeof(guard.restore), "%s", restore);
	guard.armed = true;
	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &action, NULL);
	if (!registered)
		atexit(restore_now);
	registered = true;
}

void terminal_release(void)
{
	guard.armed = false;
	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		signal(crash_signals[i], SIG_DFL);
}
