/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>

#include "events.h"
#include "keep/backlog.h"

static struct backlog *backlog;

static int end_backlog(void **state)
{
	(void)state;
	backlog_free(backlog);
	backlog = NULL;
	return 0;
}

static void begin(uint64_t reach_ns, size_t cap_bytes)
{
	backlog = backlog_new(reach_ns, cap_bytes);
	assert_non_null(backlog);
}

static void put_conn(int64_t at_ns, int pid, bool told)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = at_ns };

	ev.conn = conn_begin("10.0.0.1", pid, MS(1));
	ev.conn.outcome = OUTCOME_READY;
	assert_int_equal(backlog_put(backlog, &ev, told), 0);
}

static void put_conns(int first, int count)
{
	for (int i = first; i < first + count; i++)
		put_conn(EVENTS_T0 + (int64_t)MS(i), i, true);
}

struct held {
	unsigned int count, filtered, ticks;
	int64_t first_ns, last_ns;
};

static int hold(void *ctx, const struct backlog_entry *e)
{
	struct held *h = ctx;

	h->count++;
	h->filtered += e->type == EVENT_CONN && !e->len;
	h->ticks += e->type == EVENT_TICK;
	if (!h->first_ns)
		h->first_ns = e->at_ns;
	assert_true(e->at_ns >= h->last_ns);
	h->last_ns = e->at_ns;
	return 0;
}

static struct held held(void)
{
	struct held h = { 0 };

	assert_int_equal(backlog_each(backlog, hold, &h), 0);
	return h;
}

TEST(everything_within_the_reach_is_held_in_order)
{
	begin(SEC(60), 1 << 20);
	put_conns(0, 1000);
	assert_int_equal(held().count, 1000);
	assert_int_equal(held().first_ns, EVENTS_T0);
}

TEST(what_is_older_expires_and_its_memory_goes)
{
	begin(SEC(1), 64 << 20);
	put_conns(0, 20000);
	backlog_expire(backlog, EVENTS_T0 + (int64_t)MS(20000));
	assert_int_equal(held().count, 1000);
	assert_true(backlog_bytes(backlog) < 1000 * 1000);
	backlog_expire(backlog, EVENTS_T0 + (int64_t)SEC(100));
	assert_int_equal(held().count, 0);
	assert_int_equal(backlog_bytes(backlog), 0);
	assert_int_equal(backlog_cut_off(backlog, EVENTS_T0 + (int64_t)SEC(20)), 0);
}

TEST(the_cap_holds_and_what_it_cut_off_is_known)
{
	int64_t now_ns = EVENTS_T0 + (int64_t)MS(20000);
	struct held h;

	begin(SEC(60), 200000);
	put_conns(0, 20000);
	h = held();
	assert_true(backlog_bytes(backlog) <= 200000);
	assert_in_range(h.count, 500, 19900);
	assert_int_equal(backlog_cut_off(backlog, now_ns) + h.count, 20000);
	assert_int_equal(backlog_from_ns(backlog, now_ns) + (int64_t)MS(1), h.first_ns);
}

TEST(what_was_cut_off_long_ago_is_not_missed)
{
	begin(SEC(60), 200000);
	put_conns(0, 20000);
	assert_int_equal(backlog_cut_off(backlog, EVENTS_T0 + (int64_t)SEC(120)), 0);
	assert_int_equal(backlog_from_ns(backlog, EVENTS_T0 + (int64_t)SEC(120)),
			 EVENTS_T0 + (int64_t)SEC(60));
}

TEST(memory_is_a_fraction_of_the_lines)
{
	begin(SEC(60), 64 << 20);
	put_conns(0, 20000);
	assert_int_equal(held().count, 20000);
	assert_true(backlog_bytes(backlog) < 20000 * 100);
}

TEST(a_filtered_connection_is_counted_without_its_line)
{
	begin(SEC(60), 200000);
	put_conn(EVENTS_T0, 1, false);
	put_conn(EVENTS_T0, 2, true);
	assert_int_equal(held().count, 2);
	assert_int_equal(held().filtered, 1);
}

TEST(settings_and_losses_of_what_expired_stay_true)
{
	struct event ev = { .type = EVENT_SETTINGS, .at_ns = EVENTS_T0 };

	begin(SEC(10), 1 << 20);
	ev.settings.has_log_hostname = ev.settings.log_hostname = true;
	assert_int_equal(backlog_put(backlog, &ev, true), 0);
	memset(&ev, 0, sizeof(ev));
	ev.type = EVENT_TICK;
	ev.at_ns = EVENTS_T0;
	ev.tick.lost[LOSS_MAP] = 3;
	assert_int_equal(backlog_put(backlog, &ev, true), 0);
	assert_false(backlog_settings(backlog)->has_log_hostname);
	assert_int_equal(backlog_lost(backlog), 0);
	backlog_expire(backlog, EVENTS_T0 + (int64_t)SEC(11));
	assert_true(backlog_settings(backlog)->log_hostname);
	assert_int_equal(backlog_lost(backlog), 3);
}

TEST(sweeps_are_not_held)
{
	struct event ev = { .type = EVENT_SWEEP };

	begin(SEC(60), 200000);
	assert_int_equal(backlog_put(backlog, &ev, true), 0);
	assert_int_equal(held().count, 0);
}

static int stop(void *ctx, const struct backlog_entry *e)
{
	(void)e;
	return ++*(int *)ctx == 3 ? -ENOSPC : 0;
}

TEST(an_error_of_the_taker_stops_it)
{
	int taken = 0;

	begin(SEC(60), 200000);
	put_conns(0, 10);
	assert_int_equal(backlog_each(backlog, stop, &taken), -ENOSPC);
	assert_int_equal(taken, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(everything_within_the_reach_is_held_in_order,
					  end_backlog),
		cmocka_unit_test_teardown(what_is_older_expires_and_its_memory_goes, end_backlog),
		cmocka_unit_test_teardown(the_cap_holds_and_what_it_cut_off_is_known, end_backlog),
		cmocka_unit_test_teardown(what_was_cut_off_long_ago_is_not_missed, end_backlog),
		cmocka_unit_test_teardown(memory_is_a_fraction_of_the_lines, end_backlog),
		cmocka_unit_test_teardown(a_filtered_connection_is_counted_without_its_line,
					  end_backlog),
		cmocka_unit_test_teardown(settings_and_losses_of_what_expired_stay_true,
					  end_backlog),
		cmocka_unit_test_teardown(sweeps_are_not_held, end_backlog),
		cmocka_unit_test_teardown(an_error_of_the_taker_stops_it, end_backlog),
	};

	return cmocka_run_group_tests_name("backlog", tests, NULL, NULL);
}
