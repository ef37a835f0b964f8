/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/safe.h"
#include "target/find.h"
#include "target/open.h"
#include "target/proc.h"

#define POSTMASTERS_MAX 1024

/* Processes that run an executable named postgres and whose parent does not run the same one. */
struct candidates {
	int pids[POSTMASTERS_MAX];
	int count;
};

bool find_is_postgres(const char *exe)
{
	static const char deleted[] = " (deleted)";
	const char *name = strrchr(exe, '/');
	size_t len;

	name = name ? name + 1 : exe;
	len = strlen(name);
	if (len >= sizeof(deleted) && !strcmp(name + len - (sizeof(deleted) - 1), deleted))
		len -= sizeof(deleted) - 1;
	return (len == 8 && !strncmp(name, "postgres", len)) ||
	       (len == 12 && !strncmp(name, "edb-postgres", len));
}

static bool runs_postgres(int pid)
{
	char exe[PATH_TEXT_LEN];

	return proc_link(pid, "exe", exe, sizeof(exe)) > 0 && find_is_postgres(exe);
}

/* Through the link, which leads to the running file whatever has become of its name. */
static bool same_executable(int a, int b)
{
	char path[64];
	struct stat of_a, of_b;

	snprintf(path, sizeof(path), "/proc/%d/exe", a);
	if (stat(path, &of_a))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", b);
	return !stat(path, &of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* The parent, when it runs the same executable: then this is its child. 0: it isn't. */
static int parent_postgres(int pid)
{
	int parent = proc_status_number(pid, "PPid");

	return parent > 0 && same_executable(parent, pid) ? parent : 0;
}

/* The topmost ancestor that runs the same executable: a backend's postmaster, itself for one. */
static int postmaster_of(int pid)
{
	int parent;

	while ((parent = parent_postgres(pid)))
		pid = parent;
	return pid;
}

static bool candidate_visit(int pid, void *context)
{
	struct candidates *found = context;

	if (runs_postgres(pid) && !parent_postgres(pid))
		found->pids[found->count++] = pid;
	return found->count < POSTMASTERS_MAX;
}

/* A visit returns true to stop with this postmaster, which then is the caller's to close. */
typedef bool postmaster_visitor(struct target *t, void *context);

static bool postmasters_each(postmaster_visitor *visit, void *context, struct target *t)
{
	struct candidates found = { .count = 0 };
	struct problem ignored;

	proc_each(candidate_visit, &found);
	for (int i = 0; i < found.count; i++) {
		if (target_open_pid(found.pids[i], t, &ignored))
			continue;
		if (target_is_postmaster(t) && visit(t, context))
			return true;
		target_close(t);
	}
	return false;
}

struct port_search {
	int port;
	int pid; /* of the first one */
	int count;
};

static bool port_visit(struct target *t, void *context)
{
	struct port_search *search = context;

	if (search->port && t->session.port != search->port)
		return false;
	if (!search->count++)
		search->pid = t->pid;
	return false;
}

/* How many postmasters have that port (0: any port), and the pid of the first. */
static int find_port(int port, int *pid)
{
	struct port_search search = { .port = port };
	struct target t;

	postmasters_each(port_visit, &search, &t);
	*pid = search.pid;
	return search.count;
}

static bool process_name(int pid, char *name, size_t len)
{
	char comm[32];

	if (proc_read(pid, "comm", comm, sizeof(comm)) <= 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	safe_terminal(comm, name, len);
	return true;
}

/* Says why that number is no postmaster's, and which one was perhaps meant. */
static int refuse_number(int pid, struct problem *problem)
{
	char name[64];
	bool process = process_name(pid, name, sizeof(name));
	int other;

	if (find_port(pid, &other) > 0)
		return problem_set(
			problem, -ESRCH, EXIT_NO_POSTMASTER,
			"%d is not a postmaster's PID but the port of postmaster %d: use "
			"-p %d or --port %d",
			pid, other, other, pid);
	if (process)
		return problem_set(problem, -ESRCH, EXIT_NO_POSTMASTER,
				   "process %d is %s, not a PostgreSQL postmaster; without -p the "
				   "only one that runs is taken, or all are listed",
				   pid, name);
	return problem_set(problem, -ESRCH, EXIT_NO_POSTMASTER,
			   "there is no process %d; without -p the only postmaster that runs is "
			   "taken, or all are listed",
			   pid);
}

/* 1 or 0; negative errno when it is called so and may not be looked at. */
static int may_be_postgres(int pid)
{
	char exe[PATH_TEXT_LEN], comm[32];
	ssize_t link = proc_link(pid, "exe", exe, sizeof(exe));

	if (link >= 0)
		return find_is_postgres(exe);
	/* everybody may read comm */
	if (proc_read(pid, "comm", comm, sizeof(comm)) > 0 && !strncmp(comm, "postgres", 8) &&
	    (link == -EACCES || link == -EPERM))
		return link;
	return 0;
}

static int open_by_pid(int pid, struct target *t, struct problem *problem)
{
	int readable = may_be_postgres(pid), postmaster, ret;

	if (!readable)
		return refuse_number(pid, problem);
	if (readable < 0)
		return problem_barred(problem, readable, pid);
	postmaster = postmaster_of(pid);
	if (postmaster != pid)
		return problem_set(
			problem, -ESRCH, EXIT_NO_POSTMASTER,
			"process %d is a child of postmaster %d, not a postmaster: use -p %d", pid,
			postmaster, postmaster);
	ret = target_open_pid(pid, t, problem);
	if (ret || target_is_postmaster(t))
		return ret;
	target_close(t);
	return problem_set(
		problem, -ESRCH, EXIT_NO_POSTMASTER,
		"process %d runs postgres but is not a postmaster: a standalone backend, or "
		"one whose postmaster has died",
		pid);
}

static int none_found(struct problem *problem, const char *what)
{
	if (geteuid())
		return problem_set(problem, -EACCES, EXIT_CANNOT_TRACE,
				   "%s that this user may look at: run pgdnstrace as root (sudo)",
				   what);
	return problem_set(problem, -ESRCH, EXIT_NO_POSTMASTER,
			   "%s on this host, in its containers neither", what);
}

/* port 0: whichever it is, if it is the only one. */
static int open_by_port(int port, struct target *t, struct problem *problem)
{
	char what[64];
	int pid, count = find_port(port, &pid);

	if (count == 1)
		return target_open_pid(pid, t, problem);
	snprintf(what, sizeof(what), "%s postmaster", count ? "more than one" : "no");
	if (port)
		snprintf(what + strlen(what), sizeof(what) - strlen(what), " has port %d", port);
	else
		snprintf(what + strlen(what), sizeof(what) - strlen(what), " runs");
	if (!count)
		return none_found(problem, what);
	problem->several = true;
	return problem_set(problem, -EINVAL, EXIT_USAGE, "%s; say which with -p PID:", what);
}

static bool directory_visit(struct target *t, void *context)
{
	const struct stat *wanted = context;
	struct stat cwd;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cwd", t->pid);
	return !stat(path, &cwd) && cwd.st_dev == wanted->st_dev && cwd.st_ino == wanted->st_ino;
}

/* The first line of postmaster.pid; -errno. */
static int pid_file_read(const char *pgdata)
{
	char path[PATH_TEXT_LEN], line[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/postmaster.pid", pgdata);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* the folder is not ours: it may be a FIFO */
	if (fd < 0)
		return -errno;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	return atoi(line);
}

/*
 * A postmaster works in its data directory: that finds it also when its PID namespace is another
 * and the file's number means nothing here.
 */
static int open_by_directory(const char *pgdata, struct target *t, struct problem *problem)
{
	char shown[PATH_TEXT_LEN];
	struct stat wanted;
	int error = stat(pgdata, &wanted) ? -errno : 0;
	int pid = error ? error : pid_file_read(pgdata);

	safe_terminal(pgdata, shown, 512);
	if (pid == -EACCES)
		return problem_set(problem, pid, EXIT_CANNOT_TRACE,
				   "%s may not be read: run pgdnstrace as root (sudo)", shown);
	if (error)
		return problem_set(problem, error, EXIT_NO_POSTMASTER, "no data directory %s: %s",
				   shown, strerror(-error));
	if (pid < 0)
		return problem_set(problem, pid, EXIT_NO_POSTMASTER,
				   "no server runs in %s: there is no postmaster.pid", shown);
	if (postmasters_each(directory_visit, &wanted, t))
		return 0;
	if (geteuid())
		return none_found(problem, "no postmaster runs");
	return problem_set(
		problem, -ESRCH, EXIT_NO_POSTMASTER,
		"no server runs in %s: its postmaster.pid names %d, which is left over from "
		"a server that died",
		shown, pid);
}

int target_open(const struct target_query *q, struct target *t, struct problem *problem)
{
	memset(problem, 0, sizeof(*problem));
	if (q->pid)
		return open_by_pid(q->pid, t, problem);
	if (q->pgdata)
		return open_by_directory(q->pgdata, t, problem);
	return open_by_port(q->port, t, problem);
}

struct list {
	FILE *out;
	int count;
};

static bool list_visit(struct target *t, void *context)
{
	struct list *list = context;
	const struct session *s = &t->session;
	char cluster[TEXT_LEN], directory[PATH_TEXT_LEN], container[TEXT_LEN];

	if (!list->count++)
		fprintf(list->out, "%8s %5s %-8s %-12s %-32s %s\n", "pid", "port", "version",
			"cluster_name", "data directory", "container");
	fprintf(list->out, "%8d %5d %-8s %-12s %-32s %s\n", t->pid, s->port,
		s->server_version[0] ? s->server_version : "?",
		s->cluster_name[0] ? safe_terminal(s->cluster_name, cluster, sizeof(cluster)) : "-",
		safe_terminal(s->data_directory, directory, sizeof(directory)),
		s->container[0] ? safe_terminal(s->container, container, sizeof(container)) : "-");
	return false;
}

int target_list(FILE *out)
{
	struct list list = { .out = out };
	struct target t;

	postmasters_each(list_visit, &list, &t);
	return list.count;
}
