/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <malloc.h>
#include <stdlib.h>

#include "events.h"

static struct hist scratch;

static int begin(void **state)
{
	struct event ev = event_start(EVENTS_T0);
	struct stats *s = stats_new();

	*state = s;
	return feed(s, &ev);
}

static int finish(void **state)
{
	stats_free(*state);
	return 0;
}

#define STATS_TEST(name) static void name(void **state)

STATS_TEST(every_connection_is_counted_once)
{
	struct stats *s = *state;
	struct conn stuck[2] = { conn_stuck("10.0.0.1", 1, SEC(3)), conn_stuck("10.0.0.2", 2, SEC(1)) };
	struct event sweep = { .type = EVENT_SWEEP, .at_ns = EVENTS_T0 };
	struct event tick = event_tick(EVENTS_T0, 3, 0);

	sweep.sweep.list = stuck;
	sweep.sweep.count = 2;
	assert_int_equal(feed(s, &sweep), 0);
	assert_int_equal(feed(s, &tick), 0);
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.3", 3, MS(3)));
	feed_conn(s, EVENTS_T0, conn_failed("10.0.0.3", 4, "28P01"));
	assert_int_equal(stats_in_setup(s), 2);
	assert_int_equal(stats_connections(s), 7);

	feed_conn(s, EVENTS_T0, conn_gave_up("10.0.0.1", 1, SEC(3), SEC(10)));
	assert_int_equal(stats_in_setup(s), 1);
	assert_int_equal(stats_outcome(s, OUTCOME_GAVE_UP), 1);
	assert_int_equal(stats_ended_in(s, OUTCOME_GAVE_UP, PHASE_HOSTNAME), 1);
	assert_int_equal(stats_connections(s), 7);
	assert_int_equal(stats_lost(s), 3);
}

STATS_TEST(histograms_hold_ended_connections_only)
{
	struct stats *s = *state;
	struct conn stuck = conn_stuck("10.0.0.1", 1, SEC(3));
	struct event ev = event_in_setup(EVENTS_T0, stuck);

	feed(s, &ev);
	assert_int_equal(stats_hist(s, METRIC_WAIT, STATS_ALL, &scratch)->count, 0);
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.3", 3, MS(3)));
	assert_int_equal(stats_hist(s, METRIC_WAIT, STATS_ALL, &scratch)->count, 1);
	assert_int_equal(stats_hist(s, METRIC_PHASE(PHASE_HOSTNAME), STATS_ALL, &scratch)->max_ns,
			 MS(3));
	assert_int_equal(stats_hist(s, METRIC_PHASE(PHASE_LOGIN), STATS_ALL, &scratch)->count, 0);
}

STATS_TEST(a_share_is_of_the_sum_of_total)
{
	struct stats *s = *state;
	struct conn c = conn_begin("10.0.0.1", 1, US(85));

	assert_true(stats_share(s, METRIC_PHASE(PHASE_HOSTNAME), STATS_ALL) < 0);
	c.outcome = OUTCOME_CLOSED;
	feed_conn(s, EVENTS_T0, c); /* 513 + 402 + 85 us: 1 ms; the queue is not in total */
	assert_true(stats_share(s, METRIC_PHASE(PHASE_HOSTNAME), STATS_ALL) == 0.085);
	assert_true(stats_share(s, METRIC_PHASE(PHASE_HOSTNAME), 1) == 0.085);
}

