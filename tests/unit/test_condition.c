/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "events.h"
#include "keep/condition.h"

static char err[256];
static struct condition condition;

static void parse(const char *text)
{
	if (condition_parse(text, &condition, err, sizeof(err)))
		fail_msg("%s", err);
}

TEST(every_example_of_the_help_can_be_asked)
{
#define EXAMPLE(name, form, example, text)                                                         \
	parse(example);                                                                            \
	assert_int_equal(condition.kind, CONDITION_##name);
	CONDITIONS(EXAMPLE)
#undef EXAMPLE
}

TEST(every_metric_has_values_and_percentiles)
{
	char text[64];

	for (int m = 0; m < METRIC_COUNT; m++) {
		snprintf(text, sizeof(text), "%s>1.5s", metric_name(m));
		parse(text);
		assert_int_equal(condition.metric, m);
		assert_int_equal(condition.threshold_ns, 1500000000);
		snprintf(text, sizeof(text), "%s.p99.9 > 20ms", metric_name(m));
		parse(text);
		assert_int_equal(condition.kind, CONDITION_PERCENTILE);
		assert_true(condition.percentile > 99.8 && condition.percentile < 100);
	}
}

TEST(every_outcome_has_a_rate)
{
	char text[64];

	for (enum outcome o = 0; o < OUTCOME_COUNT; o++) {
		snprintf(text, sizeof(text), "%s>0.5/s", outcome_name(o));
		parse(text);
		assert_int_equal(condition.kind, CONDITION_RATE);
		assert_int_equal(condition.outcome, o);
		assert_true(condition.threshold == 0.5);
	}
}

TEST(spaces_around_are_dropped)
{
	parse("  dns > 500ms ");
	assert_string_equal(condition.text, "dns > 500ms");
	assert_int_equal(condition.threshold_ns, MS(500));
}

TEST(every_mistake_is_told_with_its_place)
{
	const struct {
		const char *text, *message;
	} mistakes[] = {
		{ "", "position 1: expected a name" },
		{ ">5", "position 1: expected a name" },
		{ "DNS>5", "position 1: expected a name" },
		{ "dsn>5", "position 1: 'dsn' is no metric" },
		{ "dns", "position 4: expected > and a value" },
		{ "dns<5", "position 4: expected >" },
		{ "dns>=5", "position 5: expected >, not >=" },
		{ "dns=5", "position 4: expected >" },
		{ "dns>", "position 5: expected a duration" },
		{ "dns>fast", "position 5: expected a duration" },
		{ "dns>5 s", "position 5: expected a duration" },
		{ "dns>-1s", "position 5: a duration lies between" },
		{ "dns>99999h", "position 5: a duration lies between" },
		{ "wait.>5", "position 6: expected a percentile" },
		{ "wait.99>5", "position 6: expected a percentile" },
		{ "wait.p>5", "position 6: expected a percentile" },
		{ "wait.p0>5", "position 6: expected a percentile" },
		{ "wait.p100>5", "position 6: expected a percentile" },
		{ "wait.p1e1>5", "position 6: expected a percentile" },
		{ "failed.p99>5", "position 7: only a duration has percentiles" },
		{ "in_setup.p99>5", "position 9: only a duration has percentiles" },
		{ "failed>10", "position 8: expected a rate" },
		{ "failed>x/s", "position 8: expected a rate" },
		{ "failed>10/m", "position 8: expected a rate" },
		{ "failed>inf/s", "position 8: expected a rate" },
		{ "failed>-1/s", "position 8: expected a rate" },
		{ "in_setup>", "position 10: expected a number" },
		{ "in_setup>5s", "position 10: expected a number" },
		{ "in_setup>-5", "position 10: expected a number" },
		{ "in_setup>99999999999", "position 10: expected a number" },
		{ "oldest>old", "position 8: expected a duration" },
		{ "wait>2s wait>3s", "position 6: expected a duration" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		assert_int_equal(condition_parse(mistakes[i].text, &condition, err, sizeof(err)),
				 -EINVAL);
		if (!strstr(err, mistakes[i].message))
			fail_msg("%s: %s", mistakes[i].text, err);
	}
}

TEST(a_condition_that_is_no_text_is_shown_harmless)
{
	assert_int_equal(condition_parse("\x1b[2J", &condition, err, sizeof(err)), -EINVAL);
	assert_null(strchr(err, 0x1b));
	assert_int_equal(
		condition_parse("a_name_that_is_far_too_long_to_be_that_of_any_metric_or_outcome",
				&condition, err, sizeof(err)),
		-EINVAL);
}

TEST(the_help_names_every_metric_and_outcome)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	condition_help(out);
	fclose(out);
	for (int m = 0; m < METRIC_COUNT; m++)
		assert_non_null(strstr(text, metric_name(m)));
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		assert_non_null(strstr(text, outcome_name(o)));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(strlen(line), 1, 80);
	free(text);
}

/* -- held against the stream
 * ----------------------------------------------------------------------- */

static struct condition_watch *watched;
static double value;

static void watch(const char *text)
{
	parse(text);
	condition_watch_free(watched);
	watched = condition_watch_new(&condition);
	assert_non_null(watched);
}

static int unwatch(void **state)
{
	(void)state;
	condition_watch_free(watched);
	watched = NULL;
	return 0;
}

static bool conn_at(int second, uint64_t hostname_ns, enum outcome outcome)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = EVENTS_T0 + (int64_t)SEC(second) };

	ev.conn = conn_begin("10.0.0.1", 1, hostname_ns);
	ev.conn.outcome = outcome;
	return condition_holds(watched, &ev, &value);
}

