/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "events.h"
#include "keep/file.h"
#include "keep/trace.h"
#include "keep/window.h"

static char folder[] = "/tmp/pgdnstrace-unit.XXXXXX";
static char err[TRACE_ERR_LEN], said[4096];
static struct window_options options;
static struct filter filter;
static struct window *window;

static void remember(enum log_level level, const char *line)
{
	if (level == LOG_ERROR) {
		strncat(said, line, sizeof(said) - strlen(said) - 2);
		strcat(said, "\n");
	}
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	memset(&filter, 0, sizeof(filter));
	options = (struct window_options){ .before_ns = SEC(20),
					   .after_ns = SEC(10),
					   .dir = folder,
					   .keep = 10,
					   .cap_bytes = 1 << 20 };
	*said = '\0';
	log_set_sink(remember);
	return 0;
}

/* Names in the folder, sorted. */
static int names(struct dirent ***list)
{
	return scandir(folder, list, NULL, alphasort);
}

static unsigned int each_file(void (*visit)(const char *path))
{
	struct dirent **list;
	unsigned int count = 0;
	char path[512];

	for (int i = 0, n = names(&list); i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		if (list[i]->d_name[0] != '.') {
			count++;
			if (visit)
				visit(path);
		}
		free(list[i]);
		if (i == n - 1)
			free(list);
	}
	return count;
}

static void remove_file(const char *path)
{
	assert_int_equal(remove(path), 0);
}

static int remove_folder(void **state)
{
	(void)state;
	log_set_sink(NULL);
	window_close(window);
	window = NULL;
	each_file(remove_file);
	return rmdir(folder);
}

static void tell(const struct event *ev)
{
	assert_int_equal(window_event(window, ev), 0);
}

static int64_t at(int second)
{
	return EVENTS_T0 + (int64_t)SEC(second);
}

static void ask(const char *text)
{
	struct condition *c = &options.conditions[options.condition_count++];

	assert_int_equal(condition_parse(text, c, err, sizeof(err)), 0);
}

static void begin_with(const char *condition, const char *second)
{
	struct event ev = { .type = EVENT_START, .at_ns = at(0) };

	if (condition)
		ask(condition);
	if (second)
		ask(second);
	assert_int_equal(window_open(&window, &options, &filter), 0);
	strcpy(ev.start.host, "db1");
	ev.start.port = 5432;
	ev.start.settings.has_log_hostname = ev.start.settings.log_hostname = true;
	ev.start.resolver.has = true;
	strcpy(ev.start.resolver.nameservers[0], "10.0.0.2");
	ev.start.resolver.nameserver_count = 1;
	tell(&ev);
}

static void begin(const char *condition)
{
	begin_with(condition, NULL);
}

static void conn(int second, uint64_t hostname_ns)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = at(second) };

	ev.conn = conn_begin("10.0.0.1", 1000 + second, hostname_ns);
	ev.conn.at_ns = ev.at_ns;
	ev.conn.outcome = OUTCOME_READY;
	tell(&ev);
}

static void sweep(int second, int stuck_for_s)
{
	struct event ev = { .type = EVENT_SWEEP, .at_ns = at(second) };
	struct conn stuck = conn_begin("10.0.0.9", 99, SEC(stuck_for_s));
	struct event tick = { .type = EVENT_TICK, .at_ns = at(second) };

	stuck.phase = PHASE_HOSTNAME;
	stuck.age_ns = SEC(stuck_for_s);
	ev.sweep.list = &stuck;
	ev.sweep.count = stuck_for_s > 0;
	tell(&ev);
	tick.tick.lost[LOSS_RING] = second;
	tell(&tick);
}

/* Quiet seconds: one fast connection and one sweep each. */
static void quiet(int from, int to)
{
	for (int s = from; s < to; s++) {
		conn(s, MS(1));
		sweep(s, 0);
	}
}

/* What a window's file holds. */
static struct content {
	unsigned int of[EVENT_END + 1], files;
	int64_t start_ns, first_conn_ns, last_conn_ns;
	struct settings settings;
	struct trigger trigger;
	struct end end;
	bool complete;
} content;