STATS_TEST(a_window_forgets_what_is_older)
{
	struct stats *s = *state;
	struct event tick = event_tick(EVENTS_T0 + SEC(90), 0, 0);

	feed_conn(s, EVENTS_T0 + SEC(1), conn_ready("10.0.0.1", 1, SEC(10)));
	feed_conn(s, EVENTS_T0 + SEC(59), conn_ready("10.0.0.1", 2, MS(3)));
	assert_int_equal(stats_hist(s, METRIC_WAIT, 1, &scratch)->count, 2);
	feed(s, &tick);
	assert_int_equal(stats_hist(s, METRIC_WAIT, 1, &scratch)->count, 1);
	assert_true(stats_hist(s, METRIC_WAIT, 1, &scratch)->max_ns < SEC(1));
	assert_int_equal(stats_hist(s, METRIC_WAIT, 5, &scratch)->count, 2);
	assert_int_equal(stats_outcome_recent(s, OUTCOME_READY, 1), 1);
	tick.at_ns = EVENTS_T0 + SEC(3600);
	feed(s, &tick);
	assert_int_equal(stats_hist(s, METRIC_WAIT, 5, &scratch)->count, 0);
	assert_int_equal(stats_hist(s, METRIC_WAIT, STATS_ALL, &scratch)->count, 2);
}

STATS_TEST(slots_of_time_are_used_again_without_what_they_held)
{
	struct stats *s = *state;

	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 1, SEC(10)));
	feed_conn(s, EVENTS_T0 + SEC(300), conn_ready("10.0.0.1", 1, MS(3)));
	assert_int_equal(stats_hist(s, METRIC_WAIT, 5, &scratch)->count, 1);
}

STATS_TEST(the_rate_counts_since_the_start_when_that_is_nearer)
{
	struct stats *s = *state;

	for (int i = 0; i < 40; i++)
		feed_conn(s, EVENTS_T0 + SEC(1) + i * MS(50), conn_ready("10.0.0.1", i, MS(1)));
	assert_true(stats_rate(s, 60) > 13 && stats_rate(s, 60) < 14);
}

STATS_TEST(the_strip_has_a_column_for_each_slot_the_newest_last)
{
	struct stats *s = *state;
	uint32_t counts[STRIP_COLUMNS][STRIP_ROWS];
	unsigned int columns;

	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 1, US(3)));
	feed_conn(s, EVENTS_T0 + SEC(12), conn_ready("10.0.0.1", 1, SEC(10)));
	columns = stats_strip(s, METRIC_PHASE(PHASE_HOSTNAME), STRIP_COLUMNS, counts);
	assert_int_equal(columns, 3);
	assert_int_equal(counts[0][0], 1); /* below 4.1 us */
	assert_int_equal(counts[1][0], 0);
	assert_int_equal(counts[2][11], 1); /* 4.3 s to 17 s */
	assert_int_equal(stats_strip(s, METRIC_WAIT, 1, counts), 1);
}

STATS_TEST(tables_are_bounded_and_the_rest_is_other)
{
	struct stats *s = *state;
	const struct key_row *const *rows;
	uint64_t sum = 0, other = 0;
	size_t count;
	char client[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(client, sizeof(client), "10.1.%d.%d", i / 250, i % 250);
		feed_conn(s, EVENTS_T0, conn_ready(client, i + 1, MS(1)));
	}
	rows = stats_table(s, KEY_CLIENT, &count);
	assert_int_equal(count, KEY_ROWS + 1);
	for (size_t i = 0; i < count; i++) {
		sum += rows[i]->count;
		if (rows[i]->special)
			other = rows[i]->count;
	}
	assert_int_equal(sum, 1000);
	assert_int_equal(other, 1000 - KEY_ROWS);
	assert_string_equal(rows[0]->value, "(other)"); /* most waited for first */
}

STATS_TEST(a_user_who_is_called_other_is_not_the_row_other)
{
	struct stats *s = *state;
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));
	const struct key_row *const *rows;
	size_t count;

	strcpy(c.user, "(unknown)");
	feed_conn(s, EVENTS_T0, c);
	c.has_user = false;
	feed_conn(s, EVENTS_T0, c);
	rows = stats_table(s, KEY_USER, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0]->special + rows[1]->special, 1);
}

