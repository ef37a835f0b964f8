/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_out.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe.h"

void json_put_start(struct json_out *j, char *buf, size_t len)
{
	*j = (struct json_out){ .buf = buf, .len = len };
}

void json_put_raw(struct json_out *j, const char *bytes, size_t size)
{
	if (size > j->len - j->used) {
		j->full = true;
		return;
	}
	memcpy(j->buf + j->used, bytes, size);
	j->used += size;
}

static void put_char(struct json_out *j, char c)
{
	json_put_raw(j, &c, 1);
}

static bool put_wants_comma(const struct json_out *j)
{
	char last = j->used ? j->buf[j->used - 1] : '\n';

	return last != '{' && last != '[' && last != '\n';
}

/* The length of what may be copied as it is: printable ASCII but for the two that JSON escapes. */
static size_t put_plain(const char *text)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

static void put_unit(struct json_out *j, uint32_t unit)
{
	char escape[6] = { '\\', 'u' };

	for (int i = 0; i < 4; i++)
		escape[2 + i] = "0123456789abcdef"[unit >> (12 - 4 * i) & 15];
	json_put_raw(j, escape, 6);
}

static void put_escape(struct json_out *j, uint32_t c)
{
	if (c < 0x10000) {
		put_unit(j, c);
		return;
	}
	put_unit(j, 0xd800 + ((c - 0x10000) >> 10));
	put_unit(j, 0xdc00 + ((c - 0x10000) & 0x3ff));
}

static void put_string(struct json_out *j, const char *text)
{
	uint32_t c;
	int bytes;

	put_char(j, '"');
	while (*text) {
		size_t plain = put_plain(text);

		json_put_raw(j, text, plain);
		text += plain;
		if (!*text)
			break;
		bytes = safe_utf8_decode(text, &c);
		if (!bytes)
			json_put_raw(j, "\xef\xbf\xbd", 3);
		else if (c == '"' || c == '\\' || safe_is_control(c))
			put_escape(j, c);
		else
			json_put_raw(j, text, bytes);
		text += bytes ? bytes : 1;
	}
	put_char(j, '"');
}

static void put_key(struct json_out *j, const char *key)
{
	if (put_wants_comma(j))
		put_char(j, ',');
	if (key) {
		put_string(j, key);
		put_char(j, ':');
	}
}

void json_put_open(struct json_out *j, const char *key, char bracket)
{
	put_key(j, key);
	put_char(j, bracket);
}

void json_put_close(struct json_out *j, char bracket)
{
	put_char(j, bracket);
}

void json_put_text(struct json_out *j, const char *key, const char *text)
{
	put_key(j, key);
	put_string(j, text);
}

void json_put_bool(struct json_out *j, const char *key, bool value)
{
	put_key(j, key);
	json_put_raw(j, value ? "true" : "false", value ? 4 : 5);
}

void json_put_null(struct json_out *j, const char *key)
{
	put_key(j, key);
	json_put_raw(j, "null", 4);
}

/* At least that many digits. */
static void put_digits(struct json_out *j, uint64_t value, int least)
{
	char digits[20];
	int n = 0;

	do
		digits[sizeof(digits) - ++n] = '0' + value % 10;
	while ((value /= 10) || n < least);
	json_put_raw(j, digits + sizeof(digits) - n, n);
}

static uint64_t put_sign(struct json_out *j, int64_t value)
{
	if (value >= 0)
		return value;
	put_char(j, '-');
	return -(uint64_t)value;
}

void json_put_uint(struct json_out *j, const char *key, uint64_t value)
{
	put_key(j, key);
	put_digits(j, value, 1);
}

void json_put_int(struct json_out *j, const char *key, int64_t value)
{
	put_key(j, key);
	put_digits(j, put_sign(j, value), 1);
}

void json_put_us(struct json_out *j, const char *key, int64_t ns)
{
	uint64_t n;

	put_key(j, key);
	n = put_sign(j, ns);
	put_digits(j, n / 1000, 1);
	put_char(j, '.');
	put_digits(j, n % 1000, 3);
}

void json_put_real(struct json_out *j, const char *key, double value)
{
	uint64_t n;
	int decimals = 6;

	if (!isfinite(value) || fabs(value) > 9e12) {
		json_put_null(j, key);
		return;
	}
	put_key(j, key);
	n = put_sign(j, llround(value * 1e6));
	put_digits(j, n / 1000000, 1);
	n %= 1000000;
	if (!n)
		return;
	for (; n % 10 == 0; n /= 10)
		decimals--;
	put_char(j, '.');
	put_digits(j, n, decimals);
}

void json_put_time(struct json_out *j, const char *key, int64_t real_ns)
{
	char text[CLOCK_TEXT_LEN];

	clock_rfc3339(real_ns, text);
	put_key(j, key);
	put_char(j, '"');
	json_put_raw(j, text, strlen(text));
	put_char(j, '"');
}
