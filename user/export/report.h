/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace as one self-contained HTML page, for people who were not there. Made in memory that does
 * not grow with the trace; names are text on the page, whatever they hold.
 */
#ifndef PGDNSTRACE_REPORT_H
#define PGDNSTRACE_REPORT_H

#include <stdio.h>

#include "export/report_data.h"

struct report_options {
	const char *file; /* the trace's name, as the page shows it */
	bool resolve; /* ask for the names of the clients now */
	bool complete; /* the trace has its end */
};

/* Writes the page. 0 or -errno. */
int report_write(FILE *out, struct report_data *d, const struct report_options *o);

/* The page's data, JSON, NUL-terminated, as report.js reads it; the caller frees it. NULL: no memory. */
char *report_page_json(struct report_data *d, const struct report_options *o);

#endif
