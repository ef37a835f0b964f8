/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "events.h"
#include "keep/output.h"
#include "keep/trace.h"

static char folder[] = "/tmp/pgdnstrace-unit.XXXXXX";
static char path[64], moved[64], err[1280];
static struct filter filter;
static struct stats *stats;
static struct output *output;
static unsigned int messages;

static void count_message(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
	messages++;
}

static int open_output(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.jsonl", folder);
	snprintf(moved, sizeof(moved), "%s/t.jsonl.1", folder);
	memset(&filter, 0, sizeof(filter));
	stats = stats_new();
	messages = 0;
	log_set_sink(count_message);
	return output_open(&output, path, &filter, err, sizeof(err));
}

static int close_output(void **state)
{
	(void)state;
	log_set_sink(NULL);
	output_close(output);
	stats_free(stats);
	unlink(path);
	unlink(moved);
	return rmdir(folder);
}

static void tell(const struct event *ev)
{
	assert_int_equal(stats_event(stats, &filter, ev), 0);
	assert_int_equal(output_event(output, ev), 0);
}

static void tell_start(void)
{
	struct event ev = { .type = EVENT_START, .at_ns = EVENTS_T0 };

	strcpy(ev.start.tool, "unit");
	ev.start.settings.has_log_hostname = ev.start.settings.log_hostname = true;
	tell(&ev);
}

static void tell_conn(int pid, uint64_t hostname_ns)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = EVENTS_T0 };

	ev.conn = conn_begin("10.0.0.1", pid, hostname_ns);
	ev.conn.outcome = OUTCOME_READY;
	tell(&ev);
}

static void tell_tick(int64_t at_ns, uint64_t lost)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = at_ns };

	ev.tick.lost[LOSS_RING] = lost;
	tell(&ev);
}

static void tell_end(void)
{
	struct event ev = { .type = EVENT_END, .at_ns = EVENTS_T0 };

	strcpy(ev.end.reason, "interrupted");
	ev.end.connections = ev.end.outcomes[OUTCOME_READY] = stats_connections(stats);
	tell(&ev);
}

/* What a file holds: how many of each type, and the last event. */
struct content {
	unsigned int of[EVENT_END + 1];
	struct event last;
};

static struct content content_of(const char *name)
{
	struct content c = { 0 };
	struct trace_reader *r;
	int ret;

	if (trace_open(&r, name, err, sizeof(err)))
		fail_msg("%s", err);
	while ((ret = trace_next(r, &c.last, err, sizeof(err))) > 0)
		c.of[c.last.type]++;
	if (ret)
		fail_msg("%s", err);
	trace_close(r);
	return c;
}

TEST(every_connection_is_a_line)
{
	struct content c;

	tell_start();
	for (int pid = 1; pid <= 100; pid++)
		tell_conn(pid, MS(1));
	tell_end();
	c = content_of(path);
	assert_int_equal(c.of[EVENT_START], 1);
	assert_int_equal(c.of[EVENT_CONN], 100);
	assert_int_equal(c.last.type, EVENT_END);
	assert_int_equal(c.last.end.outcomes[OUTCOME_READY], 100);
}

TEST(the_file_is_for_its_owner_alone)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(an_existing_file_is_refused_by_name)
{
	struct output *second;

	assert_int_equal(output_open(&second, path, &filter, err, sizeof(err)), -EEXIST);
	assert_non_null(strstr(err, path));
	assert_non_null(strstr(err, "exists already"));
}

TEST(ticks_are_told_every_ten_seconds_of_the_stream)
{
	tell_start();
	for (int s = 0; s < 60; s++)
		tell_tick(EVENTS_T0 + (int64_t)SEC(s), 0);
	tell_end();
	assert_int_equal(content_of(path).of[EVENT_TICK], 6);
}

TEST(a_second_later_what_was_told_is_in_the_file)
{
	tell_start();
	tell_conn(1, MS(1));
	usleep(1100000);
	assert_int_equal(output_tick(output), 0);
	assert_int_equal(content_of(path).of[EVENT_CONN], 1);
}

TEST(longer_than_drops_lines_and_counts_them)
{
	struct content c;

	filter.longer_than_ns = MS(500);
	tell_start();
	tell_conn(1, MS(1));
	tell_conn(2, MS(900));
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(output_reopen(output, stats), 0);
	c = content_of(moved);
	assert_int_equal(c.of[EVENT_CONN], 1);
	assert_int_equal(c.last.end.filtered, 1);
	assert_int_equal(c.last.end.outcomes[OUTCOME_READY], 2);
}

