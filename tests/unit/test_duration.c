/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/duration.h"

static void expect_ns(const char *text, uint64_t expected)
{
	uint64_t ns = 1;

	assert_int_equal(duration_parse(text, &ns), 0);
	assert_int_equal(ns, expected);
}

static void expect_error(const char *text, int err)
{
	uint64_t ns;

	assert_int_equal(duration_parse(text, &ns), err);
}

static void expect_text(uint64_t ns, const char *text)
{
	char buf[DURATION_TEXT_LEN];

	assert_string_equal(duration_format(ns, buf), text);
}

TEST(a_bare_number_is_seconds)
{
	expect_ns("3", 3000000000);
	expect_ns("0", 0);
	expect_ns("1.5", 1500000000);
	expect_ns(".5", 500000000);
}

TEST(every_unit_has_its_own_size)
{
	expect_ns("7us", 7000);
	expect_ns("200ms", 200000000);
	expect_ns("1.5s", 1500000000);
	expect_ns("2m", 120000000000);
	expect_ns("1h", 3600000000000);
	expect_ns("0.001us", 1);
	expect_ns("1.000000001s", 1000000001);
}

TEST(what_is_no_duration_is_invalid)
{
	const char *bad[] = {
		"", "s", "x", "1x", "1 s", "ms200", "1.2.3", "1e3", "1s ", "+1", "."
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_error(bad[i], -EINVAL);
}

TEST(below_zero_and_above_ten_years_are_out_of_range)
{
	expect_error("-1s", -ERANGE);
	expect_error("-0.1", -ERANGE);
	expect_error("87601h", -ERANGE);
	expect_error("99999999999999999999999", -ERANGE);
	expect_ns("87600h", 315360000000000000);
	expect_ns("-0", 0);
}

TEST(three_digits_and_a_unit_are_shown)
{
	expect_text(0, "0us");
	expect_text(31000, "31us");
	expect_text(1240000, "1.2ms");
	expect_text(11900000, "11.9ms");
	expect_text(310000000, "310ms");
	expect_text(1200000000, "1.2s");
	expect_text(10000000000, "10.0s");
	expect_text(200000000000, "3m20s");
	expect_text(7500000000000, "2h05m");
	expect_text(864000000000000, "10d");
}

TEST(what_was_measured_never_shows_as_zero)
{
	expect_text(1, "<1us");
	expect_text(999, "<1us");
	expect_text(1000, "1us");
}

TEST(rounding_never_spills_over_the_unit)
{
	expect_text(999499, "999us");
	expect_text(999500, "1.0ms");
	expect_text(99949999, "99.9ms");
	expect_text(99950000, "100ms");
	expect_text(999499999, "999ms");
	expect_text(999500000, "1.0s");
	expect_text(59949999999, "59.9s");
	expect_text(59950000000, "1m00s");
	expect_text(3599499999999, "59m59s");
	expect_text(3599500000000, "1h00m");
}

TEST(no_text_is_longer_than_seven_characters)
{
	char buf[DURATION_TEXT_LEN];

	for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 + 1)
		assert_in_range(strlen(duration_format(ns, buf)), 3, 7);
	assert_in_range(strlen(duration_format(UINT64_MAX, buf)), 3, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bare_number_is_seconds),
		cmocka_unit_test(every_unit_has_its_own_size),
		cmocka_unit_test(what_is_no_duration_is_invalid),
		cmocka_unit_test(below_zero_and_above_ten_years_are_out_of_range),
		cmocka_unit_test(three_digits_and_a_unit_are_shown),
		cmocka_unit_test(what_was_measured_never_shows_as_zero),
		cmocka_unit_test(rounding_never_spills_over_the_unit),
		cmocka_unit_test(no_text_is_longer_than_seven_characters),
	};

	return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