static bool sweep_at(int second, const struct conn *list, size_t count)
{
	struct event ev = { .type = EVENT_SWEEP, .at_ns = EVENTS_T0 + (int64_t)SEC(second) };

	ev.sweep.list = list;
	ev.sweep.count = count;
	return condition_holds(watched, &ev, &value);
}

static struct conn stuck(enum phase phase, uint64_t age_ns)
{
	struct conn c = conn_begin("10.0.0.1", 1, age_ns);

	c.phase = phase;
	c.age_ns = age_ns;
	return c;
}

TEST(one_value_above_is_enough_and_one_equal_is_not)
{
	watch("hostname>500ms");
	assert_false(conn_at(0, MS(500), OUTCOME_READY));
	assert_true(conn_at(0, MS(501), OUTCOME_READY));
	assert_true(value > 0.5009 && value < 0.5011);
}

TEST(a_value_that_was_not_measured_is_not_above_zero)
{
	watch("dns>0");
	assert_false(conn_at(0, MS(5), OUTCOME_READY));
}

TEST(a_value_of_a_connection_in_setup_counts_as_far_as_it_goes)
{
	struct conn c = stuck(PHASE_HOSTNAME, SEC(2));

	watch("hostname>1s");
	assert_true(sweep_at(0, &c, 1));
	assert_true(value == 2);
}

TEST(percentiles_are_of_the_last_ten_seconds)
{
	watch("hostname.p90>1s");
	for (int s = 0; s < 10; s++)
		for (int i = 0; i < 10; i++)
			assert_false(conn_at(s, i == 0 ? SEC(3) : MS(1), OUTCOME_READY));
	assert_false(sweep_at(9, NULL, 0)); /* exactly a tenth is slow */
	conn_at(9, SEC(3), OUTCOME_READY);
	assert_true(sweep_at(9, NULL, 0));
	assert_true(value >= 2.9 && value <= 3.1);
	assert_false(sweep_at(30, NULL, 0));
}

TEST(rates_are_of_the_last_ten_seconds)
{
	watch("failed>1/s");
	for (int i = 0; i < 10; i++)
		conn_at(0, MS(1), OUTCOME_FAILED);
	for (int i = 0; i < 100; i++)
		conn_at(0, MS(1), OUTCOME_READY);
	assert_false(sweep_at(0, NULL, 0));
	conn_at(5, MS(1), OUTCOME_FAILED);
	assert_true(sweep_at(9, NULL, 0));
	assert_true(value == 1.1);
	assert_false(sweep_at(10, NULL, 0));
}

TEST(a_rate_above_nothing_holds_with_the_first)
{
	watch("killed>0/s");
	assert_false(sweep_at(0, NULL, 0));
	conn_at(1, MS(1), OUTCOME_KILLED);
	assert_true(sweep_at(1, NULL, 0));
}

TEST(those_in_setup_are_counted_but_not_those_from_before_the_trace)
{
	struct conn list[4] = { stuck(PHASE_UNKNOWN, SEC(90)), stuck(PHASE_AUTH, SEC(5)),
				stuck(PHASE_AUTH, SEC(4)), stuck(PHASE_FORK, SEC(1)) };

	watch("in_setup>3");
	assert_false(sweep_at(0, list, 4));
	watch("in_setup>2");
	assert_true(sweep_at(0, list, 4));
	assert_true(value == 3);
	watch("oldest>5s");
	assert_false(sweep_at(0, list, 4));
	watch("oldest>4.9s");
	assert_true(sweep_at(0, list, 4));
	assert_true(value == 5);
}

TEST(a_clock_set_back_does_not_keep_old_values_for_ever)
{
	watch("killed>0/s");
	conn_at(5000, MS(1), OUTCOME_KILLED);
	assert_false(sweep_at(0, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_of_the_help_can_be_asked),
		cmocka_unit_test(every_metric_has_values_and_percentiles),
		cmocka_unit_test(every_outcome_has_a_rate),
		cmocka_unit_test(spaces_around_are_dropped),
		cmocka_unit_test(every_mistake_is_told_with_its_place),
		cmocka_unit_test(a_condition_that_is_no_text_is_shown_harmless),
		cmocka_unit_test(the_help_names_every_metric_and_outcome),
		cmocka_unit_test_teardown(one_value_above_is_enough_and_one_equal_is_not, unwatch),
		cmocka_unit_test_teardown(a_value_that_was_not_measured_is_not_above_zero, unwatch),
		cmocka_unit_test_teardown(a_value_of_a_connection_in_setup_counts_as_far_as_it_goes,
					  unwatch),
		cmocka_unit_test_teardown(percentiles_are_of_the_last_ten_seconds, unwatch),
		cmocka_unit_test_teardown(rates_are_of_the_last_ten_seconds, unwatch),
		cmocka_unit_test_teardown(a_rate_above_nothing_holds_with_the_first, unwatch),
		cmocka_unit_test_teardown(
			those_in_setup_are_counted_but_not_those_from_before_the_trace, unwatch),
		cmocka_unit_test_teardown(a_clock_set_back_does_not_keep_old_values_for_ever,
					  unwatch),
	};

	return cmocka_run_group_tests_name("condition", tests, NULL, NULL);
}
