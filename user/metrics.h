/* SPDX-License-Identifier: BSD-2-Clause */
/* --prometheus FILE and --listen ADDR:PORT: the model as metrics, rendered anew at each refresh. */
#ifndef PGDNSTRACE_METRICS_H
#define PGDNSTRACE_METRICS_H

#include "model/stats.h"

struct metrics_http;

struct metrics {
	const char *file; /* NULL: none */
	struct metrics_http *http; /* NULL: none */
	bool failed; /* something could not be written: said once, and the program exits with 1 */
};

/* file and listen may be NULL. 0, or -errno with a sentence in err. */
int metrics_open(struct metrics *m, const char *file, const char *listen, char *err, size_t err_len);
void metrics_update(struct metrics *m, struct stats *s);
void metrics_close(struct metrics *m);

#endif