STATS_TEST(networks_of_clients_have_their_width)
{
	struct stats *s = *state;
	size_t count;

	feed_conn(s, EVENTS_T0, conn_ready("10.0.7.1", 1, MS(9)));
	feed_conn(s, EVENTS_T0, conn_ready("10.0.7.200", 2, MS(9)));
	feed_conn(s, EVENTS_T0, conn_ready("2001:db8::1:2", 2, MS(1)));
	assert_string_equal(stats_table(s, KEY_NETWORK, &count)[0]->value, "10.0.7.0/24");
	assert_string_equal(stats_table(s, KEY_NETWORK, &count)[1]->value, "2001:db8::/64");
	assert_int_equal(count, 2);
}

STATS_TEST(failures_are_told_by_sqlstate_most_frequent_first)
{
	struct stats *s = *state;
	const struct failure_row *rows;
	size_t count;
	char sqlstate[6];

	feed_conn(s, EVENTS_T0, conn_failed("10.0.0.1", 1, ""));
	for (int i = 0; i < 3; i++)
		feed_conn(s, EVENTS_T0, conn_failed("10.0.0.1", 1, "28P01"));
	rows = stats_failures(s, &count);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].sqlstate, "28P01");
	assert_int_equal(rows[0].count, 3);
	assert_string_equal(rows[1].sqlstate, "");
	for (int i = 0; i < 200; i++) {
		snprintf(sqlstate, sizeof(sqlstate), "X%04d", i);
		feed_conn(s, EVENTS_T0, conn_failed("10.0.0.1", 1, sqlstate));
	}
	rows = stats_failures(s, &count);
	assert_int_equal(count, FAILURE_ROWS + 1);
	assert_string_equal(rows[FAILURE_ROWS].sqlstate, "other");
	assert_int_equal(rows[FAILURE_ROWS].count, 200 - (FAILURE_ROWS - 2));
}

STATS_TEST(an_address_that_connects_again_is_looked_up_again)
{
	struct stats *s = *state;
	size_t count;
	const struct address_row *const *rows;
	struct conn slow = conn_ready("10.0.0.9", 9, SEC(10)), six = conn_ready("fd00::1", 10, MS(3));

	for (int i = 0; i < 3; i++) {
		struct conn c = conn_ready("10.0.0.1", i + 1, MS(3));

		conn_add_lookup(&c, RESULT_NAME, 0, MS(3));
		feed_conn(s, EVENTS_T0, c);
	}
	conn_add_lookup(&slow, RESULT_FAILED, -3, SEC(10));
	feed_conn(s, EVENTS_T0, slow);
	conn_add_lookup(&six, RESULT_NO_NAME, 0, MS(3));
	feed_conn(s, EVENTS_T0, six);
	rows = stats_addresses(s, &count);
	assert_int_equal(count, 3);
	assert_int_equal(rows[0]->address.bytes[3], 9); /* most time first */
	assert_int_equal(rows[0]->unnamed, 1);
	assert_int_equal(rows[1]->lookups, 3);
	assert_int_equal(rows[1]->sum_ns, MS(9));
	assert_int_equal(stats_family(s, ADDR_V4)->dur.count, 4);
	assert_int_equal(stats_family(s, ADDR_V4)->addresses, 2);
	assert_int_equal(stats_family(s, ADDR_V4)->again, 2);
	assert_int_equal(stats_family(s, ADDR_V4)->failed, 1);
	assert_int_equal(stats_family(s, ADDR_V6)->dur.count, 1);
	assert_int_equal(stats_family(s, ADDR_V6)->unnamed, 0);
}

STATS_TEST(only_a_failed_lookup_by_log_hostname_leaves_question_marks)
{
	struct stats *s = *state;
	struct conn c = conn_ready("10.0.0.1", 1, MS(3));

	conn_add_lookup(&c, RESULT_NO_NAME, 0, MS(3));
	conn_add_lookup(&c, RESULT_FAILED, -3, SEC(10));
	c.lookups[1].by = ASKER_HBA;
	conn_add_lookup(&c, RESULT_PENDING, 0, SEC(1));
	feed_conn(s, EVENTS_T0, c);
	assert_int_equal(stats_family(s, ADDR_V4)->unnamed, 0);
	assert_int_equal(stats_family(s, ADDR_V4)->failed, 2);
}

