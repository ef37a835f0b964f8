/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host name rules of pg_hba.conf, which make the server look names up during authentication
 * whatever log_hostname says. Read as PostgreSQL reads it (tokenize_auth_file() of 13 to 18):
 * quotes, lists, @files, continued lines (14+), include, include_if_exists, include_dir (16+).
 */
#ifndef PGDNSTRACE_HBA_H
#define PGDNSTRACE_HBA_H

#include <stdbool.h>

#define HBA_PATH_LEN 1024
#define HBA_RULES    32
#define HBA_PROBLEMS 8

struct hba_rule {
	char name[256]; /* "app.example", ".example" */
	char file[HBA_PATH_LEN]; /* as the server sees it */
	int line;
};

struct hba {
	int rule_count; /* of every kind */
	int name_count; /* those with a host name; HBA_RULES of them are in names[] */
	struct hba_rule names[HBA_RULES];
	int problem_count;
	char problems[HBA_PROBLEMS][HBA_PATH_LEN + 128]; /* files that could not be read, and why */
};

/*
 * Reads path and what it includes behind the root of process pid, by the rules of that major
 * version. 0, or -errno of path itself; troubles with included files stand in problems.
 */
int hba_read(int pid, const char *path, int major, struct hba *h);

#endif
