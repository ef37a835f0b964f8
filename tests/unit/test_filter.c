/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>

#include "events.h"
#include "model/filter.h"

static char err[256], text[256];

static struct filter filter_of(const char *first, const char *second)
{
	struct filter f = { 0 };

	assert_int_equal(filter_add(&f, first, err, sizeof(err)), 0);
	if (second)
		assert_int_equal(filter_add(&f, second, err, sizeof(err)), 0);
	return f;
}

TEST(no_filter_tells_everything)
{
	struct filter f = { 0 };
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));

	assert_true(filter_match(&f, &c));
	assert_true(filter_tell(&f, &c));
	assert_string_equal(filter_text(&f, text, sizeof(text)), "");
}

TEST(several_values_of_one_key_mean_or)
{
	struct filter f = filter_of("user=alice", "user=bench");
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));

	assert_true(filter_match(&f, &c));
	strcpy(c.user, "mallory");
	assert_false(filter_match(&f, &c));
}

TEST(several_keys_mean_and)
{
	struct filter f = filter_of("user=bench", "database=shop");
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));

	assert_false(filter_match(&f, &c));
	strcpy(c.database, "shop");
	assert_true(filter_match(&f, &c));
}

TEST(a_client_is_an_address_or_a_network)
{
	struct conn c = conn_ready("10.1.2.3", 1, MS(1));
	struct filter f = filter_of("client=10.0.0.0/8", NULL);

	assert_true(filter_match(&f, &c));
	f = filter_of("client=10.1.2.3", NULL);
	assert_true(filter_match(&f, &c));
	f = filter_of("client=10.1.2.4", NULL);
	assert_false(filter_match(&f, &c));
	f = filter_of("client=fd00::/8", NULL);
	assert_false(filter_match(&f, &c));
	f = filter_of("client=[local]", NULL);
	assert_false(filter_match(&f, &c));
	addr_parse("[local]", &c.client);
	assert_true(filter_match(&f, &c));
}

TEST(an_outcome_is_one_of_the_table)
{
	struct filter f = filter_of("outcome=failed", "outcome=killed");
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));

	assert_false(filter_match(&f, &c));
	c.outcome = OUTCOME_KILLED;
	assert_true(filter_match(&f, &c));
}

TEST(what_a_connection_in_setup_has_not_told_yet_may_match)
{
	struct filter f = filter_of("user=alice", "outcome=ready");
	struct conn c = conn_stuck("10.0.0.1", 1, SEC(1));

	assert_true(filter_match(&f, &c));
	c.outcome = OUTCOME_CLOSED;
	assert_false(filter_match(&f, &c));
}

TEST(longer_than_holds_back_fast_ready_connections_only)
{
	struct filter f = { .longer_than_ns = MS(100) };
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));

	assert_true(filter_match(&f, &c));
	assert_false(filter_tell(&f, &c));
	c = conn_ready("10.0.0.1", 1, MS(100));
	assert_true(filter_tell(&f, &c));
	c = conn_failed("10.0.0.1", 1, "28P01");
	assert_true(filter_tell(&f, &c));
}

TEST(a_recorded_filter_says_whether_short_connections_are_missing)
{
	struct filter f = filter_of("client=10.0.0.0/8", "user=longer-than=3");

	assert_string_equal(filter_text(&f, text, sizeof(text)),
			    "client=10.0.0.0/8 user=longer-than=3");
	assert_false(filter_text_drops_short(text));
	f.longer_than_ns = MS(1500);
	assert_string_equal(filter_text(&f, text, sizeof(text)),
			    "longer-than=1500ms client=10.0.0.0/8 user=longer-than=3");
	assert_true(filter_text_drops_short(text));
	f.count = 0;
	f.longer_than_ns = SEC(2);
	assert_string_equal(filter_text(&f, text, sizeof(text)), "longer-than=2s");
	f.longer_than_ns = US(1);
	assert_string_equal(filter_text(&f, text, sizeof(text)), "longer-than=1us");
}

TEST(what_is_no_filter_is_refused_with_a_sentence)
{
	static const char *const wrong[] = {
		"",		   "user",		 "=x",
		"network=10.0.0.0/8", "colour=red",	 "client=nowhere",
		"client=10.0.0.0/33", "client=10.0.0.0/", "client=10.0.0.0/8x",
		"client=[local]/3",   "outcome=fine",	 "client=fd00::/129",
		"client=10.0.0.0/-1",
	};
	struct filter f = { 0 };
	char many[200];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		err[0] = '\0';
		assert_int_equal(filter_add(&f, wrong[i], err, sizeof(err)), -EINVAL);
		assert_true(strlen(err) > 10);
	}
	memset(many, 'x', sizeof(many) - 1);
	memcpy(many, "user=", 5);
	many[sizeof(many) - 1] = '\0';
	assert_int_equal(filter_add(&f, many, err, sizeof(err)), -EINVAL);
	assert_int_equal(f.count, 0);
}

TEST(more_filters_than_fit_are_refused)
{
	struct filter f = { 0 };

	for (int i = 0; i < FILTER_MAX; i++)
		assert_int_equal(filter_add(&f, "user=x", err, sizeof(err)), 0);
	assert_int_equal(filter_add(&f, "user=x", err, sizeof(err)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_filter_tells_everything),
		cmocka_unit_test(several_values_of_one_key_mean_or),
		cmocka_unit_test(several_keys_mean_and),
		cmocka_unit_test(a_client_is_an_address_or_a_network),
		cmocka_unit_test(an_outcome_is_one_of_the_table),
		cmocka_unit_test(what_a_connection_in_setup_has_not_told_yet_may_match),
		cmocka_unit_test(longer_than_holds_back_fast_ready_connections_only),
		cmocka_unit_test(a_recorded_filter_says_whether_short_connections_are_missing),
		cmocka_unit_test(what_is_no_filter_is_refused_with_a_sentence),
		cmocka_unit_test(more_filters_than_fit_are_refused),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