STATS_TEST(addresses_beyond_the_table_share_a_row)
{
	struct stats *s = *state;
	size_t count;
	const struct address_row *const *rows;
	uint64_t lookups = 0;

	for (int i = 0; i < ADDRESS_ROWS + 20; i++) {
		char text[32];
		struct conn c;

		snprintf(text, sizeof(text), "10.0.%d.%d", i / 250, i % 250);
		c = conn_ready(text, i + 1, MS(3));
		conn_add_lookup(&c, RESULT_NAME, 0, MS(3));
		feed_conn(s, EVENTS_T0, c);
	}
	rows = stats_addresses(s, &count);
	assert_int_equal(count, ADDRESS_ROWS + 1);
	assert_int_equal(rows[0]->address.family, ADDR_NONE);
	assert_int_equal(rows[0]->lookups, 20);
	for (size_t i = 0; i < count; i++)
		lookups += rows[i]->lookups;
	assert_int_equal(lookups, ADDRESS_ROWS + 20);
}

STATS_TEST(lookups_are_told_by_asker_direction_and_result)
{
	struct stats *s = *state;
	const struct lookup_row *rows;
	struct conn c = conn_ready("10.0.0.1", 1, MS(3));
	size_t count;

	conn_add_lookup(&c, RESULT_NAME, 0, MS(3));
	conn_add_lookup(&c, RESULT_FAILED, -3, SEC(10));
	c.lookup_count += 4;
	feed_conn(s, EVENTS_T0, c);
	feed_conn(s, EVENTS_T0, c);
	rows = stats_lookups(s, &count);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].dur.count, 2);
	assert_int_equal(rows[1].code, -3);
	assert_int_equal(rows[1].dur.max_ns, SEC(10));
	assert_int_equal(stats_lookups_untold(s), 8);
}

STATS_TEST(what_only_rejects_is_counted_and_enters_nothing_else)
{
	struct stats *s = *state;
	struct filter f = { 0 };
	struct event ev = event_conn(EVENTS_T0, conn_ready("10.0.0.1", 1, MS(3)));
	char err[256];
	size_t count;

	assert_int_equal(filter_add(&f, "client=10.9.0.0/16", err, sizeof(err)), 0);
	assert_int_equal(stats_event(s, &f, &ev), 0);
	assert_int_equal(stats_outcome(s, OUTCOME_READY), 1);
	assert_int_equal(stats_filtered(s), 1);
	assert_int_equal(stats_hist(s, METRIC_WAIT, STATS_ALL, &scratch)->count, 0);
	stats_table(s, KEY_CLIENT, &count);
	assert_int_equal(count, 0);
}

STATS_TEST(what_longer_than_rejects_is_in_the_histograms_all_the_same)
{
	struct stats *s = *state;
	struct filter f = { .longer_than_ns = SEC(1) };
	struct event ev = event_conn(EVENTS_T0, conn_ready("10.0.0.1", 1, MS(3)));

	assert_int_equal(stats_event(s, &f, &ev), 0);
	assert_int_equal(stats_filtered(s), 1);
	assert_int_equal(stats_hist(s, METRIC_WAIT, STATS_ALL, &scratch)->count, 1);
}

STATS_TEST(the_end_of_a_filtered_trace_tells_what_is_not_in_it)
{
	struct stats *s = *state;
	struct event start = event_start(EVENTS_T0);
	struct event end = { .type = EVENT_END, .at_ns = EVENTS_T0 + SEC(5) };

	strcpy(start.start.filter, "longer-than=1s");
	feed(s, &start);
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 1, SEC(3)));
	end.end.outcomes[OUTCOME_READY] = 200;
	end.end.connections = 202;
	end.end.lost = 2;
	feed(s, &end);
	assert_int_equal(stats_outcome(s, OUTCOME_READY), 200);
	assert_int_equal(stats_filtered(s), 199);
	assert_int_equal(stats_connections(s), 202);
	assert_non_null(stats_end(s));
}

