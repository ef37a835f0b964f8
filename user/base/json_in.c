/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_in.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/safe.h"

static struct json_value *take_value(struct json_in *j, const char *key);

static void *fail(struct json_in *j, const char *error)
{
	if (!j->error) {
		j->error = error;
		j->error_at = j->at - j->text;
	}
	return NULL;
}

static void skip_space(struct json_in *j)
{
	while (*j->at == ' ' || *j->at == '\t' || *j->at == '\r' || *j->at == '\n')
		j->at++;
}

static bool take_char(struct json_in *j, char c)
{
	skip_space(j);
	if (*j->at != c)
		return false;
	j->at++;
	return true;
}

/* Four hex digits, or -1. */
static int32_t take_hex(struct json_in *j)
{
	int32_t unit = 0;

	for (int i = 0; i < 4; i++, j->at++) {
		if (!isxdigit((unsigned char)*j->at))
			return -1;
		unit = unit << 4 |
		       (isdigit((unsigned char)*j->at) ? *j->at - '0' : (*j->at | 0x20) - 'a' + 10);
	}
	return unit;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = c;
		return to;
	}
	if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
	} else {
		if (c < 0x10000) {
			*to++ = 0xe0 | c >> 12;
		} else {
			*to++ = 0xf0 | c >> 18;
			*to++ = 0x80 | (c >> 12 & 0x3f);
		}
		*to++ = 0x80 | (c >> 6 & 0x3f);
	}
	*to++ = 0x80 | (c & 0x3f);
	return to;
}

/* Behind "\u". A NUL or half a surrogate pair is no character. */
static char *take_unicode(struct json_in *j, char *to)
{
	int32_t unit = take_hex(j), low;

	if (unit <= 0 || (unit >= 0xdc00 && unit < 0xe000))
		return fail(j, "not a character");
	if (unit >= 0xd800 && unit < 0xdc00) {
		if (j->at[0] != '\\' || j->at[1] != 'u')
			return fail(j, "half a surrogate pair");
		j->at += 2;
		low = take_hex(j);
		if (low < 0xdc00 || low >= 0xe000)
			return fail(j, "half a surrogate pair");
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	return put_utf8(to, unit);
}

static char *take_escape(struct json_in *j, char *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *which;

	j->at++;
	if (*j->at == 'u') {
		j->at++;
		return take_unicode(j, to);
	}
	which = *j->at ? strchr(from, *j->at) : NULL;
	if (!which)
		return fail(j, "unknown escape");
	j->at++;
	*to++ = into[which - from];
	return to;
}

/* Behind the opening quote. What it means is never longer than how it is written: in place. */
static const char *take_string(struct json_in *j)
{
	char *start = j->at, *to = start;
	uint32_t c;
	int bytes;

	while (*j->at != '"') {
		if (*j->at == '\\') {
			to = take_escape(j, to);
			if (!to)
				return NULL;
			continue;
		}
		if ((unsigned char)*j->at < 0x20)
			return fail(j, "control byte or end of line in a string");
		bytes = safe_utf8_decode(j->at, &c);
		if (!bytes)
			return fail(j, "broken UTF-8");
		do
			*to++ = *j->at++;
		while (--bytes);
	}
	j->at++;
	*to = '\0';
	return start;
}

static bool take_digits(struct json_in *j)
{
	char *start = j->at;

	while (isdigit((unsigned char)*j->at))
		j->at++;
	return j->at > start;
}

static bool take_number(struct json_in *j)
{
	char *start;

	j->at += *j->at == '-';
	start = j->at;
	if (!take_digits(j) || (*start == '0' && j->at > start + 1))
		return false;
	if (*j->at == '.') {
		j->at++;
		if (!take_digits(j))
			return false;
	}
	if (*j->at == 'e' || *j->at == 'E') {
		j->at++;
		j->at += *j->at == '-' || *j->at == '+';
		return take_digits(j);
	}
	return true;
}

static bool take_word(struct json_in *j, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(j->at, word, len))
		return false;
	j->at += len;
	return true;
}

static struct json_value *take_list(struct json_in *j, struct json_value *list)
{
	struct json_value **link = &list->first;

	list->kind = JSON_IN_LIST;
	if (take_char(j, ']'))
		return list;
	do {
		*link = take_value(j, NULL);
		if (!*link)
			return NULL;
		link = &(*link)->next;
	} while (take_char(j, ','));
	return take_char(j, ']') ? list : fail(j, "expected , or ]");
}

static struct json_value *take_object(struct json_in *j, struct json_value *object)
{
	struct json_value **link = &object->first;
	const char *key;

