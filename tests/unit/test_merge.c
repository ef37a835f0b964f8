/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "events.h"
#include "keep/merge.h"
#include "trace_files.h"

static char said[2048];
static struct memory_file files[4];
static unsigned int file_count;
static bool incomplete;

static void remember(enum log_level level, const char *line)
{
	(void)level;
	strncat(said, line, sizeof(said) - strlen(said) - 1);
}

static int begin(void **state)
{
	(void)state;
	*said = '\0';
	file_count = 0;
	incomplete = false;
	log_set_sink(remember);
	return 0;
}

static int end(void **state)
{
	(void)state;
	log_set_sink(NULL);
	while (file_count)
		close(files[--file_count].fd);
	return 0;
}

static int64_t at(int second)
{
	return EVENTS_T0 + (int64_t)SEC(second);
}

/* -- inputs -- */

static FILE *out;

static void tell(struct event *ev)
{
	assert_int_equal(trace_write(out, ev), 0);
}

static void file(const char *host, int port, int second)
{
	struct event ev = { .type = EVENT_START, .at_ns = at(second) };

	files[file_count] = memory_file("", 0);
	out = fdopen(dup(files[file_count++].fd), "a");
	strcpy(ev.start.host, host);
	ev.start.port = port;
	tell(&ev);
}

static void conn_lasting(int second, int pid, uint64_t hostname_ns)
{
	struct event ev = { .type = EVENT_CONN };

	ev.conn = conn_begin("10.0.0.1", pid, hostname_ns);
	ev.conn.at_ns = at(second);
	ev.conn.outcome = OUTCOME_READY;
	tell(&ev);
}

static void conn(int second, int pid)
{
	conn_lasting(second, pid, MS(1));
}

static void tick(int second, uint64_t lost)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = at(second) };

	ev.tick.in_setup = 2;
	ev.tick.lost[LOSS_RING] = lost;
	tell(&ev);
}

static void in_setup(int accepted, int second, int pid)
{
	struct event ev = { .type = EVENT_IN_SETUP };

	ev.conn = conn_begin("10.0.0.1", pid, MS(1));
	ev.conn.at_ns = at(accepted);
	ev.conn.age_ns = SEC(second - accepted);
	ev.conn.phase = PHASE_HOSTNAME;
	ev.conn.outcome = OUTCOME_NONE;
	tell(&ev);
}

static void finish(int second, uint64_t ready, uint64_t stuck, uint64_t lost)
{
	struct event ev = { .type = EVENT_END, .at_ns = at(second) };

	ev.end.outcomes[OUTCOME_READY] = ready;
	ev.end.in_setup = stuck;
	ev.end.lost = lost;
	end_sum(&ev.end);
	tell(&ev);
	fclose(out);
}

/* -- the merged trace -- */

static struct merged {
	unsigned int of[EVENT_END + 1];
	char conns[1024]; /* "db1:5432/7 db2:5432/8 " */
	struct event last_tick, end;
} merged;

static void take(const struct event *ev)
{
	size_t len = strlen(merged.conns);

	merged.of[ev->type]++;
	if (ev->type == EVENT_CONN)
		snprintf(merged.conns + len, sizeof(merged.conns) - len, "%s/%d ", ev->server,
			 ev->conn.pid);
	if (ev->type == EVENT_START)
		assert_int_equal(merged.of[EVENT_CONN], 0);
	if (ev->type == EVENT_TICK)
		merged.last_tick = *ev;
	if (ev->type == EVENT_END)
		merged.end = *ev;
}

/* Merges, into one more of the files, and reads the result. */
static int merge(void)
{
	char *paths[4], err[TRACE_ERR_LEN];
	struct trace_reader *r;
	struct event ev;
	int ret;

	memset(&merged, 0, sizeof(merged));
	for (unsigned int i = 0; i < file_count; i++)
		paths[i] = files[i].path;
	files[file_count] = memory_file("", 0);
	out = fdopen(dup(files[file_count].fd), "a");
	ret = merge_traces(paths, file_count, out, &incomplete);
	fclose(out);
	if (ret) {
		close(files[file_count].fd);
		return ret;
	}
	assert_int_equal(trace_open(&r, files[file_count++].path, err, sizeof(err)), 0);
	while ((ret = trace_next(r, &ev, err, sizeof(err))) > 0)
		take(&ev);
	assert_int_equal(ret, 0);
	assert_true(trace_complete(r));
	trace_close(r);
	return 0;
}

TEST(connections_stand_in_order_of_time_and_name_their_server)
{
	file("db1", 5432, 0);
	conn(1, 11);
	conn(3, 12);
	finish(10, 2, 0, 0);
	file("db2", 5433, 2);
	conn(2, 21);
	conn(4, 22);
	finish(9, 2, 0, 0);
	assert_int_equal(merge(), 0);
	assert_string_equal(merged.conns, "db1:5432/11 db2:5433/21 db1:5432/12 db2:5433/22 ");
	assert_int_equal(merged.of[EVENT_START], 2);
	assert_int_equal(merged.of[EVENT_END], 1);
	assert_int_equal(merged.end.at_ns, at(10));
	assert_int_equal(merged.end.end.outcomes[OUTCOME_READY], 4);
	assert_string_equal(merged.end.end.reason, "merged");
	assert_false(incomplete);
	assert_string_equal(said, "");
}

