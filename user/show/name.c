/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/name.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"

bool show_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static const char *escape_bytes(const char *text, char *buf, size_t len)
{
	size_t used = 0;

	for (; *text && used + 8 < len; text++) {
		if ((unsigned char)*text < 0x80)
			buf[used++] = *text;
		else
			used += snprintf(buf + used, len - used, "\\x%02x", (unsigned char)*text);
	}
	buf[used] = '\0';
	if (*text)
		strcpy(buf + used, "...");
	return buf;
}

const char *show_name(const char *text, bool utf8, char *buf, size_t len)
{
	char safe[1024];

	if (utf8)
		return safe_terminal(text, buf, len);
	return escape_bytes(safe_terminal(text, safe, sizeof(safe)), buf, len);
}

const char *show_cut(char *text, int columns)
{
	size_t len = strlen(text);

	if (safe_columns(text) <= columns)
		return text;
	while (len > 0 && safe_columns(text) > columns - 1) {
		do
			len--;
		while (len > 0 && (text[len] & 0xc0) == 0x80);
		text[len] = '\0';
	}
	if (columns > 0)
		strcpy(text + len, "~");
	return text;
}

const char *show_words(const char *name, char *buf)
{
	snprintf(buf, 24, "%s", name);
	for (char *p = buf; *p; p++)
		if (*p == '_')
			*p = ' ';
	return buf;
}

const char *show_span(int64_t ns, char *buf)
{
	if (ns < 0)
		ns = 0;
	if (ns < 60 * (int64_t)NS_PER_S)
		snprintf(buf, DURATION_TEXT_LEN, "%ds", (int)(ns / (int64_t)NS_PER_S));
	else
		duration_format(ns, buf);
	return buf;
}

const char *show_share(double share, char *buf)
{
	if (share < 0)
		buf[0] = '\0';
	else if (share < 0.01)
		strcpy(buf, "<1%");
	else if (share > 0.99 && share < 1)
		strcpy(buf, ">99%");
	else
		snprintf(buf, 8, "%.0f%%", share < 9.99 ? 100 * share : 999);
	return buf;
}
