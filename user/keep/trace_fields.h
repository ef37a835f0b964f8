/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of a parsed line of a trace, each by its key and kind. An absent field leaves what it
 * would fill as it is; one that is not what it should be is noted. Used by trace_decode.c alone.
 */
#ifndef PGDNSTRACE_TRACE_FIELDS_H
#define PGDNSTRACE_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_in.h"

/*
 * What times and durations may be, in ns: from 1970 to 2198, and 63 years. An instant and a duration
 * added, and the distance of any two instants, then fit 64 bits: those that read a trace sort
 * connections into seconds and slots by them.
 */
#define FIELDS_TIME_MAX 7200000000000000000
#define FIELDS_SPAN_MAX 2000000000000000000

/* The first field that is not what it should be; everything goes on, the line is refused at the
 * end. */
struct fields {
	const char *bad;
};

void fields_bad(struct fields *d, const char *field);
/* The value of a key when it is of that kind; NULL. */
struct json_value *fields_find(struct fields *d, struct json_value *o, const char *key,
			       enum json_kind kind);
/* The first element of a list or object, NULL for none. */
struct json_value *fields_child(const struct json_value *v);
/* True when the field is there and well formed; so for the two below. */
bool fields_text(struct fields *d, struct json_value *o, const char *key, char *buf, size_t len);
bool fields_bool(struct fields *d, struct json_value *o, const char *key, bool *out);
bool fields_int(struct fields *d, struct json_value *o, const char *key, int64_t least,
		int64_t most, int64_t *out);
/* 0 when the field is absent; so for the two below. */
int fields_number(struct fields *d, struct json_value *o, const char *key, int least, int most);
uint64_t fields_count(struct fields *d, struct json_value *o, const char *key);
/* "at", wall clock ns. */
int64_t fields_time(struct fields *d, struct json_value *o);
/* Durations of our format, in ns. */
bool fields_signed_us(struct fields *d, struct json_value *o, const char *key, int64_t *ns);
bool fields_us(struct fields *d, struct json_value *o, const char *key, uint64_t *ns);
/* A word of one of the model's tables; fallback when it is absent. */
int fields_word(struct fields *d, struct json_value *o, const char *key, int (*parse)(const char *),
		int fallback);
/* Durations by name; names we do not know are of a later version. Returns bits. */
unsigned int fields_spans(struct fields *d, struct json_value *o, const char *key,
			  uint64_t *spans_ns, int (*parse)(const char *), int count);
/* Names as bits; names we do not know are of a later version. */
unsigned int fields_bits(struct fields *d, struct json_value *o, const char *key,
			 int (*parse)(const char *), int count);
/* A list of texts into an array of texts, stride bytes apart. Returns how many. */
unsigned int fields_list(struct fields *d, struct json_value *o, const char *key, char *first,
			 size_t stride, size_t max);

#define FIELDS_TEXT(d, o, key, array) fields_text(d, o, key, array, sizeof(array))
#define FIELDS_LIST(d, o, key, array)                                                              \
	fields_list(d, o, key, array[0], sizeof(array[0]), sizeof(array) / sizeof(array[0]))

#endif
