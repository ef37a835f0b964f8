/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of one incident window: its name, its lines, its totals, and which old ones go. */
#ifndef PGDNSTRACE_WINDOW_FILE_H
#define PGDNSTRACE_WINDOW_FILE_H

#include "keep/backlog.h"
#include "keep/condition.h"
#include "keep/file.h"
#include "model/filter.h"

struct window_file {
	struct file_atomic file;
	uint64_t lost_before;
	struct end totals;
};

/*
 * "DIR/pgdnstrace-HOST-PORT-20261002T031412Z.jsonl"; a free name, should there be one already.
 * 0 or -ENAMETOOLONG.
 */
int window_file_path(const char *dir, const struct session *s, int64_t at_ns, char *path,
		     size_t len);
/* Removes the oldest of the server's windows in dir beyond keep; other names are left alone. */
void window_file_prune(const char *dir, const struct session *s, unsigned int keep);

/* All return 0 or -errno. Until window_file_commit() the file has a temporary name. */
int window_file_open(struct window_file *f, const char *path);
/* The start, as of the backlog's beginning, and what the backlog holds. */
int window_file_backlog(struct window_file *f, const struct event *start, struct backlog *b,
			int64_t now_ns);
/* c is NULL when a person asked. */
int window_file_trigger(struct window_file *f, int64_t now_ns, const struct condition *c,
			double value, uint64_t cut_off);
/* told: as for backlog_put(). */
int window_file_event(struct window_file *f, const struct event *ev, bool told);
/* Those in setup; last: at the end of the window, where they are counted. */
int window_file_in_setup(struct window_file *f, const struct event *sweep,
			 const struct filter *filter, bool last);
int window_file_flush(struct window_file *f);
/* The end with the totals; then the file has its name. On failure it is gone. */
int window_file_commit(struct window_file *f, int64_t now_ns, const char *reason,
		       const struct tick *tick);
void window_file_abort(struct window_file *f);

#endif
