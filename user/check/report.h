/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What "pgdnstrace check" finds out, and the ways to say it: whether this host can trace the server,
 * and what the server's settings make its connections wait for.
 */
#ifndef PGDNSTRACE_REPORT_H
#define PGDNSTRACE_REPORT_H

#include <stdio.h>

#include "check/measure.h"
#include "target/hba.h"
#include "target/preflight.h"

#define ADVICE_MAX 16
#define ADVICE_LEN 400

struct report {
	struct preflight preflight;
	struct target *target; /* NULL: it could not be opened, and a check says why */

	char hba_file[HBA_PATH_LEN]; /* as the server sees it */
	int hba_error; /* -errno of that file */
	struct hba hba;

	uint64_t longest_ns; /* a reverse lookup that nobody answers; 0: not known */

	bool measured;
	int measure_error;
	int measurement_count;
	struct measurement measurements[MEASURE_MAX];

	int advice_count;
	char advice[ADVICE_MAX][ADVICE_LEN]; /* sentences and SQL, one line each */
};

/* Everything but the measurement; opened: what target_open() said of query's server. */
void report_gather(struct report *r, struct target *opened, const struct problem *problem,
		   const char *btf);
void report_measure(struct report *r);
bool report_can_trace(const struct report *r);
/* True when the log shows the name that log_hostname looks up. */
bool report_log_shows_name(const struct report *r);

/* Whole and flushed: 0 or -errno of the stream. */
int report_text(const struct report *r, FILE *out);
int report_json(const struct report *r, FILE *out);
/* Queries for where the server cannot be reached as a process. */
int report_sql(FILE *out);

#endif