STATS_TEST(a_trace_after_another_adds_its_connections_and_losses)
{
	struct stats *s = *state;
	struct event start = event_start(EVENTS_T0 + SEC(60));
	struct event tick = event_tick(EVENTS_T0, 3, 0);

	feed(s, &tick);
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 1, MS(3)));
	feed(s, &start);
	tick.at_ns += SEC(60);
	feed(s, &tick);
	feed_conn(s, EVENTS_T0 + SEC(61), conn_ready("10.0.0.1", 1, MS(3)));
	assert_int_equal(stats_lost(s), 6);
	assert_int_equal(stats_outcome(s, OUTCOME_READY), 2);
	assert_int_equal(stats_first_ns(s), EVENTS_T0);
}

STATS_TEST(in_setup_lines_rebuild_the_list_and_replace_earlier_ones)
{
	struct stats *s = *state;
	struct event ev = event_in_setup(EVENTS_T0, conn_stuck("10.0.0.1", 7207, SEC(2)));
	const struct conn *list;
	size_t count;

	feed(s, &ev);
	ev = event_in_setup(EVENTS_T0 + SEC(1), conn_stuck("10.0.0.1", 7207, SEC(3)));
	feed(s, &ev);
	list = stats_in_setup_list(s, &count);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].age_ns, SEC(3));
	assert_int_equal(stats_in_setup_phase(s, PHASE_HOSTNAME), 1);
	assert_int_equal(stats_in_setup_pending(s, ASKER_LOG_HOSTNAME), 1);
	assert_int_equal(stats_in_setup_pending(s, ASKER_HBA), 0);
}

STATS_TEST(connections_from_before_the_start_are_listed_and_not_counted)
{
	struct stats *s = *state;
	struct conn before = conn_stuck("10.0.0.1", 1, SEC(1));
	struct event ev;
	size_t count;

	before.phase = PHASE_UNKNOWN;
	ev = event_in_setup(EVENTS_T0, before);
	feed(s, &ev);
	stats_in_setup_list(s, &count);
	assert_int_equal(count, 1);
	assert_int_equal(stats_in_setup(s), 0);
}

STATS_TEST(thousands_in_setup_are_all_counted_and_the_oldest_listed)
{
	struct stats *s = *state;
	struct conn *many = calloc(3000, sizeof(*many));
	struct event sweep = { .type = EVENT_SWEEP, .at_ns = EVENTS_T0 };
	const struct conn *list;
	size_t count;

	for (int i = 0; i < 3000; i++)
		many[i] = conn_stuck("10.0.0.1", i + 1, SEC(100) - MS(i));
	sweep.sweep.list = many;
	sweep.sweep.count = 3000;
	feed(s, &sweep);
	list = stats_in_setup_list(s, &count);
	assert_int_equal(count, IN_SETUP_LISTED);
	assert_int_equal(list[0].pid, 1);
	assert_int_equal(stats_in_setup_phase(s, PHASE_HOSTNAME), 3000);
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 2, MS(1)));
	feed_conn(s, EVENTS_T0, conn_ready("10.0.0.1", 2999, MS(1)));
	assert_int_equal(stats_in_setup(s), 2998);
	free(many);
}

STATS_TEST(a_reload_changes_the_settings_it_names_and_no_others)
{
	struct stats *s = *state;
	struct event ev = { .type = EVENT_SETTINGS, .at_ns = EVENTS_T0 };

	ev.settings.has_log_line_prefix = true;
	strcpy(ev.settings.log_line_prefix, "%h ");
	feed(s, &ev);
	assert_true(stats_settings(s)->log_hostname);
	assert_string_equal(stats_settings(s)->log_line_prefix, "%h ");
}

