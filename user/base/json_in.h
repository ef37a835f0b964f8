/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads one line of JSON (RFC 8259, strictly) into a fixed array of values, strings unescaped in
 * place: no allocation, no locale, numbers exact. A replay reads 100,000 lines a second, of which
 * jansson alone would take all; everything that is read once uses jansson.
 */
#ifndef PGDNSTRACE_JSON_IN_H
#define PGDNSTRACE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_IN_NULL,
	JSON_IN_BOOL,
	JSON_IN_NUMBER,
	JSON_IN_TEXT,
	JSON_IN_LIST,
	JSON_IN_OBJECT,
};

struct json_value {
	enum json_kind kind;
	bool truth;      /* JSON_IN_BOOL */
	const char *key; /* NULL outside of an object */
	const char
		*text; /* JSON_IN_TEXT: valid UTF-8 without NUL; JSON_IN_NUMBER: where it stands */
	struct json_value *first, *next; /* child, sibling; NULL: none */
	struct json_value *found;        /* where json_in_find() last succeeded */
};

#define JSON_VALUES_MAX 4096 /* more in one line are not ours */
#define JSON_DEPTH_MAX  32

struct json_in {
	struct json_value values[JSON_VALUES_MAX];
	unsigned int count;
	const char *error; /* what is wrong, a few words */
	size_t error_at;   /* byte, from 0 */
	char *text, *at;   /* the line, and how far it was read */
	unsigned int depth;
};

/* Parses text, which is changed, has to end in a NUL, and has to outlive the values. NULL: see
 * error. */
struct json_value *json_in_parse(struct json_in *j, char *text, size_t len);

/* A field of an object; NULL when absent or null, or when o is NULL. Quickest in the order of the
 * text. */
struct json_value *json_in_find(struct json_value *o, const char *key);

/* A whole number in range. */
bool json_in_int(const struct json_value *v, int64_t *out);
/* Microseconds with or without decimals, to the nearest ns. */
bool json_in_us(const struct json_value *v, int64_t *ns);
bool json_in_real(const struct json_value *v, double *out);

#endif