TEST(a_rotated_file_ends_and_the_next_one_starts)
{
	struct event sweep = { .type = EVENT_SWEEP, .at_ns = EVENTS_T0 };
	struct conn stuck = conn_begin("10.0.0.9", 99, SEC(3));
	struct event settings = { .type = EVENT_SETTINGS, .at_ns = EVENTS_T0 };
	struct content c;

	tell_start();
	tell_conn(1, MS(1));
	tell_tick(EVENTS_T0, 5);
	settings.settings.has_log_hostname = true;
	tell(&settings);
	stuck.phase = PHASE_HOSTNAME;
	sweep.sweep.list = &stuck;
	sweep.sweep.count = 1;
	tell(&sweep);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(output_reopen(output, stats), 0);
	tell_conn(2, MS(1));
	tell_conn(3, MS(1));
	tell_tick(EVENTS_T0 + (int64_t)SEC(1), 7);
	tell_end();

	c = content_of(moved);
	assert_int_equal(c.of[EVENT_CONN], 1);
	assert_int_equal(c.of[EVENT_IN_SETUP], 1);
	assert_string_equal(c.last.end.reason, "reopened");
	assert_int_equal(c.last.end.outcomes[OUTCOME_READY], 1);
	assert_int_equal(c.last.end.lost, 5);
	assert_int_equal(c.last.end.in_setup, 1);
	assert_int_equal(c.last.end.connections, 7);

	c = content_of(path);
	assert_int_equal(c.of[EVENT_START], 1);
	assert_int_equal(c.of[EVENT_CONN], 2);
	assert_int_equal(c.last.end.outcomes[OUTCOME_READY], 2);
	assert_int_equal(c.last.end.lost, 2);
	assert_int_equal(c.last.end.connections, 4);
}

TEST(a_rotated_file_begins_with_the_settings_of_then)
{
	struct event settings = { .type = EVENT_SETTINGS, .at_ns = EVENTS_T0 };
	struct content c;

	tell_start();
	settings.settings.has_log_hostname = true;
	tell(&settings);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(output_reopen(output, stats), 0);
	output_close(output);
	output = NULL;
	c = content_of(path);
	assert_true(c.last.start.settings.has_log_hostname);
	assert_false(c.last.start.settings.log_hostname);
}

TEST(a_file_that_was_not_moved_is_gone_on_with)
{
	tell_start();
	tell_conn(1, MS(1));
	assert_int_equal(output_reopen(output, stats), 0);
	assert_int_equal(messages, 1);
	tell_conn(2, MS(1));
	tell_end();
	assert_int_equal(content_of(path).of[EVENT_CONN], 2);
	assert_false(output_failed(output));
}

/* A file that may not grow is to a process what a full disk is. */
TEST(a_full_disk_is_told_once_and_the_stream_goes_on)
{
	struct rlimit before, small = { 100000, RLIM_INFINITY };

	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	tell_start();
	for (int pid = 1; pid < 1000; pid++)
		tell_conn(pid, MS(1));
	tell_end();
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(messages, 1);
	assert_true(output_failed(output));
	assert_int_equal(output_tick(output), 0);
	content_of(path); /* readable as far as it goes */
}

TEST(after_a_full_disk_a_rotation_begins_anew)
{
	struct rlimit before, small = { 1000, RLIM_INFINITY };

	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	tell_start();
	for (int pid = 1; pid < 1000; pid++)
		tell_conn(pid, MS(1));
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(output_reopen(output, stats), 0);
	tell_conn(1000, MS(1));
	tell_end();
	assert_int_equal(content_of(path).of[EVENT_CONN], 1);
	assert_true(output_failed(output)); /* the exit code still tells */
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_output, close_output)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(every_connection_is_a_line),
		IN_FOLDER(the_file_is_for_its_owner_alone),
		IN_FOLDER(an_existing_file_is_refused_by_name),
		IN_FOLDER(ticks_are_told_every_ten_seconds_of_the_stream),
		IN_FOLDER(a_second_later_what_was_told_is_in_the_file),
		IN_FOLDER(longer_than_drops_lines_and_counts_them),
		IN_FOLDER(a_rotated_file_ends_and_the_next_one_starts),
		IN_FOLDER(a_rotated_file_begins_with_the_settings_of_then),
		IN_FOLDER(a_file_that_was_not_moved_is_gone_on_with),
		IN_FOLDER(a_full_disk_is_told_once_and_the_stream_goes_on),
		IN_FOLDER(after_a_full_disk_a_rotation_begins_anew),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
