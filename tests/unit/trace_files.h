/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces in memory: files without a folder, named through /proc/self/fd. */
#ifndef PGDNSTRACE_TRACE_FILES_H
#define PGDNSTRACE_TRACE_FILES_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "keep/trace.h"

#define START_LINE                                                                                 \
	"{\"type\":\"start\",\"format\":1,\"tool\":\"pgdnstrace 0.1.0\","                          \
	"\"at\":\"2026-10-02T03:14:00.000000Z\",\"host\":\"db1\",\"port\":5432}\n"
#define END_LINE                                                                                   \
	"{\"type\":\"end\",\"at\":\"2026-10-02T03:15:00.000000Z\",\"reason\":\"interrupted\","     \
	"\"connections\":0}\n"

struct memory_file {
	int fd;
	char path[32];
};

static inline struct memory_file memory_file(const void *bytes, size_t size)
{
	struct memory_file f = { .fd = memfd_create("trace", MFD_CLOEXEC) };

	assert_true(f.fd >= 0);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	assert_int_equal(write(f.fd, bytes, size), size);
	return f;
}

/* Reads to the end: 0 or the error; counts events, keeps the last message and whether it had an
 * end. */
struct reading {
	int ret;
	unsigned int events;
	bool complete, filtered;
	char err[TRACE_ERR_LEN];
	struct event last;
};

static inline struct reading read_bytes(const void *bytes, size_t size)
{
	struct memory_file f = memory_file(bytes, size);
	struct reading r = { 0 };
	struct trace_reader *reader = NULL;

	r.ret = trace_open(&reader, f.path, r.err, sizeof(r.err));
	while (!r.ret) {
		int ret = trace_next(reader, &r.last, r.err, sizeof(r.err));

		r.ret = ret < 0 ? ret : 0;
		if (ret <= 0)
			break;
		r.events++;
	}
	if (reader) {
		r.complete = trace_complete(reader);
		r.filtered = trace_filtered(reader);
	}
	trace_close(reader);
	close(f.fd);
	return r;
}

static inline struct reading read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

#endif
