/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/trace_fields.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"

void fields_bad(struct fields *d, const char *field)
{
	if (!d->bad)
		d->bad = field;
}

struct json_value *fields_find(struct fields *d, struct json_value *o, const char *key,
			       enum json_kind kind)
{
	struct json_value *value = json_in_find(o, key);

	if (!value || value->kind == kind)
		return value;
	fields_bad(d, key);
	return NULL;
}

struct json_value *fields_child(const struct json_value *v)
{
	return v ? v->first : NULL;
}

static void copy_text(const char *text, char *buf, size_t len)
{
	size_t size = strlen(text);

	if (size < len)
		memcpy(buf, text, size + 1);
	else
		safe_utf8(text, buf, len);
}

bool fields_text(struct fields *d, struct json_value *o, const char *key, char *buf, size_t len)
{
	struct json_value *value = fields_find(d, o, key, JSON_IN_TEXT);

	if (value)
		copy_text(value->text, buf, len);
	return value;
}

bool fields_bool(struct fields *d, struct json_value *o, const char *key, bool *out)
{
	struct json_value *value = json_in_find(o, key);

	if (!value)
		return false;
	if (value->kind != JSON_IN_BOOL)
		fields_bad(d, key);
	*out = value->truth;
	return true;
}

bool fields_int(struct fields *d, struct json_value *o, const char *key, int64_t least,
		int64_t most, int64_t *out)
{
	struct json_value *value = json_in_find(o, key);

	if (!value)
		return false;
	if (json_in_int(value, out) && *out >= least && *out <= most)
		return true;
	fields_bad(d, key);
	return false;
}

int fields_number(struct fields *d, struct json_value *o, const char *key, int least, int most)
{
	int64_t value = 0;

	fields_int(d, o, key, least, most, &value);
	return value;
}

uint64_t fields_count(struct fields *d, struct json_value *o, const char *key)
{
	int64_t value = 0;

	fields_int(d, o, key, 0, INT64_MAX, &value);
	return value;
}

bool fields_signed_us(struct fields *d, struct json_value *o, const char *key, int64_t *ns)
{
	struct json_value *value = json_in_find(o, key);

	if (value && json_in_us(value, ns) && *ns >= -FIELDS_SPAN_MAX && *ns <= FIELDS_SPAN_MAX)
		return true;
	if (value)
		fields_bad(d, key);
	return false;
}

bool fields_us(struct fields *d, struct json_value *o, const char *key, uint64_t *ns)
{
	int64_t value;

	if (!fields_signed_us(d, o, key, &value))
		return false;
	if (value < 0)
		fields_bad(d, key);
	*ns = value;
	return value >= 0;
}

int64_t fields_time(struct fields *d, struct json_value *o)
{
	struct json_value *value = fields_find(d, o, "at", JSON_IN_TEXT);
	int64_t ns = 0;

	if (!value || clock_parse(value->text, 0, &ns) || ns < 0 || ns > FIELDS_TIME_MAX)
		fields_bad(d, "at");
	return d->bad ? 0 : ns;
}

int fields_word(struct fields *d, struct json_value *o, const char *key, int (*parse)(const char *),
		int fallback)
{
	struct json_value *value = fields_find(d, o, key, JSON_IN_TEXT);
	int number = value ? parse(value->text) : fallback;

	if (number < 0)
		fields_bad(d, key);
	return number < 0 ? 0 : number;
}

unsigned int fields_spans(struct fields *d, struct json_value *o, const char *key,
			  uint64_t *spans_ns, int (*parse)(const char *), int count)
{
	struct json_value *spans = fields_find(d, o, key, JSON_IN_OBJECT);
	unsigned int present = 0;

	for (struct json_value *v = fields_child(spans); v; v = v->next) {
		int number = parse(v->key);
		int64_t ns;

		if (number < 0 || number >= count || v->kind == JSON_IN_NULL)
			continue;
		if (!json_in_us(v, &ns) || ns < 0 || ns > FIELDS_SPAN_MAX) {
			fields_bad(d, v->key);
			continue;
		}
		spans_ns[number] = ns;
		present |= 1u << number;
	}
	return present;
}

unsigned int fields_bits(struct fields *d, struct json_value *o, const char *key,
			 int (*parse)(const char *), int count)
{
	struct json_value *list = fields_find(d, o, key, JSON_IN_LIST);
	unsigned int bits = 0;

	for (struct json_value *v = fields_child(list); v; v = v->next) {
		int number = v->kind == JSON_IN_TEXT ? parse(v->text) : -EINVAL;

		if (number == -EINVAL)
			fields_bad(d, key);
		else if (number >= 0 && number < count)
			bits |= 1u << number;
	}
	return bits;
}

unsigned int fields_list(struct fields *d, struct json_value *o, const char *key, char *first,
			 size_t stride, size_t max)
{
	struct json_value *list = fields_find(d, o, key, JSON_IN_LIST);
	unsigned int count = 0;

	for (struct json_value *v = fields_child(list); v; v = v->next) {
		if (v->kind != JSON_IN_TEXT)
			fields_bad(d, key);
		else if (count < max)
			copy_text(v->text, first + count++ * stride, stride);
	}
	return count;
}
