/* SPDX-License-Identifier: BSD-2-Clause */
#include "check/measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define STATE_ESTABLISHED 1
#define STATE_TIME_WAIT	  6

/* -- whom -- */

/* The kernel prints each 32-bit word of an address in host order. */
static bool peer_parse(const char *hex, struct addr *a)
{
	uint32_t words[4] = { 0 };
	int count = strlen(hex) / 8;

	if (count != 1 && count != 4)
		return false;
	memset(a, 0, sizeof(*a));
	for (int i = 0; i < count; i++)
		if (sscanf(hex + 8 * i, "%8x", &words[i]) != 1)
			return false;
	a->family = count == 1 ? ADDR_V4 : ADDR_V6;
	memcpy(a->bytes, words, sizeof(words[0]) * count);
	if (count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff)) {
		memset(a, 0, sizeof(*a));
		a->family = ADDR_V4;
		memcpy(a->bytes, &words[3], sizeof(words[3]));
	}
	return true;
}

static void peer_add(const struct addr *peer, struct addr *clients, int *count, int max)
{
	for (int i = 0; i < *count; i++)
		if (addr_equal(&clients[i], peer))
			return;
	if (*count < max)
		clients[(*count)++] = *peer;
}

static void peers_read(const struct target *t, const char *table, struct addr *clients, int *count,
		       int max)
{
	char path[64], line[512], peer_hex[40];
	unsigned int port, state;
	struct addr peer;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", t->pid, table);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*d: %*32[0-9A-F]:%x %32[0-9A-F]:%*x %x", &port, peer_hex, &state) != 3)
			continue;
		if ((int)port != t->session.port || (state != STATE_ESTABLISHED && state != STATE_TIME_WAIT))
			continue;
		if (peer_parse(peer_hex, &peer))
			peer_add(&peer, clients, count, max);
	}
	if (f)
		fclose(f);
}

int measure_clients(const struct target *t, struct addr *clients, int max)
{
	int count = 0;

	peers_read(t, "tcp", clients, &count, max);
	peers_read(t, "tcp6", clients, &count, max);
	return count;
}

/* -- how long -- */

static int join(const struct target *t, const char *name)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", t->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = setns(fd, 0) ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * The C library loads what the server's nsswitch.conf names, from the server's files: that must not
 * run with more rights than the server itself has.
 */
static int become_user(const struct stat *server)
{
	if (geteuid() != 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(server->st_gid, server->st_gid, server->st_gid) ||
	    setresuid(server->st_uid, server->st_uid, server->st_uid))
		return -errno;
	return 0;
}

/* In a child: become a neighbour of the server. Its root may lie below its namespace's. */
static int become_neighbour(const struct target *t)
{
	struct stat server;
	char path[64];
	int root, ret;

	snprintf(path, sizeof(path), "/proc/%d", t->pid);
	if (stat(path, &server))
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/root", t->pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	ret = join(t, "net");
	if (!ret)
		ret = join(t, "mnt");
	if (!ret && (fchdir(root) || chroot(".")))
		ret = -errno;
	close(root);
	return ret ? ret : become_user(&server);
}

static socklen_t sockaddr_of(const struct addr *a, struct sockaddr_storage *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	if (a->family == ADDR_V4) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, a->bytes, sizeof(in->sin_addr));
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	memcpy(&in6->sin6_addr, a->bytes, sizeof(in6->sin6_addr));
	return sizeof(*in6);
}

static void look_up(struct measurement *m)
{
	uint64_t from_ns = clock_mono_ns();
	struct sockaddr_storage sa;
	socklen_t len = sockaddr_of(&m->address, &sa);
	struct addr told;

	/* as the server asks for log_hostname: without a name the number is the answer */
	m->code = getnameinfo((struct sockaddr *)&sa, len, m->name, sizeof(m->name), NULL, 0, 0);
	m->dur_ns = clock_mono_ns() - from_ns;
	m->result = m->code ? RESULT_FAILED : RESULT_NAME;
	if (m->code == EAI_NONAME ||
	    (!m->code && !addr_parse(m->name, &told) && addr_equal(&told, &m->address)))
		m->result = RESULT_NO_NAME;
}

static void child(const struct target *t, struct measurement *m, int fd)
{
	int error = become_neighbour(t);

	if (!error)
		look_up(m);
	/* the pipe holds both whole: PIPE_BUF is more */
	if (write(fd, &error, sizeof(error)) != sizeof(error) || write(fd, m, sizeof(*m)) != sizeof(*m))
		_exit(1);
	_exit(0);
}

static int start(const struct target *t, struct measurement *m, int *fd, pid_t *pid)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (*pid == 0)
		child(t, m, ends[1]);
	close(ends[1]);
	if (*pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	*fd = ends[0];
	return 0;
}

/* What came of one child by the deadline; a child that died without a word has failed. */
static int collect(int fd, uint64_t deadline_ns, struct measurement *m)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now_ns = clock_mono_ns();
	struct measurement got;
	int error = 0;

	m->result = RESULT_PENDING;
	m->dur_ns = MEASURE_LIMIT_S * NS_PER_S;
	if (poll(&poll_fd, 1, now_ns < deadline_ns ? (deadline_ns - now_ns) / NS_PER_MS : 0) <= 0)
		return 0;
	if (read(fd, &error, sizeof(error)) != sizeof(error))
		return -EIO;
	if (error)
		return error;
	if (read(fd, &got, sizeof(got)) != sizeof(got))
		return -EIO;
	*m = got;
	return 0;
}

int measure_lookups(const struct target *t, const struct addr *clients, int count,
		    struct measurement *m)
{
	uint64_t deadline_ns = clock_mono_ns() + MEASURE_LIMIT_S * NS_PER_S;
	int fds[MEASURE_MAX], started = 0, ret = 0, one;
	pid_t pids[MEASURE_MAX];

	for (; started < count && !ret; started += !ret) {
		memset(&m[started], 0, sizeof(m[started]));
		m[started].address = clients[started];
		ret = start(t, &m[started], &fds[started], &pids[started]);
	}
	for (int i = 0; i < started; i++) {
		one = collect(fds[i], deadline_ns, &m[i]);
		ret = ret ? ret : one;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		close(fds[i]);
	}
	return ret;
}
