/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/safe.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * A bounded output. tail is what has to follow in any case (a closing quote); fits is the last
 * length behind which "..." and the tail still have room.
 */
struct bounded {
	char *buf;
	size_t len, used, fits;
	const char *tail;
	bool cut;
};

static void bounded_put(struct bounded *b, const char *piece, size_t size)
{
	size_t spare = strlen(b->tail) + 1;

	if (b->cut || b->used + size + spare > b->len) {
		b->cut = true;
		return;
	}
	memcpy(b->buf + b->used, piece, size);
	b->used += size;
	if (b->used + 3 + spare <= b->len)
		b->fits = b->used;
}

static const char *bounded_end(struct bounded *b)
{
	size_t tail = strlen(b->tail);

	if (!b->len)
		return b->buf;
	if (b->cut) {
		b->cut = false;
		b->used = b->fits;
		bounded_put(b, "...", 3);
	}
	if (b->used + tail >= b->len) /* not even room for the tail */
		b->used = tail = 0;
	memcpy(b->buf + b->used, b->tail, tail);
	b->buf[b->used + tail] = '\0';
	return b->buf;
}

int safe_utf8_decode(const char *text, uint32_t *code_point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	int bytes = !*p         ? 0
		    : *p < 0x80 ? 1
		    : *p < 0xc2 ? 0
		    : *p < 0xe0 ? 2
		    : *p < 0xf0 ? 3
		    : *p < 0xf5 ? 4
				: 0;
	uint32_t c;

	if (bytes < 2) {
		*code_point = *p;
		return bytes;
	}
	c = *p & (0x7f >> bytes);
	for (int i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80) /* also the NUL that ends the text */
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*code_point = c;
	return bytes;
}

bool safe_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

/* How one output writes a character: puts it and returns true, or leaves it to be copied. */
typedef bool safe_escape(struct bounded *b, uint32_t c, const char *at, int bytes);

/* broken bytes come as bytes == 0, one at a time, and have to be put by the escape function */
static void safe_walk(struct bounded *b, const char *text, safe_escape *escape)
{
	uint32_t c;
	int bytes;

	for (; *text && !b->cut; text += bytes ? bytes : 1) {
		bytes = safe_utf8_decode(text, &c);
		if (!escape(b, c, text, bytes))
			bounded_put(b, text, bytes);
	}
}

static const char *safe_write(const char *text, char *buf, size_t len, safe_escape *escape)
{
	struct bounded b = { .buf = buf, .len = len, .tail = "" };

	safe_walk(&b, text, escape);
	return bounded_end(&b);
}

static bool escape_utf8(struct bounded *b, uint32_t c, const char *at, int bytes)
{
	(void)c;
	(void)at;
	if (bytes)
		return false;
	bounded_put(b, REPLACEMENT, 3);
	return true;
}

static bool escape_terminal(struct bounded *b, uint32_t c, const char *at, int bytes)
{
	char hex[5];

	if (bytes && !safe_is_control(c))
		return false;
	for (int i = 0; i < (bytes ? bytes : 1); i++) {
		snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)at[i]);
		bounded_put(b, hex, 4);
	}
	return true;
}

static bool escape_html(struct bounded *b, uint32_t c, const char *at, int bytes)
{
	const char *entity;

	if (!bytes || safe_is_control(c)) {
		bounded_put(b, REPLACEMENT, 3);
		return true;
	}
	switch (*at) {
	case '&':
		entity = "&amp;";
		break;
	case '<':
		entity = "&lt;";
		break;
	case '>':
		entity = "&gt;";
		break;
	case '"':
		entity = "&quot;";
		break;
	case '\'':
		entity = "&#39;";
		break;
	default:
		return false;
	}
	bounded_put(b, entity, strlen(entity));
	return true;
}

static bool escape_prometheus(struct bounded *b, uint32_t c, const char *at, int bytes)
{
	if (bytes && c == '\n')
		bounded_put(b, "\\n", 2);
	else if (!bytes || safe_is_control(c))
		bounded_put(b, REPLACEMENT, 3);
	else if (*at == '\\')
		bounded_put(b, "\\\\", 2);
	else if (*at == '"')
		bounded_put(b, "\\\"", 2);
	else
		return false;
	return true;
}

static bool escape_csv(struct bounded *b, uint32_t c, const char *at, int bytes)
{
	if (bytes && c == '"') {
		bounded_put(b, "\"\"", 2);
		return true;
	}
	return escape_utf8(b, c, at, bytes);
}

const char *safe_utf8(const char *text, char *buf, size_t len)
{
	return safe_write(text, buf, len, escape_utf8);
}

const char *safe_terminal(const char *text, char *buf, size_t len)
{
	return safe_write(text, buf, len, escape_terminal);
}

const char *safe_html(const char *text, char *buf, size_t len)
{
	return safe_write(text, buf, len, escape_html);
}

const char *safe_prometheus(const char *text, char *buf, size_t len)
{
	return safe_write(text, buf, len, escape_prometheus);
}

const char *safe_csv(const char *text, char *buf, size_t len)
{
	bool formula = *text && strchr("=+-@\t\r\n", *text);
	bool quoted = strpbrk(text, ",\"\r\n\t") || *text == ' ';
	struct bounded b = { .buf = buf, .len = len, .tail = quoted ? "\"" : "" };

	if (quoted)
		bounded_put(&b, "\"", 1);
	if (formula)
		bounded_put(&b, "'", 1);
	safe_walk(&b, text, escape_csv);
	return bounded_end(&b);
}

int safe_columns(const char *text)
{
	int columns = 0, bytes, width;
	uint32_t c;

	for (; *text; text += bytes ? bytes : 1) {
		bytes = safe_utf8_decode(text, &c);
		width = bytes ? wcwidth(c) : 1;
		columns += width < 0 ? 1 : width;
	}
	return columns;
}
