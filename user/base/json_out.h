/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON text into a buffer, value by value, without building it first: traces and exports
 * write up to 100,000 objects a second, and jansson takes too long for that. Commas are put by
 * themselves. Numbers do not depend on the locale. Text may be hostile: broken UTF-8 becomes
 * U+FFFD, control characters \uXXXX.
 */
#ifndef PGDNSTRACE_JSON_OUT_H
#define PGDNSTRACE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_out {
	char *buf;
	size_t len, used;
	bool full; /* something did not fit: buf is worthless */
};

void json_put_start(struct json_out *j, char *buf, size_t len);

/* key is NULL in a list and at the top. bracket is '{' or '[', and '}' or ']'. */
void json_put_open(struct json_out *j, const char *key, char bracket);
void json_put_close(struct json_out *j, char bracket);

void json_put_text(struct json_out *j, const char *key, const char *text);
void json_put_bool(struct json_out *j, const char *key, bool value);
void json_put_null(struct json_out *j, const char *key);
void json_put_int(struct json_out *j, const char *key, int64_t value);
void json_put_uint(struct json_out *j, const char *key, uint64_t value);
/* Nanoseconds as microseconds with three decimals: 13201247 is 13201.247. */
void json_put_us(struct json_out *j, const char *key, int64_t ns);
/* With up to six decimals; null when it is no number. */
void json_put_real(struct json_out *j, const char *key, double value);
/* RFC 3339. */
void json_put_time(struct json_out *j, const char *key, int64_t real_ns);
/* Bytes as they are, e.g. the newline behind a line. */
void json_put_raw(struct json_out *j, const char *bytes, size_t size);

#endif
