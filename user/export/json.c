/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/json.h"

#include <math.h>
#include <string.h>

#include "base/safe.h"

#define TEXT_MAX 4096 /* longer than any text of an event */

static char *digits(char *end, uint64_t value)
{
	do
		*--end = '0' + value % 10;
	while (value /= 10);
	return end;
}

void put_int(FILE *out, int64_t value)
{
	char buf[24], *end = buf + sizeof(buf);
	char *p = digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);

	if (value < 0)
		*--p = '-';
	fwrite_unlocked(p, 1, end - p, out);
}

void put_us(FILE *out, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char fraction[] = { '.', '0' + size / 100 % 10, '0' + size / 10 % 10, '0' + size % 10 };

	if (ns < 0)
		putc_unlocked('-', out);
	put_int(out, size / 1000);
	fwrite_unlocked(fraction, 1, sizeof(fraction), out);
}

static void separate(struct json *j)
{
	if (j->comma)
		putc_unlocked(',', j->out);
	j->comma = true;
}

void json_open(struct json *j, char bracket)
{
	separate(j);
	putc_unlocked(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc_unlocked(bracket, j->out);
	j->comma = true;
}

void json_key(struct json *j, const char *key)
{
	separate(j);
	putc_unlocked('"', j->out);
	fputs_unlocked(key, j->out);
	fputs_unlocked("\":", j->out);
	j->comma = false;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void write_escaped(FILE *out, const char *text)
{
	while (*text) {
		size_t run = 0;

		while (text[run] && is_plain(text[run]))
			run++;
		fwrite_unlocked(text, 1, run, out);
		text += run;
		if (*text)
			fprintf(out, "\\u%04x", (unsigned char)*text++);
	}
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text & 0x80)
			return false;
	return true;
}

void json_text(struct json *j, const char *text)
{
	char buf[TEXT_MAX];

	separate(j);
	putc_unlocked('"', j->out);
	write_escaped(j->out, is_ascii(text) ? text : safe_utf8(text, buf, sizeof(buf)));
	putc_unlocked('"', j->out);
}

void json_int(struct json *j, int64_t value)
{
	separate(j);
	put_int(j->out, value);
}

void json_int_text(struct json *j, int64_t value)
{
	separate(j);
	putc_unlocked('"', j->out);
	put_int(j->out, value);
	putc_unlocked('"', j->out);
}

void json_us(struct json *j, int64_t ns)
{
	separate(j);
	put_us(j->out, ns);
}

void json_double(struct json *j, double value)
{
	separate(j);
	if (isfinite(value))
		fprintf(j->out, "%.6g", value);
	else
		fputs_unlocked("null", j->out);
}

void json_bool(struct json *j, bool value)
{
	separate(j);
	fputs_unlocked(value ? "true" : "false", j->out);
}

void json_put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

void json_put_int(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	json_int(j, value);
}

void json_put_us(struct json *j, const char *key, int64_t ns)
{
	json_key(j, key);
	json_us(j, ns);
}

void json_put_bool(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	json_bool(j, value);
}