static void read_file(const char *path)
{
	struct trace_reader *r;
	struct event ev;
	int ret;

	content.files++;
	if (trace_open(&r, path, err, sizeof(err)))
		fail_msg("%s", err);
	while ((ret = trace_next(r, &ev, err, sizeof(err))) > 0) {
		if (ev.type == EVENT_CONN && !content.of[EVENT_CONN])
			content.first_conn_ns = ev.conn.at_ns;
		if (ev.type == EVENT_CONN)
			content.last_conn_ns = ev.conn.at_ns;
		if (ev.type == EVENT_TRIGGER && !content.of[EVENT_TRIGGER])
			content.trigger = ev.trigger;
		if (ev.type == EVENT_START) {
			content.start_ns = ev.at_ns;
			content.settings = ev.start.settings;
			assert_string_equal(ev.start.resolver.nameservers[0], "10.0.0.2");
		}
		if (ev.type == EVENT_END)
			content.end = ev.end;
		content.of[ev.type]++;
	}
	if (ret)
		fail_msg("%s", err);
	content.complete = trace_complete(r);
	trace_close(r);
}

static void read_files(void)
{
	memset(&content, 0, sizeof(content));
	each_file(read_file);
}

TEST(nothing_is_written_while_nothing_happens)
{
	begin("hostname>500ms");
	quiet(0, 100);
	assert_int_equal(each_file(NULL), 0);
}

TEST(a_window_reaches_from_before_the_trigger_until_after_it)
{
	begin("hostname>500ms");
	quiet(0, 50);
	conn(50, MS(600));
	quiet(51, 100);
	read_files();
	assert_int_equal(content.files, 1);
	assert_true(content.complete);
	assert_int_equal(content.start_ns, at(30));
	assert_int_equal(content.first_conn_ns, at(30));
	assert_int_equal(content.last_conn_ns, at(60));
	assert_int_equal(content.of[EVENT_CONN], 31);
	assert_int_equal(content.end.outcomes[OUTCOME_READY], 31);
	assert_string_equal(content.end.reason, "window");
}

TEST(the_trigger_tells_condition_and_value)
{
	begin("hostname>500ms");
	conn(1, MS(600));
	quiet(2, 20);
	read_files();
	assert_int_equal(content.of[EVENT_TRIGGER], 1);
	assert_string_equal(content.trigger.condition, "hostname>500ms");
	assert_true(content.trigger.value > 0.599 && content.trigger.value < 0.601);
	assert_int_equal(content.trigger.cut_off, 0);
}

TEST(the_file_is_named_after_server_and_time)
{
	char path[256];

	begin("hostname>500ms");
	conn(12, MS(600));
	quiet(13, 30);
	snprintf(path, sizeof(path), "%s/pgdnstrace-db1-5432-20261002T031412Z.jsonl", folder);
	assert_int_equal(access(path, F_OK), 0);
}

TEST(until_it_is_whole_its_name_is_a_temporary_one)
{
	struct dirent **list;

	begin("hostname>500ms");
	conn(1, MS(600));
	sweep(1, 0);
	assert_int_equal(names(&list), 3);
	assert_non_null(strstr(list[2]->d_name, FILE_PARTIAL));
	for (int i = 0; i < 3; i++)
		free(list[i]);
	free(list);
	read_files(); /* what a SIGKILL would leave now can be read */
	assert_int_equal(content.of[EVENT_CONN], 1);
	assert_false(content.complete);
}

TEST(a_stuck_connection_opens_a_window_before_it_ends)
{
	begin("oldest>2s");
	quiet(0, 10);
	sweep(10, 1);
	assert_null(window_current(window));
	sweep(11, 3);
	assert_non_null(window_current(window));
	quiet(12, 30);
	read_files();
	assert_int_equal(content.of[EVENT_IN_SETUP], 1);
	assert_int_equal(content.end.in_setup, 0); /* at the end it was gone */
}

TEST(those_in_setup_at_the_end_are_told_and_counted)
{
	begin("oldest>2s");
	sweep(1, 3);
	sweep(2, 1);
	sweep(20, 1);
	read_files();
	assert_int_equal(content.of[EVENT_IN_SETUP], 2);
	assert_int_equal(content.end.in_setup, 1);
	assert_int_equal(content.end.connections, content.end.lost + 1);
}

TEST(a_trigger_within_a_window_extends_it)
{
	begin("hostname>500ms");
	quiet(0, 30);
	conn(30, MS(600));
	quiet(31, 38);
	conn(38, MS(600));
	quiet(39, 80);
	read_files();
	assert_int_equal(content.files, 1);
	assert_int_equal(content.of[EVENT_TRIGGER], 1);
	assert_int_equal(content.last_conn_ns, at(48));
}

