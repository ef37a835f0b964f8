// SPDX-License-Identifier: BSD-2-Clause
/* Which probes are planned for a version's functions, and what is missing without one. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "capture/attach.h"

#define BIT(phase) (1u << PHASE_##phase)

/* A server of that version with everything that it should have, and the marker that stands in. */
static struct target server(int major)
{
	struct target t = { .exe_name = "postgres", .exe_fd = -1 };

	t.symbols.major = major;
	for (int f = 0; f < FUNCTION_COUNT; f++)
		if (function_expected(f, major) || f == FUNCTION_BEGIN_REPORTING)
			t.symbols.functions[f].value = 0x1000 + (unsigned int)f;
	return t;
}

static int plan_for(const struct target *t, struct plan *plan)
{
	struct plan_options o = { .sqlstate = true, .return_probes = true };
	struct problem problem;

	return plan_make(plan, t, &o, &problem);
}

static struct plan plan_without(int major, enum function missing)
{
	struct target t = server(major);
	struct plan plan;

	if (missing < FUNCTION_COUNT)
		t.symbols.functions[missing].value = 0;
	assert_int_equal(plan_for(&t, &plan), 0);
	return plan;
}

TEST(each_version_has_its_own_ready_marker_and_only_that)
{
	static const struct {
		int major;
		enum probe ready;
	} versions[] = { { 13, PROBE_READY_BEGIN },  { 14, PROBE_READY_REPORT },
			 { 16, PROBE_READY_REPORT }, { 17, PROBE_READY_LOGIN },
			 { 18, PROBE_READY_LOGIN } };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct plan plan = plan_without(versions[i].major, FUNCTION_COUNT);
		int markers = plan.use[PROBE_READY_LOGIN] + plan.use[PROBE_READY_REPORT] +
			      plan.use[PROBE_READY_BEGIN];

		assert_int_equal(plan_ready(&plan), versions[i].ready);
		assert_int_equal(markers, 1);
		assert_int_equal(plan.missing_phases, 0);
	}
}

TEST(each_version_has_one_accept_function)
{
	assert_true(plan_without(16, FUNCTION_COUNT).use[PROBE_ACCEPT_STREAM]);
	assert_false(plan_without(16, FUNCTION_COUNT).use[PROBE_ACCEPT]);
	assert_true(plan_without(17, FUNCTION_COUNT).use[PROBE_ACCEPT]);
	assert_false(plan_without(17, FUNCTION_COUNT).use[PROBE_ACCEPT_STREAM]);
}

TEST(without_a_function_its_phase_is_missing)
{
	assert_int_equal(plan_without(15, FUNCTION_INIT_PROCESS).missing_phases, BIT(JOIN));
	assert_int_equal(plan_without(18, FUNCTION_CLIENT_AUTHENTICATION).missing_phases, BIT(AUTH));
	assert_int_equal(plan_without(18, FUNCTION_ERRCODE).missing_phases, 0);
}

TEST(without_the_accept_function_queue_and_fork_are_missing)
{
	assert_int_equal(plan_without(15, FUNCTION_STREAM_CONNECTION).missing_phases,
			 BIT(QUEUE) | BIT(FORK));
	assert_int_equal(plan_without(18, FUNCTION_ACCEPT_CONNECTION).missing_phases,
			 BIT(QUEUE) | BIT(FORK));
}

TEST(another_ready_marker_stands_in_for_the_versions_own)
{
	struct plan plan = plan_without(18, FUNCTION_EVENT_TRIGGER_LOGIN);

	assert_int_equal(plan_ready(&plan), PROBE_READY_BEGIN);
	assert_int_equal(plan.missing_phases, BIT(LOGIN));
	plan = plan_without(15, FUNCTION_REPORT_CONNECT);
	assert_int_equal(plan_ready(&plan), PROBE_READY_BEGIN);
	assert_int_equal(plan.missing_phases, 0);
}

TEST(without_any_ready_marker_or_the_clients_address_nothing_can_be_told)
{
	struct target t = server(15);
	struct plan plan;

	t.symbols.functions[FUNCTION_GETNAMEINFO].value = 0;
	assert_int_equal(plan_for(&t, &plan), -ENOENT);
	t = server(15);
	t.symbols.functions[FUNCTION_REPORT_CONNECT].value = 0;
	t.symbols.functions[FUNCTION_BEGIN_REPORTING].value = 0;
	assert_int_equal(plan_for(&t, &plan), -ENOENT);
}

TEST(a_silent_ready_marker_gives_way_once)
{
	struct target t = server(18);
	struct plan plan;

	assert_int_equal(plan_for(&t, &plan), 0);
	assert_true(plan_silence(&plan, &t, 1u << PROBE_READY_LOGIN));
	assert_int_equal(plan_ready(&plan), PROBE_READY_BEGIN);
	assert_int_equal(plan.missing_phases, BIT(LOGIN));
	assert_false(plan_silence(&plan, &t, 1u << PROBE_READY_BEGIN));
	assert_int_equal(plan_ready(&plan), PROBE_READY_BEGIN);
}

TEST(a_silent_pg_getnameinfo_all_takes_all_that_comes_with_the_client)
{
	struct target t = server(18);
	struct plan plan;

	assert_int_equal(plan_for(&t, &plan), 0);
	assert_false(plan_silence(&plan, &t, 1u << PROBE_GETNAMEINFO_ENTER));
	assert_int_equal(plan.missing_phases, BIT(QUEUE) | BIT(HOSTNAME) | BIT(STARTUP));
}

/* No file, no return sites: what ends with a return is missing, and its entry is not probed alone. */
TEST(where_no_return_site_is_known_the_phases_that_begin_there_are_missing)
{
	struct plan_options o = { .sqlstate = true, .return_probes = false };
	struct target t = server(18);
	struct problem problem;
	struct plan plan;

	assert_int_equal(plan_make(&plan, &t, &o, &problem), 0);
	assert_int_equal(plan.missing_phases, BIT(QUEUE) | BIT(FORK) | BIT(STARTUP) | BIT(PREPARE) |
						      BIT(LOGIN));
	assert_false(plan.use[PROBE_TLS_ENTER] || plan.use[PROBE_GSS_ENTER] ||
		     plan.use[PROBE_LOGIN_ENTER]);
	assert_int_equal(plan_ready(&plan), PROBE_READY_BEGIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_has_its_own_ready_marker_and_only_that),
		cmocka_unit_test(each_version_has_one_accept_function),
		cmocka_unit_test(without_a_function_its_phase_is_missing),
		cmocka_unit_test(without_the_accept_function_queue_and_fork_are_missing),
		cmocka_unit_test(another_ready_marker_stands_in_for_the_versions_own),
		cmocka_unit_test(without_any_ready_marker_or_the_clients_address_nothing_can_be_told),
		cmocka_unit_test(a_silent_ready_marker_gives_way_once),
		cmocka_unit_test(a_silent_pg_getnameinfo_all_takes_all_that_comes_with_the_client),
		cmocka_unit_test(where_no_return_site_is_known_the_phases_that_begin_there_are_missing),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
