/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/container.h"
#include "target/memory.h"
#include "target/namespace.h"
#include "target/open.h"
#include "target/proc.h"
#include "target/root.h"

int problem_set(struct problem *problem, int error, enum exit_code code, const char *format, ...)
{
	va_list args;

	problem->exit_code = code;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return error;
}

int problem_barred(struct problem *problem, int error, int pid)
{
	return problem_set(
		problem, error, EXIT_CANNOT_TRACE, "process %d may not be looked at: %s", pid,
		geteuid() ? "run pgdnstrace as root (sudo)"
			  : "it has privileges that this root lacks (CAP_SYS_PTRACE is needed)");
}

static int variable_read(const struct target *t, enum variable v, void *buf, size_t len)
{
	const struct symbol *symbol = &t->symbols.variables[v];

	if (!symbol->value || symbol->size != len)
		return -ENOENT;
	return memory_read(t->pid, symbol->value + t->load_bias, buf, len);
}

static int variable_text(const struct target *t, enum variable v, char *buf, size_t len)
{
	const struct symbol *symbol = &t->symbols.variables[v];
	int ret = symbol->value ? memory_text(t->pid, symbol->value + t->load_bias, buf, len)
				: -ENOENT;

	if (ret)
		buf[0] = '\0';
	return ret;
}

/* Bits of log_connections (18+) and of log_destination, as PostgreSQL numbers them. */
#define LOG_CONNECTION_RECEIPT (1 << 0)
#define LOG_DESTINATION_CSVLOG (1 << 3)
#define LOG_DESTINATION_JSONLOG (1 << 4)

static unsigned int flag_read(const struct target *t, enum variable v, enum printer p)
{
	unsigned char on = 0;

	variable_read(t, v, &on, sizeof(on));
	return on ? 1U << p : 0;
}

static void printers_read(const struct target *t, struct settings *out)
{
	uint32_t connections = 0;
	int32_t destination = 0;

	if (variable_read(t, VARIABLE_LOG_DESTINATION, &destination, sizeof(destination)))
		return;
	out->has_printers = true;
	variable_read(t, VARIABLE_LOG_CONNECTIONS_SET, &connections, sizeof(connections));
	if (connections & LOG_CONNECTION_RECEIPT)
		out->printers |= 1U << PRINTER_CONNECTIONS;
	if (destination & LOG_DESTINATION_CSVLOG)
		out->printers |= 1U << PRINTER_CSVLOG;
	if (destination & LOG_DESTINATION_JSONLOG)
		out->printers |= 1U << PRINTER_JSONLOG;
	out->printers |= flag_read(t, VARIABLE_LOG_CONNECTIONS, PRINTER_CONNECTIONS);
	out->printers |= flag_read(t, VARIABLE_LOG_DISCONNECTIONS, PRINTER_DISCONNECTIONS);
	out->printers |= flag_read(t, VARIABLE_PROCESS_TITLE, PRINTER_TITLE);
}

int target_settings(const struct target *t, struct settings *out)
{
	unsigned char on = 0;

	memset(out, 0, sizeof(*out));
	out->has_log_hostname = !variable_read(t, VARIABLE_LOG_HOSTNAME, &on, sizeof(on));
	out->log_hostname = on;
	out->has_log_line_prefix = !variable_text(t, VARIABLE_LOG_LINE_PREFIX, out->log_line_prefix,
						  sizeof(out->log_line_prefix));
	printers_read(t, out);
	if (out->has_log_hostname || out->has_log_line_prefix)
		return 0;
	return target_alive(t) ? -EACCES : -ESRCH;
}

void target_hba_file(const struct target *t, char *buf, size_t len)
{
	if (variable_text(t, VARIABLE_HBA_FILE, buf, len) || !*buf)
		snprintf(buf, len, "%s/pg_hba.conf", t->session.data_directory);
}

bool target_is_postmaster(const struct target *t)
{
	int32_t postmaster = 0;

	if (variable_read(t, VARIABLE_POSTMASTER_PID, &postmaster, sizeof(postmaster)))
		return true;
	return postmaster == t->server_pid;
}

/* The name that the server's own host has, which in a container isn't ours. */
static void host_name(int pid, char *buf, size_t len)
{
	int back;

	if (namespace_enter(pid, "uts", &back)) {
		/* best guess when the namespace is barred; both end in a line or nothing */
		if (root_read(pid, "etc/hostname", buf, len) < 0)
			gethostname(buf, len);
		buf[strcspn(buf, "\n")] = '\0';
		return;
	}
	if (gethostname(buf, len))
		buf[0] = '\0';
	namespace_leave(back);
	buf[len - 1] = '\0';
}

