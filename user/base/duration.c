/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define DURATION_MAX_NS (10 * 365ULL * 86400 * NS_PER_S)

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "us", NS_PER_US }, { "ms", NS_PER_MS },    { "s", NS_PER_S },
	{ "", NS_PER_S },    { "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S },
};

static uint64_t unit_ns(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	return 0;
}

/* "1.5" as whole and a fraction in units of 1e-9; false when there is no digit. */
static bool take_number(const char **text, uint64_t *whole, uint64_t *nano)
{
	uint64_t scale = NS_PER_S / 10;
	const char *p = *text;
	bool digits = false;

	*whole = *nano = 0;
	for (; isdigit((unsigned char)*p); p++, digits = true)
		if (*whole <= DURATION_MAX_NS)
			*whole = *whole * 10 + *p - '0';
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++, digits = true, scale /= 10)
			*nano += (*p - '0') * scale;
	*text = p;
	return digits;
}

int duration_parse(const char *text, uint64_t *ns)
{
	bool negative = *text == '-';
	uint64_t whole, nano, unit;

	text += negative;
	if (!take_number(&text, &whole, &nano))
		return -EINVAL;
	unit = unit_ns(text);
	if (!unit)
		return -EINVAL;
	if (whole > DURATION_MAX_NS / unit || (negative && (whole || nano)))
		return -ERANGE;
	*ns = whole * unit + (uint64_t)((unsigned __int128)nano * unit / NS_PER_S);
	return *ns > DURATION_MAX_NS ? -ERANGE : 0;
}

static uint64_t rounded(uint64_t ns, uint64_t unit)
{
	return ns / unit + (ns % unit >= unit / 2);
}

/* Each step is taken only when the value still fits after rounding: never "1000us". */
const char *duration_format(uint64_t ns, char *buf)
{
	unsigned long long n;

	if (ns && ns < NS_PER_US)
		strcpy(buf, "<1us");
	else if ((n = rounded(ns, NS_PER_US)) < 1000)
		snprintf(buf, DURATION_TEXT_LEN, "%lluus", n);
	else if ((n = rounded(ns, NS_PER_MS / 10)) < 1000)
		snprintf(buf, DURATION_TEXT_LEN, "%llu.%llums", n / 10, n % 10);
	else if ((n = rounded(ns, NS_PER_MS)) < 1000)
		snprintf(buf, DURATION_TEXT_LEN, "%llums", n);
	else if ((n = rounded(ns, NS_PER_S / 10)) < 600)
		snprintf(buf, DURATION_TEXT_LEN, "%llu.%llus", n / 10, n % 10);
	else if ((n = rounded(ns, NS_PER_S)) < 3600)
		snprintf(buf, DURATION_TEXT_LEN, "%llum%02llus", n / 60, n % 60);
	else if ((n = rounded(ns, 60 * NS_PER_S)) < 100 * 60)
		snprintf(buf, DURATION_TEXT_LEN, "%lluh%02llum", n / 60, n % 60);
	else
		snprintf(buf, DURATION_TEXT_LEN, "%llud", n / (24 * 60));
	return buf;
}
