/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/printers.h"

#include <errno.h>
#include <string.h>

#define PRINTERS_NAME(name, text) text,
static const char *const names[] = { PRINTERS(PRINTERS_NAME) };
#undef PRINTERS_NAME

const char *printer_name(enum printer p)
{
	return p < PRINTER_COUNT ? names[p] : NULL;
}

int printer_parse(const char *name)
{
	for (int p = 0; p < PRINTER_COUNT; p++)
		if (!strcmp(names[p], name))
			return p;
	return -ENOENT;
}

/* Behind a minus and digits; any character up to '9' begins a padding, so "% h" ends here too. */
static const char *skip_padding(const char *at)
{
	if (*at == '-')
		at++;
	return at + strspn(at, "0123456789");
}

bool log_prefix_uses(const char *prefix, char escape)
{
	for (const char *at = prefix; *at; at++) {
		if (*at != '%')
			continue;
		at++;
		if (*at == '%')
			continue;
		at = skip_padding(at);
		if (*at == escape)
			return true;
		if (!*at)
			return false;
	}
	return false;
}
