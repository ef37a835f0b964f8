// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/timeouts.h"

static struct resolver glibc(unsigned int nameservers)
{
	struct resolver r = { .has = true, .host_count = 2, .hosts = { "files", "dns" },
			      .nameserver_count = nameservers, .timeout_s = 5, .attempts = 2,
			      .libc = "glibc" };

	for (unsigned int i = 0; i < nameservers; i++)
		snprintf(r.nameservers[i], sizeof(r.nameservers[i]), "10.0.0.%u", i + 1);
	return r;
}

static void assert_explained(const struct resolver *r, uint64_t ms, const char *words)
{
	char buf[TIMEOUTS_TEXT_LEN];

	assert_string_equal(timeouts_explain(r, DIRECTION_REVERSE, ms * NS_PER_MS, buf, sizeof(buf)),
			    words);
}

TEST(the_longest_wait_is_each_try_of_each_nameserver)
{
	struct resolver r = glibc(1);

	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 10 * NS_PER_S);
	r = glibc(2);
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 20 * NS_PER_S);
	r.timeout_s = r.attempts = 1;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 2 * NS_PER_S);
}

/* glibc: 5, 5 << 1 / 3 = 3, 5 << 2 / 3 = 6 */
TEST(three_nameservers_share_their_timeouts_unevenly)
{
	struct resolver r = glibc(3);

	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 28 * NS_PER_S);
	assert_explained(&r, 5003, "1 unanswered try of 5s (10.0.0.1)");
	assert_explained(&r, 8004, "2 unanswered tries, 8s in all (10.0.0.1, 10.0.0.2)");
	assert_explained(&r, 28030, "6 unanswered tries, 28s in all (10.0.0.1, 10.0.0.2, 10.0.0.3)");
}

TEST(a_search_list_doubles_the_wait_for_a_name_alone)
{
	struct resolver r = glibc(1);

	r.search_count = 2;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 10 * NS_PER_S);
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_FORWARD), 20 * NS_PER_S);
	assert_int_equal(timeouts_unanswered(&r, DIRECTION_FORWARD, 20 * NS_PER_S), 4);
	assert_int_equal(timeouts_unanswered(&r, DIRECTION_REVERSE, 20 * NS_PER_S), 0);
}

TEST(five_seconds_are_one_timeout_and_ten_are_two)
{
	struct resolver r = glibc(1);

	assert_explained(&r, 5001, "1 unanswered try of 5s (10.0.0.1)");
	assert_explained(&r, 10010, "2 unanswered tries of 5s (10.0.0.1)");
	r = glibc(2);
	assert_explained(&r, 10010, "2 unanswered tries of 5s (10.0.0.1, 10.0.0.2)");
}

TEST(what_is_no_sum_of_timeouts_is_not_explained)
{
	struct resolver r = glibc(1);

	assert_explained(&r, 0, "");
	assert_explained(&r, 4900, "");
	assert_explained(&r, 5600, "");
	assert_explained(&r, 15000, "");
}

TEST(with_rotate_the_silent_nameserver_is_not_named)
{
	struct resolver r = glibc(2);

	r.rotate = true;
	assert_explained(&r, 5001, "1 unanswered try of 5s (any of 2 nameservers)");
	assert_explained(&r, 20001, "4 unanswered tries of 5s (10.0.0.1, 10.0.0.2)");
}

TEST(musl_asks_all_nameservers_at_once)
{
	struct resolver r = glibc(2);

	strcpy(r.libc, "musl");
	r.search_count = 1;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_FORWARD), 5 * NS_PER_S);
	assert_explained(&r, 5001, "1 unanswered try of 5s (10.0.0.1, 10.0.0.2)");
	assert_explained(&r, 10001, "");
}

TEST(another_name_service_has_times_of_its_own)
{
	struct resolver r = glibc(1);

	r.nss_resolve = true;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 0);
	assert_explained(&r, 5001, "");
	r = glibc(1);
	r.host_count = 1; /* files alone */
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 0);
	r = glibc(1);
	r.has = false;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 0);
}

TEST(no_attempts_and_no_nameserver_are_no_wait)
{
	struct resolver r = glibc(1);

	r.attempts = 0;
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 0);
	r = glibc(0);
	assert_int_equal(timeouts_longest_ns(&r, DIRECTION_REVERSE), 0);
	assert_explained(&r, 5001, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_wait_is_each_try_of_each_nameserver),
		cmocka_unit_test(three_nameservers_share_their_timeouts_unevenly),
		cmocka_unit_test(a_search_list_doubles_the_wait_for_a_name_alone),
		cmocka_unit_test(five_seconds_are_one_timeout_and_ten_are_two),
		cmocka_unit_test(what_is_no_sum_of_timeouts_is_not_explained),
		cmocka_unit_test(with_rotate_the_silent_nameserver_is_not_named),
		cmocka_unit_test(musl_asks_all_nameservers_at_once),
		cmocka_unit_test(another_name_service_has_times_of_its_own),
		cmocka_unit_test(no_attempts_and_no_nameserver_are_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
