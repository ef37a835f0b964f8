// SPDX-License-Identifier: BSD-2-Clause
/* When a probe that stays silent is called so, and when not. */
#include "unit.h"

#include <string.h>

#include "capture/silence.h"

/* PostgreSQL 18's probes, all but the marker that stands in for ready. */
static struct plan plan_18(void)
{
	struct plan plan = { .missing_phases = 0 };

	for (int p = 0; p < PROBE_COUNT; p++)
		plan.use[p] = p != PROBE_READY_REPORT && p != PROBE_READY_BEGIN &&
			      p != PROBE_ACCEPT_STREAM;
	return plan;
}

static struct record ready_record(void)
{
	struct record rec = { .ready = 1, .has_user = 1 };

	for (int m = 0; m < MARK_COUNT; m++)
		rec.start[m] = 1000 + m;
	return rec;
}

static struct record ended(enum phase phase, unsigned int status)
{
	struct record rec = { .exited = 1, .exit_code = status << 8 };

	for (int m = 0; m <= (int)phase; m++)
		rec.start[m] = 1000 + m;
	return rec;
}

/* What is called silent after so many such connections. */
static unsigned int after(const struct record *rec, int count)
{
	struct plan plan = plan_18();
	struct silence silence = { 0 };
	unsigned int silent = 0;

	while (count--)
		silent |= silence_take(&silence, &plan, rec);
	return silent;
}

TEST(connections_that_pass_every_probe_leave_nothing_silent)
{
	struct record rec = ready_record();

	assert_int_equal(after(&rec, 100), 0);
}

TEST(a_probe_is_silent_once_twenty_connections_went_past_it)
{
	struct record rec = ready_record();

	rec.start[PHASE_JOIN] = 0;
	assert_int_equal(after(&rec, 19), 0);
	assert_int_equal(after(&rec, 20), 1u << PROBE_INIT_PROCESS);
}

TEST(a_silent_probe_is_told_only_once)
{
	struct plan plan = plan_18();
	struct silence silence = { 0 };
	struct record rec = ready_record();
	int told = 0;

	rec.start[PHASE_JOIN] = 0;
	for (int i = 0; i < 100; i++)
		told += silence_take(&silence, &plan, &rec) != 0;
	assert_int_equal(told, 1);
}

TEST(a_probe_that_fired_once_is_never_silent)
{
	struct plan plan = plan_18();
	struct silence silence = { 0 };
	struct record rec = ready_record();

	silence_take(&silence, &plan, &rec);
	rec.start[PHASE_JOIN] = 0;
	for (int i = 0; i < 100; i++)
		assert_int_equal(silence_take(&silence, &plan, &rec), 0);
}

TEST(connections_that_end_before_a_probe_say_nothing_about_it)
{
	struct record rec = ended(PHASE_STARTUP, 0);

	assert_int_equal(after(&rec, 100), 0);
}

TEST(accept_is_silent_when_clients_are_met_without_it)
{
	struct record rec = ready_record();

	rec.start[PHASE_QUEUE] = rec.start[PHASE_FORK] = 0;
	assert_int_equal(after(&rec, 20), 1u << PROBE_ACCEPT);
}

TEST(a_function_that_is_not_probed_is_never_silent)
{
	struct plan plan = plan_18();
	struct silence silence = { 0 };
	struct record rec = ready_record();

	plan.use[PROBE_ACCEPT] = false;
	rec.start[PHASE_FORK] = 0;
	for (int i = 0; i < 100; i++)
		assert_int_equal(silence_take(&silence, &plan, &rec), 0);
}

TEST(entry_and_return_of_authentication_fall_silent_together)
{
	struct record rec = ready_record();

	rec.start[PHASE_AUTH] = rec.start[PHASE_PREPARE] = 0;
	assert_int_equal(after(&rec, 20), 1u << PROBE_AUTH_ENTER | 1u << PROBE_AUTH_RETURN);
}

TEST(the_ready_marker_is_silent_when_sessions_end_in_peace_behind_authentication)
{
	struct record rec = ended(PHASE_PREPARE, 0);

	rec.has_user = 1;
	assert_int_equal(after(&rec, 20), 1u << PROBE_READY_LOGIN);
}

TEST(failures_behind_authentication_say_nothing_about_the_ready_marker)
{
	struct record rec = ended(PHASE_PREPARE, 1);

	rec.errcode_ns = 1;
	assert_int_equal(after(&rec, 100), 0);
}

TEST(errcode_is_silent_when_authentication_fails_without_a_word)
{
	struct record rec = ended(PHASE_AUTH, 1);

	assert_int_equal(after(&rec, 20), 1u << PROBE_ERRCODE);
}

TEST(a_startup_packet_that_never_came_needs_no_errcode)
{
	struct record rec = ended(PHASE_STARTUP, 1);

	assert_int_equal(after(&rec, 100), 0);
}

TEST(what_a_sweep_or_a_counter_saw_counts_at_once)
{
	struct plan plan = plan_18();
	struct silence silence = { 0 };

	assert_int_equal(silence_count(&silence, &plan, PROBE_GETNAMEINFO_ENTER, 25),
			 1u << PROBE_GETNAMEINFO_ENTER);
	assert_int_equal(silence_count(&silence, &plan, PROBE_GETNAMEINFO_ENTER, 25), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_that_pass_every_probe_leave_nothing_silent),
		cmocka_unit_test(a_probe_is_silent_once_twenty_connections_went_past_it),
		cmocka_unit_test(a_silent_probe_is_told_only_once),
		cmocka_unit_test(a_probe_that_fired_once_is_never_silent),
		cmocka_unit_test(connections_that_end_before_a_probe_say_nothing_about_it),
		cmocka_unit_test(accept_is_silent_when_clients_are_met_without_it),
		cmocka_unit_test(a_function_that_is_not_probed_is_never_silent),
		cmocka_unit_test(entry_and_return_of_authentication_fall_silent_together),
		cmocka_unit_test(the_ready_marker_is_silent_when_sessions_end_in_peace_behind_authentication),
		cmocka_unit_test(failures_behind_authentication_say_nothing_about_the_ready_marker),
		cmocka_unit_test(errcode_is_silent_when_authentication_fails_without_a_word),
		cmocka_unit_test(a_startup_packet_that_never_came_needs_no_errcode),
		cmocka_unit_test(what_a_sweep_or_a_counter_saw_counts_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