TEST(the_same_pid_on_two_servers_is_two_connections)
{
	file("db1", 5432, 0);
	conn(1, 11);
	finish(10, 1, 0, 0);
	file("db2", 5432, 0);
	conn(1, 11);
	finish(10, 1, 0, 0);
	assert_int_equal(merge(), 0);
	assert_int_equal(merged.of[EVENT_CONN], 2);
}

TEST(what_overlapping_windows_both_hold_is_told_once)
{
	file("db1", 5432, 0);
	conn(1, 11);
	conn(5, 12);
	finish(6, 2, 0, 0);
	file("db1", 5432, 4);
	conn(5, 12);
	conn(7, 13);
	finish(8, 2, 0, 0);
	assert_int_equal(merge(), 0);
	assert_string_equal(merged.conns, "db1:5432/11 db1:5432/12 db1:5432/13 ");
	assert_int_equal(merged.end.end.outcomes[OUTCOME_READY], 3);
	assert_int_equal(merged.end.end.connections, 3);
}

TEST(one_in_setup_at_the_end_of_a_file_that_ends_in_the_next_counts_once)
{
	file("db1", 5432, 0);
	in_setup(5, 6, 12);
	in_setup(5, 6, 13);
	finish(6, 0, 2, 0);
	file("db1", 5432, 4);
	conn_lasting(5, 12, SEC(3));
	in_setup(5, 9, 13);
	finish(9, 1, 1, 0);
	assert_int_equal(merge(), 0);
	assert_int_equal(merged.end.end.in_setup, 1);
	assert_int_equal(merged.end.end.outcomes[OUTCOME_READY], 1);
	assert_int_equal(merged.end.end.connections, 2);
}

TEST(filtered_lines_stay_counted)
{
	file("db1", 5432, 0);
	conn(1, 11);
	finish(6, 10, 0, 0);
	assert_int_equal(merge(), 0);
	assert_int_equal(merged.of[EVENT_CONN], 1);
	assert_int_equal(merged.end.end.outcomes[OUTCOME_READY], 10);
}

TEST(ticks_are_sums_over_the_servers)
{
	file("db1", 5432, 0);
	tick(0, 1);
	tick(20, 3);
	finish(21, 0, 0, 3);
	file("db2", 5432, 0);
	tick(5, 10);
	tick(30, 20);
	finish(31, 0, 0, 20);
	assert_int_equal(merge(), 0);
	assert_int_equal(merged.of[EVENT_TICK], 3);
	assert_int_equal(tick_lost(&merged.last_tick.tick), 23);
	assert_int_equal(merged.last_tick.tick.in_setup, 2); /* the first has ended */
	assert_int_equal(merged.end.end.lost, 23);
}

TEST(a_merged_trace_can_be_merged_again)
{
	file("db1", 5432, 0);
	conn(1, 11);
	finish(6, 1, 0, 0);
	file("db2", 5432, 0);
	conn(2, 21);
	finish(6, 1, 0, 0);
	assert_int_equal(merge(), 0);
	close(files[0].fd);
	close(files[1].fd);
	files[0] = files[2];
	file_count = 1;
	file("db3", 5432, 0);
	conn(3, 31);
	finish(6, 1, 0, 0);
	assert_int_equal(merge(), 0);
	assert_string_equal(merged.conns, "db1:5432/11 db2:5432/21 db3:5432/31 ");
	assert_int_equal(merged.of[EVENT_START], 3);
}

TEST(a_file_that_was_cut_off_takes_part_and_is_named)
{
	file("db1", 5432, 0);
	conn(1, 11);
	fclose(out);
	file("db2", 5432, 0);
	conn(2, 21);
	finish(6, 1, 0, 0);
	assert_int_equal(merge(), 0);
	assert_int_equal(merged.end.end.outcomes[OUTCOME_READY], 2);
	assert_true(incomplete);
	assert_non_null(strstr(said, "was cut off"));
}

TEST(a_file_that_cannot_be_read_is_named_and_the_others_are_merged)
{
	file("db1", 5432, 0);
	fputs("garbage\n", out);
	fclose(out);
	file("db2", 5432, 0);
	conn(2, 21);
	finish(6, 1, 0, 0);
	files[file_count++] = memory_file("", 0);
	assert_int_equal(merge(), 0);
	assert_true(incomplete);
	assert_non_null(strstr(said, "line 2"));
	assert_non_null(strstr(said, "is empty"));
	assert_int_equal(merged.of[EVENT_CONN], 1);
}

TEST(without_any_trace_nothing_is_written)
{
	files[file_count++] = memory_file("", 0);
	assert_int_equal(merge(), -ENODATA);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(connections_stand_in_order_of_time_and_name_their_server),
		CASE(the_same_pid_on_two_servers_is_two_connections),
		CASE(what_overlapping_windows_both_hold_is_told_once),
		CASE(one_in_setup_at_the_end_of_a_file_that_ends_in_the_next_counts_once),
		CASE(filtered_lines_stay_counted),
		CASE(ticks_are_sums_over_the_servers),
		CASE(a_merged_trace_can_be_merged_again),
		CASE(a_file_that_was_cut_off_takes_part_and_is_named),
		CASE(a_file_that_cannot_be_read_is_named_and_the_others_are_merged),
		CASE(without_any_trace_nothing_is_written),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
