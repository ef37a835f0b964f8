/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/window_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "keep/trace.h"

#define WINDOW_MODE     0600
#define WINDOW_SUFFIX   ".jsonl"
#define WINDOW_NAME_LEN 192
#define WINDOW_TIME     "%Y%m%dT%H%M%SZ"
#define WINDOW_TIME_LEN 16 /* of its text */

/* "pgdnstrace-HOST-PORT-", the host's name with what is no part of a plain file name taken out. */
static void name_prefix(const struct session *s, char *prefix, size_t len)
{
	char host[64];
	size_t i;

	for (i = 0; s->host[i] && i < sizeof(host) - 1; i++) {
		unsigned char c = s->host[i];

		host[i] = c < 0x80 && (isalnum(c) || c == '.' || c == '_' || c == '-') ? c : '_';
	}
	host[i] = '\0';
	snprintf(prefix, len, "pgdnstrace-%s-%d-", *host ? host : "unknown", s->port);
}

int window_file_path(const char *dir, const struct session *s, int64_t at_ns, char *path,
		     size_t len)
{
	time_t t = at_ns / (int64_t)NS_PER_S;
	char prefix[WINDOW_NAME_LEN], stamp[32];
	struct tm tm;
	int size;

	name_prefix(s, prefix, sizeof(prefix));
	strftime(stamp, sizeof(stamp), WINDOW_TIME, gmtime_r(&t, &tm));
	size = snprintf(path, len, "%s/%s%s" WINDOW_SUFFIX, dir, prefix, stamp);
	for (int n = 2; size < (int)len && n < 100 && !access(path, F_OK); n++)
		size = snprintf(path, len, "%s/%s%s-%d" WINDOW_SUFFIX, dir, prefix, stamp, n);
	return size < (int)len ? 0 : -ENAMETOOLONG;
}

/* A whole window of that server: prefix, time, perhaps a number, suffix. */
static bool is_window(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *time = name + len;

	if (strncmp(name, prefix, len) || strlen(time) < WINDOW_TIME_LEN)
		return false;
	for (int i = 0; i < WINDOW_TIME_LEN; i++)
		if (i == 8    ? time[i] != 'T'
		    : i == 15 ? time[i] != 'Z'
			      : !isdigit((unsigned char)time[i]))
			return false;
	time += WINDOW_TIME_LEN;
	if (*time == '-')
		time += 1 + strspn(time + 1, "0123456789");
	return !strcmp(time, WINDOW_SUFFIX);
}

/* How many there are, and the oldest of them. */
static unsigned int find_oldest(DIR *dir, const char *prefix, char *oldest, size_t len)
{
	unsigned int count = 0;

	*oldest = '\0';
	rewinddir(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (!is_window(e->d_name, prefix))
			continue;
		if (!count++ || strcmp(e->d_name, oldest) < 0)
			snprintf(oldest, len, "%s", e->d_name);
	}
	return count;
}

void window_file_prune(const char *path, const struct session *s, unsigned int keep)
{
	char prefix[WINDOW_NAME_LEN], oldest[NAME_MAX + 1];
	DIR *dir = opendir(path);

	if (!dir)
		return;
	name_prefix(s, prefix, sizeof(prefix));
	while (find_oldest(dir, prefix, oldest, sizeof(oldest)) > keep)
		if (unlinkat(dirfd(dir), oldest, 0))
			break;
	closedir(dir);
}

int window_file_open(struct window_file *f, const char *path)
{
	memset(f, 0, sizeof(*f));
	return file_atomic_open(&f->file, path, WINDOW_MODE);
}

static void count_conn(struct window_file *f, enum outcome outcome, bool told)
{
	if (outcome < OUTCOME_COUNT)
		f->totals.outcomes[outcome]++;
	f->totals.filtered += !told;
}

static int write_entry(void *ctx, const struct backlog_entry *e)
{
	struct event ev = { .type = e->type, .at_ns = e->at_ns };
	struct window_file *f = ctx;

	if (e->type == EVENT_SETTINGS) {
		memcpy(&ev.settings, e->line, sizeof(ev.settings));
		return trace_write(f->file.out, &ev);
	}
	if (e->type == EVENT_CONN)
		count_conn(f, e->outcome, e->len);
	errno = EIO;
	return fwrite(e->line, 1, e->len, f->file.out) == e->len ? 0 : -errno;
}

int window_file_backlog(struct window_file *f, const struct event *start, struct backlog *b,
			int64_t now_ns)
{
	struct event begun = *start;
	int64_t from_ns = backlog_from_ns(b, now_ns);
	int err;

	if (from_ns > begun.at_ns)
		begun.at_ns = from_ns;
	begun.start.settings = *backlog_settings(b);
	f->lost_before = backlog_lost(b);
	err = trace_write(f->file.out, &begun);
	return err ? err : backlog_each(b, write_entry, f);
}

int window_file_trigger(struct window_file *f, int64_t now_ns, const struct condition *c,
			double value, uint64_t cut_off)
{
	struct event ev = { .type = EVENT_TRIGGER, .at_ns = now_ns };

	snprintf(ev.trigger.condition, sizeof(ev.trigger.condition), "%s", c ? c->text : "by hand");
	ev.trigger.has_value = c;
	ev.trigger.value = value;
	ev.trigger.cut_off = cut_off;
	return trace_write(f->file.out, &ev);
}

int window_file_event(struct window_file *f, const struct event *ev, bool told)
{
	if (ev->type == EVENT_CONN)
		count_conn(f, ev->conn.outcome, told);
	if (ev->type == EVENT_IN_SETUP)
		f->totals.in_setup += ev->conn.phase != PHASE_UNKNOWN;
	return told ? trace_write(f->file.out, ev) : 0;
}

int window_file_in_setup(struct window_file *f, const struct event *sweep,
			 const struct filter *filter, bool last)
{
	struct event ev = { .type = EVENT_IN_SETUP, .at_ns = sweep->at_ns };
	int err = 0;

	for (size_t i = 0; i < sweep->sweep.count && !err; i++) {
		ev.conn = sweep->sweep.list[i];
		if (ev.conn.phase == PHASE_UNKNOWN)
			continue;
		f->totals.in_setup += last;
		if (filter_match(filter, &ev.conn))
			err = trace_write(f->file.out, &ev);
	}
	return err;
}

int window_file_flush(struct window_file *f)
{
	errno = EIO;
	return fflush(f->file.out) ? -errno : 0;
}

int window_file_commit(struct window_file *f, int64_t now_ns, const char *reason,
		       const struct tick *tick)
{
	struct event ev = { .type = EVENT_END, .at_ns = now_ns, .end = f->totals };
	int err;

	snprintf(ev.end.reason, sizeof(ev.end.reason), "%s", reason);
	ev.end.lost = tick_lost(tick) - f->lost_before;
	ev.end.before_start = tick->before_start;
	end_sum(&ev.end);
	err = trace_write(f->file.out, &ev);
	if (!err)
		return file_atomic_commit(&f->file);
	file_atomic_abort(&f->file);
	return err;
}

void window_file_abort(struct window_file *f)
{
	file_atomic_abort(&f->file);
}