TEST(each_condition_that_comes_true_is_told_once)
{
	begin_with("hostname>500ms", "oldest>2s");
	conn(1, MS(600));
	conn(2, MS(600));
	for (int s = 3; s < 8; s++)
		sweep(s, s);
	quiet(8, 30);
	read_files();
	assert_int_equal(content.files, 1);
	assert_int_equal(content.of[EVENT_TRIGGER], 2);
}

TEST(two_incidents_make_two_windows)
{
	begin("hostname>500ms");
	conn(1, MS(600));
	quiet(2, 40);
	conn(40, MS(600));
	quiet(41, 60);
	assert_int_equal(each_file(NULL), 2);
	assert_int_equal(window_written(window), 2);
}

TEST(a_person_opens_a_window_by_hand)
{
	struct event ev = { .type = EVENT_SWEEP };
	const char *path;

	begin(NULL);
	path = window_trigger(window);
	assert_non_null(path);
	assert_string_equal(path, window_current(window));
	ev.at_ns = clock_real_ns() + (int64_t)SEC(11);
	tell(&ev);
	assert_null(window_current(window));
	read_files();
	assert_int_equal(content.of[EVENT_TRIGGER], 1);
	assert_string_equal(content.trigger.condition, "by hand");
	assert_false(content.trigger.has_value);
}

TEST(the_end_of_the_trace_makes_an_open_window_whole)
{
	struct event ev = { .type = EVENT_END, .at_ns = at(3) };

	begin("hostname>500ms");
	conn(1, MS(600));
	strcpy(ev.end.reason, "interrupted");
	tell(&ev);
	read_files();
	assert_true(content.complete);
	assert_string_equal(content.end.reason, "interrupted");
	assert_int_equal(content.end.outcomes[OUTCOME_READY], 1);
}

TEST(without_an_end_the_partial_file_is_removed)
{
	begin("hostname>500ms");
	conn(1, MS(600));
	window_close(window);
	window = NULL;
	assert_int_equal(each_file(NULL), 0);
}

TEST(losses_are_those_of_the_window_alone)
{
	begin("hostname>500ms");
	quiet(0, 50);
	conn(50, MS(600));
	quiet(51, 62);
	read_files();
	/* one is lost a second; ticks are kept every 10 s, the last before the window is of 20 */
	assert_int_equal(content.end.lost, 59 - 20);
}

TEST(a_change_of_settings_is_before_within_or_after)
{
	struct event ev = { .type = EVENT_SETTINGS };

	begin("hostname>500ms");
	ev.settings.has_log_hostname = true;
	ev.at_ns = at(2);
	tell(&ev);
	quiet(2, 40);
	ev.settings.log_hostname = true;
	ev.at_ns = at(45);
	tell(&ev);
	conn(50, MS(600));
	quiet(51, 70);
	read_files();
	assert_true(content.settings.has_log_hostname);
	assert_false(content.settings.log_hostname);
	assert_int_equal(content.of[EVENT_SETTINGS], 1);
}

TEST(what_the_memory_cap_cut_off_is_told)
{
	options.cap_bytes = 140000;
	begin("hostname>500ms");
	for (int i = 0; i < 20000; i++)
		conn(20, MS(1));
	conn(21, MS(600));
	quiet(22, 40);
	read_files();
	assert_true(content.trigger.cut_off > 0);
	assert_int_equal(content.trigger.cut_off + content.of[EVENT_CONN], 20001 + 10);
}

TEST(a_filter_drops_lines_and_counts_them)
{
	filter.longer_than_ns = MS(100);
	begin("hostname>500ms");
	quiet(0, 10);
	conn(10, MS(600));
	quiet(11, 30);
	read_files();
	assert_int_equal(content.of[EVENT_CONN], 1);
	assert_int_equal(content.end.outcomes[OUTCOME_READY], 21);
	assert_int_equal(content.end.filtered, 20);
}

static void make_file(const char *name)
{
	char path[512];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(file_create(&out, path, 0600), 0);
	fclose(out);
}

