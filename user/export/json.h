/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON written as it comes, without a tree: what a stream of any length needs. Commas are set by
 * the writer; '<' is escaped, so that a value can stand in an HTML script element.
 * Errors stay in the stream: ask ferror() once in a while.
 */
#ifndef PGDNSTRACE_EXPORT_JSON_H
#define PGDNSTRACE_EXPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma; /* the next value or key needs one before it */
};

void json_open(struct json *j, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket); /* '}' or ']' */
void json_key(struct json *j, const char *key); /* trusted: written as it is */
void json_text(struct json *j, const char *text); /* hostile: made valid UTF-8 and escaped */
void json_int(struct json *j, int64_t value);
void json_int_text(struct json *j, int64_t value); /* "123": how protobuf's JSON has 64 bits */
void json_us(struct json *j, int64_t ns); /* microseconds with three decimals */
void json_double(struct json *j, double value); /* not finite: null */
void json_bool(struct json *j, bool value);

/* key and value in one */
void json_put_text(struct json *j, const char *key, const char *text);
void json_put_int(struct json *j, const char *key, int64_t value);
void json_put_us(struct json *j, const char *key, int64_t ns);
void json_put_bool(struct json *j, const char *key, bool value);

/* Integers as text, fast: exports write a million rows of them. */
void put_int(FILE *out, int64_t value);
void put_us(FILE *out, int64_t ns); /* "13201.247" */

#endif
