/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced server: which process, which executable, what its memory says. Read only, without a
 * database login. The only folder that knows libelf.
 *
 * Errors are negative errno, and err gets the sentence for the user: what is wrong, why it
 * matters, what to do. exit_code says which of the program's exit codes it is.
 */
#ifndef PGDNSTRACE_TARGET_H
#define PGDNSTRACE_TARGET_H

#include <stdio.h>
#include <sys/types.h>

#include "base/exit.h"
#include "model/event.h"
#include "target/symbols.h"

struct problem {
	enum exit_code exit_code;
	char text[1024];
	bool several; /* which postmaster? The caller prints target_list() below the text */
};

struct target_query {
	int pid; /* 0: not asked for */
	int port;
	const char *pgdata;
};

struct target {
	int pid;        /* the postmaster, as this host numbers it */
	int server_pid; /* as the server itself numbers it, in its own PID namespace */
	int pidfd;      /* becomes readable when the postmaster ends */
	int exe_fd;     /* /proc/PID/exe, held open: survives the file's replacement */
	char exe_path[64]; /* leads to exe_fd: probes are put where its symbols are, and into no
			      other file, even when the process has ended and its PID is reused */
	char exe_name[PATH_TEXT_LEN]; /* where the link points, for messages; may end in "
					 (deleted)" */
	uint64_t load_bias;           /* run-time address - st_value */
	uint32_t netns;               /* inode of the network namespace, as the kernel's ns.inum */
	struct symbols symbols;       /* of the executable, see symbols.h */
	struct session session; /* everything that can be told of it; settings as of target_open */
};

/* Finds the postmaster that the query means and opens it. No query: the only one that runs. */
int target_open(const struct target_query *q, struct target *t, struct problem *problem);
void target_close(struct target *t);
/* Every postmaster on the host, one line each for "which of these?". Returns their number. */
int target_list(FILE *out);
/* Still the same process. */
bool target_alive(const struct target *t);

/* Reads settings from the postmaster's memory; has_* stays false for what could not be read. */
int target_settings(const struct target *t, struct settings *out);
/* Where its pg_hba.conf is, as the server sees it. */
void target_hba_file(const struct target *t, char *buf, size_t len);
/* Resolver files through the postmaster's root. */
int target_resolver(const struct target *t, struct resolver *out);
/*
 * Length, limit and drops of the listening TCP sockets of the server's port in its network
 * namespace (sock_diag); sums over addresses. -ENOENT: it listens on no TCP address.
 */
struct listen_queue {
	unsigned int length, limit;
	uint64_t drops;
};
struct listen_reader; /* holds a netlink socket that was made in the target's network namespace */
int listen_reader_open(const struct target *t, struct listen_reader **r);
int listen_reader_read(struct listen_reader *r, struct listen_queue *q);
void listen_reader_close(struct listen_reader *r);

/*
 * Children of the postmaster that may be connections already under way: they still carry the
 * postmaster's own command line. Fills at most max pids (host numbering), returns how many.
 * Call twice, 100 ms apart, and keep those seen both times.
 */
int target_untitled_children(const struct target *t, int *pids, int max);

/* A process's number in its own PID namespace; pid itself when that cannot be read. */
int target_inner_pid(int pid);
/* A backend whose title says that it waits for its session's next query. */
bool target_session_idle(int pid);
/* When a process started, wall clock ns; 0 when it is gone. Known to 10 ms. */
int64_t target_process_start(int pid);
/* True when the postmaster runs under a seccomp filter, as containers do. */
bool target_has_seccomp(const struct target *t);

/*
 * A library that the postmaster has mapped ("libc", "libldap", "libpam": matches libc.so.6,
 * libc-2.31.so, ld-musl-x86_64.so.1 for "libc"). path: /proc/PID/map_files/..., which works for
 * chroots, containers and replaced files. -ENOENT when not mapped.
 */
int target_library(const struct target *t, const char *name, char *path, size_t len);

#endif