static bool exists(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

TEST(the_oldest_windows_of_the_same_server_go_and_nothing_else)
{
	static const char *const others[] = {
		"pgdnstrace-db1-5433-20200101T000000Z.jsonl",
		"pgdnstrace-db2-5432-20200101T000000Z.jsonl",
		"pgdnstrace-db1-5432-20200101T000000Z.jsonl.gz",
		"pgdnstrace-db1-5432-notes.jsonl",
		"pgdnstrace-db1-5432-20200101T000000Z.jsonl.XyZabc.partial",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		make_file(others[i]);
	make_file("pgdnstrace-db1-5432-20200101T000000Z.jsonl");
	make_file("pgdnstrace-db1-5432-20200102T000000Z-2.jsonl");
	make_file("pgdnstrace-db1-5432-20200103T000000Z.jsonl");
	options.keep = 2;
	begin("hostname>500ms");
	conn(12, MS(600));
	quiet(13, 30);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_true(exists(others[i]));
	assert_false(exists("pgdnstrace-db1-5432-20200101T000000Z.jsonl"));
	assert_false(exists("pgdnstrace-db1-5432-20200102T000000Z-2.jsonl"));
	assert_true(exists("pgdnstrace-db1-5432-20200103T000000Z.jsonl"));
	assert_true(exists("pgdnstrace-db1-5432-20261002T031412Z.jsonl"));
}

TEST(a_name_that_is_taken_gets_a_number)
{
	make_file("pgdnstrace-db1-5432-20261002T031412Z.jsonl");
	begin("hostname>500ms");
	conn(12, MS(600));
	quiet(13, 30);
	assert_true(exists("pgdnstrace-db1-5432-20261002T031412Z-2.jsonl"));
}

TEST(a_folder_that_is_gone_is_told_once_and_the_next_window_is_tried)
{
	options.dir = "/tmp/pgdnstrace-unit-nowhere";
	begin("hostname>500ms");
	for (int s = 0; s < 10; s++)
		conn(s, MS(600));
	assert_string_equal(said,
			    "cannot write an incident window in /tmp/pgdnstrace-unit-nowhere: "
			    "No such file or directory; tracing goes on without it\n");
	options.dir = folder;
	conn(20, MS(600));
	quiet(21, 40);
	assert_int_equal(window_written(window), 1);
	assert_null(strstr(strchr(said, '\n') + 1, "cannot"));
}

/* A file that may not grow is to a process what a full disk is. */
TEST(a_full_disk_is_told_once_and_the_next_window_is_tried)
{
	struct rlimit before, small = { 4000, RLIM_INFINITY };

	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	begin("hostname>500ms");
	quiet(0, 100);
	setrlimit(RLIMIT_FSIZE, &small);
	conn(100, MS(600));
	quiet(101, 105);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(said, "File too large"));
	assert_null(strstr(strchr(said, '\n') + 1, "cannot"));
	assert_int_equal(each_file(NULL), 0);
	conn(150, MS(600));
	quiet(151, 170);
	assert_int_equal(window_written(window), 1);
}

TEST(an_incident_without_end_is_cut_into_windows)
{
	begin("oldest>2s");
	for (int s = 0; s < 4000; s++)
		sweep(s, 5);
	assert_int_equal(window_written(window), 1);
	assert_non_null(window_current(window));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(nothing_is_written_while_nothing_happens),
		IN_FOLDER(a_window_reaches_from_before_the_trigger_until_after_it),
		IN_FOLDER(the_trigger_tells_condition_and_value),
		IN_FOLDER(the_file_is_named_after_server_and_time),
		IN_FOLDER(until_it_is_whole_its_name_is_a_temporary_one),
		IN_FOLDER(a_stuck_connection_opens_a_window_before_it_ends),
		IN_FOLDER(those_in_setup_at_the_end_are_told_and_counted),
		IN_FOLDER(a_trigger_within_a_window_extends_it),
		IN_FOLDER(each_condition_that_comes_true_is_told_once),
		IN_FOLDER(two_incidents_make_two_windows),
		IN_FOLDER(a_person_opens_a_window_by_hand),
		IN_FOLDER(the_end_of_the_trace_makes_an_open_window_whole),
		IN_FOLDER(without_an_end_the_partial_file_is_removed),
		IN_FOLDER(losses_are_those_of_the_window_alone),
		IN_FOLDER(a_change_of_settings_is_before_within_or_after),
		IN_FOLDER(what_the_memory_cap_cut_off_is_told),
		IN_FOLDER(a_filter_drops_lines_and_counts_them),
		IN_FOLDER(the_oldest_windows_of_the_same_server_go_and_nothing_else),
		IN_FOLDER(a_name_that_is_taken_gets_a_number),
		IN_FOLDER(a_folder_that_is_gone_is_told_once_and_the_next_window_is_tried),
		IN_FOLDER(a_full_disk_is_told_once_and_the_next_window_is_tried),
		IN_FOLDER(an_incident_without_end_is_cut_into_windows),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