	object->kind = JSON_IN_OBJECT;
	if (take_char(j, '}'))
		return object;
	do {
		if (!take_char(j, '"'))
			return fail(j, "expected a key");
		key = take_string(j);
		if (!key)
			return NULL;
		if (!take_char(j, ':'))
			return fail(j, "expected :");
		*link = take_value(j, key);
		if (!*link)
			return NULL;
		link = &(*link)->next;
	} while (take_char(j, ','));
	return take_char(j, '}') ? object : fail(j, "expected , or }");
}

static struct json_value *take_nested(struct json_in *j, struct json_value *v)
{
	bool is_list = *j->at == '[';

	j->at++;
	if (++j->depth > JSON_DEPTH_MAX)
		return fail(j, "nested too deeply");
	v = is_list ? take_list(j, v) : take_object(j, v);
	j->depth--;
	return v;
}

static struct json_value *take_value(struct json_in *j, const char *key)
{
	struct json_value *v = &j->values[j->count];

	if (j->count == JSON_VALUES_MAX)
		return fail(j, "too many values");
	j->count++;
	*v = (struct json_value){ .key = key };
	skip_space(j);
	if (*j->at == '[' || *j->at == '{')
		return take_nested(j, v);
	if (take_char(j, '"')) {
		v->kind = JSON_IN_TEXT;
		v->text = take_string(j);
		return v->text ? v : NULL;
	}
	if (*j->at == '-' || isdigit((unsigned char)*j->at)) {
		v->kind = JSON_IN_NUMBER;
		v->text = j->at;
		return take_number(j) ? v : fail(j, "not a number");
	}
	if (take_word(j, "null"))
		return v;
	v->kind = JSON_IN_BOOL;
	v->truth = *j->at == 't';
	return take_word(j, "true") || take_word(j, "false") ? v : fail(j, "expected a value");
}

struct json_value *json_in_parse(struct json_in *j, char *text, size_t len)
{
	struct json_value *top;

	j->count = j->depth = 0;
	j->error = NULL;
	j->text = j->at = text;
	top = take_value(j, NULL);
	if (!top)
		return NULL;
	skip_space(j);
	return j->at == text + len ? top : fail(j, "more behind the value");
}

static struct json_value *find_between(struct json_value *from, const struct json_value *to,
				       const char *key)
{
	for (; from != to; from = from->next)
		if (*from->key == *key && !strcmp(from->key, key))
			return from;
	return NULL;
}

/* Readers ask in the order of writing, so the search goes on where the last one ended. */
struct json_value *json_in_find(struct json_value *o, const char *key)
{
	struct json_value *from, *v;

	if (!o || o->kind != JSON_IN_OBJECT)
		return NULL;
	from = o->found ? o->found : o->first;
	v = find_between(from, NULL, key);
	if (!v)
		v = find_between(o->first, from, key);
	if (!v)
		return NULL;
	o->found = v;
	return v->kind == JSON_IN_NULL ? NULL : v;
}

/* The digits at *text behind those in *value; false on overflow. */
static bool add_digits(const char **text, int64_t *value, int most)
{
	for (; isdigit((unsigned char)**text) && most; (*text)++, most--)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, **text - '0', value))
			return false;
	return true;
}

bool json_in_int(const struct json_value *v, int64_t *out)
{
	const char *p = v->text;
	int64_t value = 0;

	if (v->kind != JSON_IN_NUMBER)
		return false;
	p += *p == '-';
	if (!add_digits(&p, &value, 99))
		return false;
	*out = *v->text == '-' ? -value : value;
	return *p != '.' && *p != 'e' && *p != 'E';
}

static bool real_us(const struct json_value *v, int64_t *ns)
{
	double exact = strtod(v->text, NULL) * 1000;

	if (!(fabs(exact) < 9.2e18))
		return false;
	*ns = llround(exact);
	return true;
}

bool json_in_us(const struct json_value *v, int64_t *ns)
{
	const char *p = v->text, *decimals;
	int64_t value = 0;

	if (v->kind != JSON_IN_NUMBER)
		return false;
	p += *p == '-';
	if (!add_digits(&p, &value, 99))
		return false;
	p += *p == '.';
	decimals = p;
	if (!add_digits(&p, &value, 3))
		return false;
	for (int missing = 3 - (p - decimals); missing > 0; missing--)
		if (__builtin_mul_overflow(value, 10, &value))
			return false;
	value += *p >= '5' && *p <= '9' && value < INT64_MAX;
	while (isdigit((unsigned char)*p))
		p++;
	if (*p == 'e' || *p == 'E')
		return real_us(v, ns);
	*ns = *v->text == '-' ? -value : value;
	return true;
}

bool json_in_real(const struct json_value *v, double *out)
{
	if (v->kind != JSON_IN_NUMBER)
		return false;
	*out = strtod(v->text, NULL);
	return isfinite(*out);
}
