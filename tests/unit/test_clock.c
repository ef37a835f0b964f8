/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define DAY_NS (86400 * (int64_t)NS_PER_S)

static void expect_ns(const char *text, int64_t day_ns, int64_t expected)
{
	int64_t ns;

	assert_int_equal(clock_parse(text, day_ns, &ns), 0);
	assert_int_equal(ns, expected);
}

TEST(a_time_is_written_as_rfc_3339_with_microseconds)
{
	char buf[CLOCK_TEXT_LEN];

	assert_string_equal(clock_rfc3339(1790935586730123456, buf), "2026-10-02T10:06:26.730123Z");
	assert_string_equal(clock_rfc3339(0, buf), "1970-01-01T00:00:00.000000Z");
	assert_string_equal(clock_rfc3339(-1, buf), "1969-12-31T23:59:59.999999Z");
	assert_string_equal(clock_rfc3339(INT64_MAX, buf), "2262-04-11T23:47:16.854775Z");
}

TEST(what_was_written_is_read_back)
{
	char buf[CLOCK_TEXT_LEN];

	for (int64_t ns = 0; ns < 8000000000 * (int64_t)NS_PER_S; ns += 12345678901234567)
		expect_ns(clock_rfc3339(ns / 1000 * 1000, buf), 0, ns / 1000 * 1000);
}

TEST(an_offset_is_taken_off)
{
	expect_ns("2026-10-02T12:06:26+02:00", 0, 1790935586 * (int64_t)NS_PER_S);
	expect_ns("2026-10-02T00:36:26-09:30", 0, 1790935586 * (int64_t)NS_PER_S);
	expect_ns("2026-10-02t10:06:26z", 0, 1790935586 * (int64_t)NS_PER_S);
	expect_ns("2026-10-02 10:06:26.5Z", 0, 1790935586500000000);
}

TEST(a_time_of_day_is_of_the_day_at_hand)
{
	int64_t day = 1790935586730123456;

	expect_ns("00:00:00", day, day / DAY_NS * DAY_NS);
	expect_ns("10:06:26.25", day, 1790935586250000000);
}

TEST(a_time_of_day_without_a_day_is_invalid)
{
	int64_t ns;

	assert_int_equal(clock_parse("10:06:26", 0, &ns), -EINVAL);
}

TEST(the_calendar_knows_its_leap_years)
{
	int64_t ns;

	expect_ns("2000-02-29T00:00:00Z", 0, 951782400 * (int64_t)NS_PER_S);
	assert_int_equal(clock_parse("2100-02-29T00:00:00Z", 0, &ns), -EINVAL);
	assert_int_equal(clock_parse("2026-04-31T00:00:00Z", 0, &ns), -EINVAL);
}

TEST(what_is_no_time_is_invalid)
{
	const char *bad[] = { "",
			      "2026",
			      "2026-10-02",
			      "2026-10-02T10:06:26",
			      "2026-13-02T10:06:26Z",
			      "2026-10-02T24:00:00Z",
			      "2026-10-02T10:60:00Z",
			      "2026-10-02T10:06:26.Z",
			      "2026-10-02T10:06:26Zx",
			      "2026-10-02T10:06:26+2:00",
			      "10:06",
			      "1:06:26",
			      "10:06:26Z" };
	int64_t ns;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(clock_parse(bad[i], DAY_NS, &ns), -EINVAL);
	assert_int_equal(clock_parse("3000-01-01T00:00:00Z", 0, &ns), -ERANGE);
}

TEST(the_local_time_names_its_zone)
{
	char buf[CLOCK_TEXT_LEN];

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_string_equal(clock_local(1790935586730123456, buf), "12:06:26 CEST");
}

TEST(monotonic_time_plus_offset_is_wall_clock_time)
{
	int64_t gap = clock_real_ns() - (int64_t)clock_mono_ns() - clock_offset_ns();

	assert_true(llabs(gap) < (long long)NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_written_as_rfc_3339_with_microseconds),
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(an_offset_is_taken_off),
		cmocka_unit_test(a_time_of_day_is_of_the_day_at_hand),
		cmocka_unit_test(a_time_of_day_without_a_day_is_invalid),
		cmocka_unit_test(the_calendar_knows_its_leap_years),
		cmocka_unit_test(what_is_no_time_is_invalid),
		cmocka_unit_test(the_local_time_names_its_zone),
		cmocka_unit_test(monotonic_time_plus_offset_is_wall_clock_time),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