STATS_TEST(a_copy_stays_as_it_was)
{
	struct stats *s = *state, *copy;
	struct event ev = event_in_setup(EVENTS_T0, conn_stuck("10.0.0.1", 7207, SEC(2)));
	struct conn c = conn_ready("10.0.0.1", 1, MS(3));
	size_t count;

	conn_add_lookup(&c, RESULT_NAME, 0, MS(3));
	feed(s, &ev);
	feed_conn(s, EVENTS_T0, c);
	copy = stats_clone(s);
	assert_non_null(copy);
	for (int i = 0; i < 50; i++)
		feed_conn(s, EVENTS_T0, c);
	feed_conn(s, EVENTS_T0, conn_gave_up("10.0.0.1", 7207, SEC(3), SEC(10)));
	assert_int_equal(stats_connections(copy), 2);
	assert_int_equal(stats_hist(copy, METRIC_WAIT, STATS_ALL, &scratch)->count, 1);
	assert_int_equal(stats_hist(copy, METRIC_WAIT, 1, &scratch)->count, 1);
	assert_int_equal(stats_table(copy, KEY_CLIENT, &count)[0]->count, 1);
	assert_int_equal(stats_lookups(copy, &count)[0].dur.count, 1);
	assert_int_equal(stats_in_setup_list(copy, &count)[0].pid, 7207);
	feed_conn(copy, EVENTS_T0, conn_failed("10.0.0.9", 4, "28P01"));
	stats_failures(s, &count);
	assert_int_equal(count, 0);
	stats_free(copy);
}

STATS_TEST(everything_full_takes_less_than_8_mb)
{
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct stats *s = stats_new();
	char text[64];
	size_t used;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct conn c;

		snprintf(text, sizeof(text), "10.%d.%d.1", i / 250, i % 250);
		c = conn_ready(text, i + 1, US(i) * i);
		snprintf(c.user, sizeof(c.user), "u%d", i);
		snprintf(c.database, sizeof(c.database), "d%d", i);
		snprintf(c.application, sizeof(c.application), "a%d", i);
		conn_add_lookup(&c, RESULT_FAILED, -i, MS(3));
		feed_conn(s, EVENTS_T0 + (int64_t)MS(200) * i, c);
	}
	for (int i = 0; i < IN_SETUP_LISTED * 2; i++) {
		struct event ev = event_in_setup(EVENTS_T0, conn_stuck("10.0.0.1", i + 9000, SEC(1)));

		feed(s, &ev);
	}
	used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	stats_free(s);
	assert_true(used < 8 << 20);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_connection_is_counted_once),
		CASE(histograms_hold_ended_connections_only),
		CASE(a_share_is_of_the_sum_of_total),
		CASE(a_window_forgets_what_is_older),
		CASE(slots_of_time_are_used_again_without_what_they_held),
		CASE(the_rate_counts_since_the_start_when_that_is_nearer),
		CASE(the_strip_has_a_column_for_each_slot_the_newest_last),
		CASE(tables_are_bounded_and_the_rest_is_other),
		CASE(a_user_who_is_called_other_is_not_the_row_other),
		CASE(networks_of_clients_have_their_width),
		CASE(failures_are_told_by_sqlstate_most_frequent_first),
		CASE(an_address_that_connects_again_is_looked_up_again),
		CASE(only_a_failed_lookup_by_log_hostname_leaves_question_marks),
		CASE(addresses_beyond_the_table_share_a_row),
		CASE(lookups_are_told_by_asker_direction_and_result),
		CASE(what_only_rejects_is_counted_and_enters_nothing_else),
		CASE(what_longer_than_rejects_is_in_the_histograms_all_the_same),
		CASE(the_end_of_a_filtered_trace_tells_what_is_not_in_it),
		CASE(a_trace_after_another_adds_its_connections_and_losses),
		CASE(in_setup_lines_rebuild_the_list_and_replace_earlier_ones),
		CASE(connections_from_before_the_start_are_listed_and_not_counted),
		CASE(thousands_in_setup_are_all_counted_and_the_oldest_listed),
		CASE(a_reload_changes_the_settings_it_names_and_no_others),
		CASE(a_copy_stays_as_it_was),
		CASE(everything_full_takes_less_than_8_mb),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
