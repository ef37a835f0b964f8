/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include "base/clock.h"
#include "show/humps.h"

static struct hist hist;
static struct hump humps[HUMPS_MAX];

static void record(uint64_t from_ns, uint64_t to_ns, int count)
{
	for (int i = 0; i < count; i++)
		hist_record(&hist, from_ns + (to_ns - from_ns) * i / count);
}

static void assert_near(uint64_t ns, uint64_t want_ns)
{
	assert_in_range(ns, want_ns - want_ns / 10, want_ns + want_ns / 10);
}

TEST(one_hump_is_one)
{
	hist_reset(&hist);
	record(2 * NS_PER_MS, 4 * NS_PER_MS, 100);
	assert_int_equal(humps_find(&hist, humps), 1);
	assert_int_equal(humps[0].count, 100);
	assert_near(humps[0].middle_ns, 3 * NS_PER_MS);
}

TEST(good_and_dead_dns_are_two)
{
	hist_reset(&hist);
	record(2 * NS_PER_MS, 6 * NS_PER_MS, 298);
	record(10 * NS_PER_S, 10 * NS_PER_S + 90 * NS_PER_MS, 228);
	assert_int_equal(humps_find(&hist, humps), 2);
	assert_int_equal(humps[0].count, 298);
	assert_int_equal(humps[1].count, 228);
	assert_near(humps[1].middle_ns, 10 * NS_PER_S);
}

TEST(a_valley_parts_humps_that_touch)
{
	hist_reset(&hist);
	record(4 * NS_PER_MS, 8 * NS_PER_MS, 100);
	record(8 * NS_PER_MS, 70 * NS_PER_MS, 30);
	record(100 * NS_PER_MS, 120 * NS_PER_MS, 80);
	assert_int_equal(humps_find(&hist, humps), 2);
	assert_int_equal(humps[0].count + humps[1].count, 210);
	assert_near(humps[1].middle_ns, 105 * NS_PER_MS);
}

TEST(of_many_humps_the_largest_are_told)
{
	hist_reset(&hist);
	record(100 * NS_PER_US, 110 * NS_PER_US, 4);
	record(1 * NS_PER_MS, 2 * NS_PER_MS, 20);
	record(100 * NS_PER_MS, 110 * NS_PER_MS, 24);
	record(1 * NS_PER_S, 1 * NS_PER_S + NS_PER_MS, 3);
	record(10 * NS_PER_S, 10 * NS_PER_S + 90 * NS_PER_MS, 28);
	assert_int_equal(humps_find(&hist, humps), 3);
	assert_int_equal(humps[0].count, 20);
	assert_int_equal(humps[1].count, 24);
	assert_int_equal(humps[2].count, 28);
}

TEST(an_uneven_slope_is_no_hump)
{
	hist_reset(&hist);
	record(1 * NS_PER_MS, 2 * NS_PER_MS, 100);
	record(2 * NS_PER_MS, 4 * NS_PER_MS, 20);
	record(4 * NS_PER_MS, 8 * NS_PER_MS, 22);
	record(8 * NS_PER_MS, 16 * NS_PER_MS, 5);
	assert_int_equal(humps_find(&hist, humps), 1);
}

TEST(strays_are_none)
{
	hist_reset(&hist);
	assert_int_equal(humps_find(&hist, humps), 0);
	record(1 * NS_PER_MS, 2 * NS_PER_MS, 1000);
	hist_record(&hist, 10 * NS_PER_S);
	assert_int_equal(humps_find(&hist, humps), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hump_is_one),
		cmocka_unit_test(good_and_dead_dns_are_two),
		cmocka_unit_test(a_valley_parts_humps_that_touch),
		cmocka_unit_test(of_many_humps_the_largest_are_told),
		cmocka_unit_test(an_uneven_slope_is_no_hump),
		cmocka_unit_test(strays_are_none),
	};

	return cmocka_run_group_tests_name("humps", tests, NULL, NULL);
}
