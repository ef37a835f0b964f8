/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define S_PER_DAY 86400LL

static int64_t clock_read(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t clock_real_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}

/* The tightest of a few readings: one that was preempted in between would be off by that much. */
static int64_t offset_of(clockid_t id)
{
	int64_t best_gap = INT64_MAX, offset = 0;

	for (int i = 0; i < 5; i++) {
		int64_t before = clock_read(id);
		int64_t real = clock_read(CLOCK_REALTIME);
		int64_t gap = clock_read(id) - before;

		if (gap < best_gap) {
			best_gap = gap;
			offset = real - before - gap / 2;
		}
	}
	return offset;
}

int64_t clock_offset_ns(void)
{
	return offset_of(CLOCK_MONOTONIC);
}

int64_t clock_boot_offset_ns(void)
{
	return offset_of(CLOCK_BOOTTIME);
}

static int64_t floor_div(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

static void put_digits(char *at, int value, int digits)
{
	while (digits--) {
		at[digits] = '0' + value % 10;
		value /= 10;
	}
}

const char *clock_rfc3339(int64_t real_ns, char *buf)
{
	int64_t seconds = floor_div(real_ns, NS_PER_S);
	int us = (real_ns - seconds * (int64_t)NS_PER_S) / NS_PER_US;
	time_t t = seconds;
	struct tm tm;

	gmtime_r(&t, &tm);
	memcpy(buf, "0000-00-00T00:00:00.000000Z", 28);
	put_digits(buf, tm.tm_year + 1900, 4);
	put_digits(buf + 5, tm.tm_mon + 1, 2);
	put_digits(buf + 8, tm.tm_mday, 2);
	put_digits(buf + 11, tm.tm_hour, 2);
	put_digits(buf + 14, tm.tm_min, 2);
	put_digits(buf + 17, tm.tm_sec, 2);
	put_digits(buf + 20, us, 6);
	return buf;
}

const char *clock_local(int64_t real_ns, char *buf)
{
	time_t t = floor_div(real_ns, NS_PER_S);
	struct tm tm;

	localtime_r(&t, &tm);
	if (!strftime(buf, CLOCK_TEXT_LEN, "%H:%M:%S %Z", &tm))
		*buf = '\0';
	return buf;
}

/* Exactly that many digits, or -1. */
static int take_digits(const char **text, int digits)
{
	int value = 0;

	for (; digits; digits--, (*text)++) {
		if (!isdigit((unsigned char)**text))
			return -1;
		value = value * 10 + **text - '0';
	}
	return value;
}

static bool take_char(const char **text, const char *any_of)
{
	if (!**text || !strchr(any_of, **text))
		return false;
	(*text)++;
	return true;
}

/* Days since 1970 of a date in the Gregorian calendar; years begin in March, leap days end them. */
static int64_t days_of(int year, int month, int day)
{
	int y = month > 2 ? year : year - 1;
	int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return 365LL * y + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

static int parse_date(const char **text, int64_t *seconds)
{
	static const int month_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year, month, day;
	bool leap;

	year = take_digits(text, 4);
	if (year < 1600 || !take_char(text, "-")) /* ns since 1970 begin in 1677 */
		return -EINVAL;
	month = take_digits(text, 2);
	if (month < 1 || month > 12 || !take_char(text, "-"))
		return -EINVAL;
	day = take_digits(text, 2);
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (day < 1 || day > month_days[month - 1] + (month == 2 && leap))
		return -EINVAL;
	*seconds = days_of(year, month, day) * S_PER_DAY;
	return year > 1677 && year < 2262 ? 0 : -ERANGE;
}

static int parse_time_of_day(const char **text, int64_t *ns)
{
	int64_t scale = NS_PER_S / 10;
	int hour, minute, second;

	hour = take_digits(text, 2);
	if (hour < 0 || hour > 23 || !take_char(text, ":"))
		return -EINVAL;
	minute = take_digits(text, 2);
	if (minute < 0 || minute > 59 || !take_char(text, ":"))
		return -EINVAL;
	second = take_digits(text, 2);
	if (second < 0 || second > 60) /* 60: a leap second */
		return -EINVAL;
	*ns = (hour * 3600LL + minute * 60 + second) * (int64_t)NS_PER_S;
	if (!take_char(text, "."))
		return 0;
	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++, scale /= 10)
		*ns += (**text - '0') * scale;
	return 0;
}

static int parse_offset(const char **text, int64_t *seconds)
{
	bool west;
	int hours, minutes;

	*seconds = 0;
	if (take_char(text, "Zz"))
		return 0;
	west = **text == '-';
	if (!take_char(text, "+-"))
		return -EINVAL;
	hours = take_digits(text, 2);
	if (hours < 0 || hours > 23 || !take_char(text, ":"))
		return -EINVAL;
	minutes = take_digits(text, 2);
	if (minutes < 0 || minutes > 59)
		return -EINVAL;
	*seconds = (west ? -60 : 60) * (hours * 60 + minutes);
	return 0;
}

int clock_parse(const char *text, int64_t day_ns, int64_t *real_ns)
{
	int64_t seconds, ns, offset = 0;
	int err;

	if (day_ns && strlen(text) > 2 && text[2] == ':') {
		seconds = floor_div(day_ns, S_PER_DAY * (int64_t)NS_PER_S) * S_PER_DAY;
		err = parse_time_of_day(&text, &ns);
	} else {
		err = parse_date(&text, &seconds);
		if (!err && !take_char(&text, "Tt "))
			err = -EINVAL;
		if (!err)
			err = parse_time_of_day(&text, &ns);
		if (!err)
			err = parse_offset(&text, &offset);
	}
	if (!err && *text)
		err = -EINVAL;
	if (!err)
		*real_ns = (seconds - offset) * (int64_t)NS_PER_S + ns;
	return err;
}
