/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/replay.h"
#include "events.h"
#include "trace_files.h"

/* One connection a second from 03:14:00 to 03:14:59, ticks with losses, 60 in all. */
static struct memory_file minute(bool with_end)
{
	struct memory_file f = memory_file(START_LINE, strlen(START_LINE));
	FILE *out = fdopen(dup(f.fd), "a");
	struct event ev = { .type = EVENT_CONN };

	for (int s = 0; s < 60; s++) {
		ev.type = EVENT_CONN;
		ev.conn = conn_begin("10.0.0.1", 100 + s, MS(1));
		ev.conn.at_ns = EVENTS_T0 + (int64_t)SEC(s);
		ev.conn.outcome = s % 2 ? OUTCOME_READY : OUTCOME_FAILED;
		assert_int_equal(trace_write(out, &ev), 0);
		if (s % 10)
			continue;
		memset(&ev, 0, sizeof(ev));
		ev.type = EVENT_TICK;
		ev.at_ns = EVENTS_T0 + (int64_t)SEC(s);
		ev.tick.lost[LOSS_RING] = s;
		assert_int_equal(trace_write(out, &ev), 0);
	}
	if (with_end)
		fputs("{\"type\":\"end\",\"at\":\"2026-10-02T03:15:00Z\",\"reason\":\"duration\","
		      "\"connections\":110,\"ready\":30,\"failed\":30,\"lost\":50,\"verdict\":["
		      "\"X\"]}\n",
		      out);
	fclose(out);
	return f;
}

struct heard {
	unsigned int of[EVENT_END + 1];
	int first_pid, last_pid, stop_at;
	struct event start, end;
};

static int hear(void *ctx, const struct event *ev)
{
	struct heard *h = ctx;

	h->of[ev->type]++;
	if (ev->type == EVENT_CONN && !h->first_pid)
		h->first_pid = ev->conn.pid;
	if (ev->type == EVENT_CONN)
		h->last_pid = ev->conn.pid;
	if (ev->type == EVENT_START)
		h->start = *ev;
	if (ev->type == EVENT_END)
		h->end = *ev;
	return h->stop_at && h->last_pid == h->stop_at ? -EPIPE : 0;
}

static char message[TRACE_ERR_LEN];

static int replay(bool with_end, const char *from, const char *to, struct heard *h)
{
	struct memory_file f = minute(with_end);
	int ret = replay_file(f.path, from, to, hear, h, message, sizeof(message));

	close(f.fd);
	return ret;
}

TEST(a_replay_yields_every_event_in_order)
{
	struct heard h = { 0 };

	assert_int_equal(replay(true, NULL, NULL, &h), 0);
	assert_string_equal(message, "");
	assert_int_equal(h.of[EVENT_START], 1);
	assert_int_equal(h.of[EVENT_CONN], 60);
	assert_int_equal(h.of[EVENT_TICK], 6);
	assert_int_equal(h.end.end.connections, 110);
	assert_string_equal(h.end.end.verdict[0], "X");
}

TEST(a_file_that_was_cut_off_is_replayed_and_said_to_be)
{
	struct heard h = { 0 };

	assert_int_equal(replay(false, NULL, NULL, &h), 0);
	assert_non_null(strstr(message, "was cut off"));
	assert_int_equal(h.of[EVENT_CONN], 60);
	assert_int_equal(h.of[EVENT_END], 0);
}

TEST(a_span_holds_the_connections_accepted_in_it)
{
	struct heard h = { 0 };

	assert_int_equal(replay(true, "03:14:10", "03:14:20", &h), 0);
	assert_int_equal(h.of[EVENT_CONN], 10);
	assert_int_equal(h.first_pid, 110);
	assert_int_equal(h.last_pid, 119);
	assert_int_equal(h.of[EVENT_START], 1);
	assert_int_equal(h.start.at_ns, EVENTS_T0 + (int64_t)SEC(10));
}

TEST(spans_side_by_side_hold_each_connection_once)
{
	struct heard before = { 0 }, behind = { 0 };

	assert_int_equal(replay(true, NULL, "2026-10-02T05:14:33+02:00", &before), 0);
	assert_int_equal(replay(true, "2026-10-02T03:14:33Z", NULL, &behind), 0);
	assert_int_equal(before.of[EVENT_CONN], 33);
	assert_int_equal(behind.of[EVENT_CONN], 27);
}

TEST(the_end_of_a_span_has_its_own_totals)
{
	struct heard h = { 0 };

	assert_int_equal(replay(true, "03:14:10", "03:14:31", &h), 0);
	assert_int_equal(h.end.end.outcomes[OUTCOME_READY], 10);
	assert_int_equal(h.end.end.outcomes[OUTCOME_FAILED], 11);
	assert_int_equal(h.end.end.lost, 20);
	assert_int_equal(h.end.end.connections, 41);
	assert_int_equal(h.end.end.verdict_count, 0);
	assert_string_equal(h.end.end.reason, "duration");
	assert_int_equal(h.end.at_ns, EVENTS_T0 + (int64_t)SEC(31));
}

TEST(what_is_no_time_is_refused_with_an_example)
{
	struct heard h = { 0 };

	assert_int_equal(replay(true, "noon", NULL, &h), -EINVAL);
	assert_non_null(strstr(message, "--from noon is no time"));
	assert_int_equal(replay(true, NULL, "25:00:00", &h), -EINVAL);
	assert_non_null(strstr(message, "--to 25:00:00"));
	assert_int_equal(replay(true, "03:14:20", "03:14:10", &h), -EINVAL);
	assert_non_null(strstr(message, "--to 03:14:10 does not lie behind --from 03:14:20"));
	assert_int_equal(h.of[EVENT_START], 0);
}

TEST(the_sink_can_stop_the_replay)
{
	struct heard h = { .stop_at = 105 };

	assert_int_equal(replay(true, NULL, NULL, &h), -EPIPE);
	assert_string_equal(message, "");
	assert_int_equal(h.of[EVENT_CONN], 6);
}

TEST(a_file_that_is_no_trace_is_told)
{
	struct heard h = { 0 };

	assert_int_equal(replay_file("/dev/null", NULL, NULL, hear, &h, message, sizeof(message)),
			 -ENODATA);
	assert_string_equal(message, "/dev/null is empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_yields_every_event_in_order),
		cmocka_unit_test(a_file_that_was_cut_off_is_replayed_and_said_to_be),
		cmocka_unit_test(a_span_holds_the_connections_accepted_in_it),
		cmocka_unit_test(spans_side_by_side_hold_each_connection_once),
		cmocka_unit_test(the_end_of_a_span_has_its_own_totals),
		cmocka_unit_test(what_is_no_time_is_refused_with_an_example),
		cmocka_unit_test(the_sink_can_stop_the_replay),
		cmocka_unit_test(a_file_that_is_no_trace_is_told),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