static void session_read(struct target *t)
{
	struct session *s = &t->session;
	struct utsname kernel;
	char cgroup[PATH_MAX];
	int32_t port = 0;

	snprintf(s->tool, sizeof(s->tool), "pgdnstrace " PGDNSTRACE_VERSION);
	host_name(t->pid, s->host, sizeof(s->host));
	if (!uname(&kernel))
		snprintf(s->kernel, sizeof(s->kernel), "%.63s", kernel.release);
	s->postmaster = t->pid;
	snprintf(s->server_version, sizeof(s->server_version), "%s", t->symbols.version);
	s->server_major = t->symbols.major;
	variable_read(t, VARIABLE_PORT, &port, sizeof(port));
	s->port = port;
	variable_text(t, VARIABLE_CLUSTER_NAME, s->cluster_name, sizeof(s->cluster_name));
	variable_text(t, VARIABLE_DATA_DIRECTORY, s->data_directory, sizeof(s->data_directory));
	variable_text(t, VARIABLE_SOCKET_DIRECTORIES, s->socket_directory,
		      sizeof(s->socket_directory));
	variable_text(t, VARIABLE_LOG_TIMEZONE, s->time_zone, sizeof(s->time_zone));
	/* the first of a list; the verdict's commands name it */
	s->socket_directory[strcspn(s->socket_directory, ",")] = '\0';
	if (proc_read(t->pid, "cgroup", cgroup, sizeof(cgroup)) > 0)
		container_name(cgroup, s->container, sizeof(s->container));
	s->missing_phases = symbols_missing_phases(&t->symbols);
	target_settings(t, &s->settings);
	target_resolver(t, &s->resolver);
}

static int exe_open(struct target *t, struct problem *problem)
{
	char err[256], link[64];
	int ret;

	ret = proc_link(t->pid, "exe", t->exe_name, sizeof(t->exe_name));
	if (ret < 0)
		return ret;
	snprintf(link, sizeof(link), "/proc/%d/exe", t->pid);
	t->exe_fd = open(link, O_RDONLY | O_CLOEXEC);
	if (t->exe_fd < 0)
		return -errno;
	snprintf(t->exe_path, sizeof(t->exe_path), "/proc/self/fd/%d", t->exe_fd);
	ret = symbols_read(t->exe_fd, &t->symbols, err, sizeof(err));
	if (ret)
		return problem_set(problem, ret, EXIT_CANNOT_TRACE,
				   "cannot read the symbols of %s (process %d): %s", t->exe_name,
				   t->pid, err);
	return 0;
}

/* Where the executable's variables are in memory: its header's entry point against the kernel's. */
static int memory_open(struct target *t)
{
	Elf64_Ehdr header;

	if (pread(t->exe_fd, &header, sizeof(header), 0) != sizeof(header))
		return -EIO;
	return memory_load_bias(t->pid, header.e_entry, &t->load_bias);
}

static int open_failed(const struct target *t, int error, struct problem *problem)
{
	if (problem->text[0])
		return error;
	if (error == -EACCES || error == -EPERM)
		return problem_barred(problem, error, t->pid);
	if (error == -ESRCH || error == -ENOENT)
		return problem_set(problem, error, EXIT_NO_POSTMASTER,
				   "process %d ended while it was being opened", t->pid);
	return problem_set(problem, error, EXIT_FAILURE, "cannot open process %d: %s", t->pid,
			   strerror(-error));
}

int target_open_pid(int pid, struct target *t, struct problem *problem)
{
	int ret;

	memset(t, 0, sizeof(*t));
	memset(problem, 0, sizeof(*problem));
	t->pid = pid;
	t->exe_fd = -1;
	/* first, so that all that follows is known to be of one and the same process */
	t->pidfd = syscall(SYS_pidfd_open, pid, 0);
	ret = t->pidfd < 0 ? -errno : exe_open(t, problem);
	if (!ret)
		ret = memory_open(t);
	if (!ret)
		ret = proc_namespace(pid, "net", &t->netns);
	if (!ret) {
		t->server_pid = proc_status_number(pid, "NSpid");
		session_read(t);
		ret = target_alive(t) ? 0 : -ESRCH;
	}
	if (!ret)
		return 0;
	open_failed(t, ret, problem);
	target_close(t);
	return ret;
}

void target_close(struct target *t)
{
	if (!t)
		return;
	if (t->pidfd >= 0)
		close(t->pidfd);
	if (t->exe_fd >= 0)
		close(t->exe_fd);
	t->pidfd = t->exe_fd = -1;
}

bool target_alive(const struct target *t)
{
	struct pollfd ended = { .fd = t->pidfd, .events = POLLIN };

	return poll(&ended, 1, 0) == 0;
}
