/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safe.h"
#include "keep/trace_decode.h"
#include "model/filter.h"

#define READ_BYTES 65536 /* at a time: the buffer's pages are used only for lines that need them   \
			  */

struct trace_reader {
	int fd;
	char name[1024]; /* for messages */
	uint64_t line_number;
	size_t begin, end; /* of what was read and not yet taken, in buf */
	bool at_eof, complete, filtered;
	bool started;            /* the first line was looked at */
	bool again;              /* and was not told yet */
	struct json_value *line; /* the last one; points into buf, as events may */
	struct json_in json;
	char buf[TRACE_LINE_MAX + 1];
};

__attribute__((format(printf, 3, 4))) static void say(char *err, size_t len, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, len, format, args);
	va_end(args);
}

/* More bytes behind those at hand: 0, or -errno. */
static int reader_fill(struct trace_reader *r)
{
	size_t room;
	ssize_t n;

	if (r->begin) {
		memmove(r->buf, r->buf + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	room = TRACE_LINE_MAX - r->end;
	do
		n = read(r->fd, r->buf + r->end, room < READ_BYTES ? room : READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->end += n;
	r->at_eof = !n;
	return 0;
}

/*
 * The next line without its newline: 1, 0 at the end, -EMSGSIZE for one that is too long, or
 * -errno. whole is false for a last line without a newline.
 */
static int reader_line(struct trace_reader *r, char **line, size_t *len, bool *whole)
{
	size_t seen = 0;
	char *newline;
	int err;

	for (;;) {
		*line = r->buf + r->begin;
		newline = memchr(*line + seen, '\n', r->end - r->begin - seen);
		if (newline || r->at_eof)
			break;
		seen = r->end - r->begin;
		if (seen == TRACE_LINE_MAX)
			return -EMSGSIZE;
		err = reader_fill(r);
		if (err)
			return err;
	}
	*whole = newline;
	*len = (newline ? newline : r->buf + r->end) - *line;
	r->begin += *len + *whole;
	r->line_number++;
	return newline || *len;
}

static int say_read_error(struct trace_reader *r, int problem, char *err, size_t err_len)
{
	if (problem == -EMSGSIZE)
		say(err, err_len, "%s, line %llu: longer than %d MiB: not a line of a trace",
		    r->name, (unsigned long long)r->line_number + 1, TRACE_LINE_MAX >> 20);
	else
		say(err, err_len, "cannot read %s: %s", r->name, strerror(-problem));
	return problem;
}

static int say_foreign(struct trace_reader *r, char *err, size_t err_len)
{
	say(err, err_len, "%s is not a trace of pgdnstrace: its first line is no \"start\"",
	    r->name);
	return -EINVAL;
}

/* The line that makes the file one of ours, of a format that we know. */
static int check_first(struct trace_reader *r, struct json_value *line, char *err, size_t err_len)
{
	struct json_value *type = json_in_find(line, "type");
	struct json_value *format = json_in_find(line, "format");
	int64_t number;

	if (!type || type->kind != JSON_IN_TEXT || strcmp(type->text, "start") || !format ||
	    !json_in_int(format, &number))
		return say_foreign(r, err, err_len);
	if (number == TRACE_FORMAT)
		return 0;
	say(err, err_len, "%s has trace format %lld, and this pgdnstrace reads format %d", r->name,
	    (long long)number, TRACE_FORMAT);
	return -EPROTONOSUPPORT;
}

/* Parses the next line that is not empty into r->line: 1, 0 at the end, or -errno. */
static int reader_parse(struct trace_reader *r, char *err, size_t err_len)
{
	char *text;
	size_t len;
	bool whole;
	int ret;

	do {
		ret = reader_line(r, &text, &len, &whole);
		if (ret < 0)
			return say_read_error(r, ret, err, err_len);
	} while (ret && !len);
	if (!ret)
		return 0;
	text[len] = '\0'; /* in place of the newline, or behind the end of what was read */
	r->line = json_in_parse(&r->json, text, len);
	if (r->line && r->line->kind == JSON_IN_OBJECT)
		return 1;
	if (!r->started)
		return say_foreign(r, err, err_len);
	if (!whole) /* cut off in the middle of a line: the end of what can be known */
		return 0;
	say(err, err_len, "%s, line %llu, byte %zu: %s", r->name,
	    (unsigned long long)r->line_number, r->line ? 1 : r->json.error_at + 1,
	    r->line ? "not an object" : r->json.error);
	return -EINVAL;
}

/* Follows the stream: what was read last says whether the file is whole, and what it holds. */
static void reader_note(struct trace_reader *r, const struct event *ev)
{
	r->complete = ev->type == EVENT_END;
	if (ev->type == EVENT_START && filter_text_drops_short(ev->start.filter))
		r->filtered = true;
}

int trace_next(struct trace_reader *r, struct event *ev, char *err, size_t err_len)
{
	const char *field;
	int ret;

	do {
		ret = r->again ? 1 : reader_parse(r, err, err_len);
		if (ret <= 0)
			return ret;
		r->again = false;
		ret = trace_decode(r->line, ev, &field);
	} while (!ret);
	if (ret < 0) {
		say(err, err_len,
		    "%s, line %llu: field \"%s\" is missing or is not what it should be", r->name,
		    (unsigned long long)r->line_number, field);
		return ret;
	}
	reader_note(r, ev);
	return 1;
}

/* Looks at the first line without taking it. */
static int reader_start(struct trace_reader *r, char *err, size_t err_len)
{
	int ret = reader_parse(r, err, err_len);

	if (ret < 0)
		return ret;
	if (!ret) {
		say(err, err_len, "%s is empty", r->name);
		return -ENODATA;
	}
	ret = check_first(r, r->line, err, err_len);
	if (ret)
		return ret;
	r->started = r->again = true;
	return 0;
}

int trace_open(struct trace_reader **out, const char *path, char *err, size_t err_len)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	bool standard_input = !strcmp(path, "-");
	int ret;

	if (!r) {
		say(err, err_len, "out of memory");
		return -ENOMEM;
	}
	safe_terminal(standard_input ? "standard input" : path, r->name, sizeof(r->name));
	r->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	ret = r->fd < 0 ? say_read_error(r, -errno, err, err_len) : reader_start(r, err, err_len);
	if (ret) {
		trace_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

bool trace_complete(const struct trace_reader *r)
{
	return r->complete;
}

bool trace_filtered(const struct trace_reader *r)
{
	return r->filtered;
}

const char *trace_name(const struct trace_reader *r)
{
	return r->name;
}

void trace_close(struct trace_reader *r)
{
	if (!r)
		return;
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	free(r);
}
