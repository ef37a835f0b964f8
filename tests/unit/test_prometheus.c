/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "export/prometheus.h"

#define AT 1790935586730123000

static struct stats *stats;

static int setup(void **state)
{
	(void)state;
	stats = stats_new();
	return stats ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	stats_free(stats);
	return 0;
}

static void take_start(const char *cluster_name)
{
	struct event ev = { .type = EVENT_START, .at_ns = AT };

	strcpy(ev.start.cluster_name, cluster_name);
	strcpy(ev.start.server_version, "15.18");
	ev.start.port = 5432;
	ev.start.settings = (struct settings){ .has_log_hostname = true, .log_hostname = true };
	assert_int_equal(stats_event(stats, NULL, &ev), 0);
}

static void take_conn(enum outcome o, uint64_t wait_ns, const char *sqlstate)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = AT + 1000 };
	struct conn *c = &ev.conn;

	*c = (struct conn){ .at_ns = AT, .pid = 7, .outcome = o, .phase = PHASE_AUTH,
			    .has_wait = true, .has_total = true, .wait_ns = wait_ns,
			    .total_ns = wait_ns, .phases_present = 1u << PHASE_AUTH };
	addr_parse("10.42.1.5", &c->client);
	c->phases_ns[PHASE_AUTH] = wait_ns;
	strcpy(c->sqlstate, sqlstate);
	assert_int_equal(stats_event(stats, NULL, &ev), 0);
}

static char *render(void)
{
	size_t len;
	char *text = prometheus_text(stats, &len);

	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	return text;
}

/* The value of a series, -1 when it has no line. */
static double value_of(const char *text, const char *series)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, series, strlen(series)) && line[strlen(series)] == ' ')
			return atof(line + strlen(series) + 1);
	return -1;
}

TEST(connections_are_counted_by_outcome)
{
	char *text;

	take_start("main");
	take_conn(OUTCOME_READY, NS_PER_MS, "");
	take_conn(OUTCOME_READY, NS_PER_S, "");
	take_conn(OUTCOME_FAILED, NS_PER_MS, "28P01");
	text = render();
	assert_float_equal(value_of(text, "pgdnstrace_connections_total{outcome=\"ready\"}"), 2, 0);
	assert_float_equal(value_of(text, "pgdnstrace_connections_total{outcome=\"cancel\"}"), 0, 0);
	assert_float_equal(value_of(text, "pgdnstrace_failures_total{outcome=\"failed\","
					  "sqlstate=\"28P01\"}"), 1, 0);
	assert_float_equal(value_of(text, "pgdnstrace_log_hostname"), 1, 0);
	free(text);
}

TEST(buckets_are_cumulative_exact_at_their_bounds_and_end_at_the_count)
{
	char *text;

	take_start("main");
	take_conn(OUTCOME_READY, (1 << 20) - 1, "");
	take_conn(OUTCOME_READY, 1 << 20, "");
	take_conn(OUTCOME_READY, 3600 * NS_PER_S, "");
	text = render();
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_bucket{le=\"0.000524287\"}"), 0, 0);
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_bucket{le=\"0.001048575\"}"), 1, 0);
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_bucket{le=\"0.002097151\"}"), 2, 0);
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_bucket{le=\"+Inf\"}"), 3, 0);
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_count"), 3, 0);
	assert_float_equal(value_of(text, "pgdnstrace_wait_seconds_sum"), 3600.002097151, 1e-6);
	assert_float_equal(value_of(text, "pgdnstrace_phase_seconds_count{phase=\"auth\"}"), 3, 0);
	free(text);
}

TEST(what_was_not_measured_has_no_line)
{
	char *text;

	take_start("main");
	take_conn(OUTCOME_READY, NS_PER_MS, "");
	text = render();
	assert_null(strstr(text, "phase=\"login\",le"));
	assert_float_equal(value_of(text, "pgdnstrace_dns_seconds_count"), -1, 0);
	assert_float_equal(value_of(text, "pgdnstrace_accept_queue"), -1, 0);
	assert_float_equal(value_of(text, "pgdnstrace_in_setup_oldest_seconds"), -1, 0);
	free(text);
}

/* Every line is a comment or a series of the metric described last, with one number. */
TEST(hostile_labels_stay_in_their_quotes)
{
	char *text;

	take_start("a\"} 1\nevil_total 7\\");
	text = render();
	assert_null(strstr(text, "\nevil_total"));
	for (char *line = text, *next; *line; line = next) {
		char metric[64], value[32];

		next = line + strcspn(line, "\n") + 1;
		next[-1] = '\0';
		if (*line == '#')
			continue;
		assert_int_equal(sscanf(line, "%63[a-z0-9_]", metric), 1);
		assert_int_equal(strncmp(metric, "pgdnstrace_", 11), 0);
		assert_int_equal(sscanf(strrchr(line, ' '), " %31[0-9.]", value), 1);
	}
	free(text);
}

TEST(the_textfile_is_whole_readable_by_all_and_leaves_no_other_file)
{
	char dir[] = "/tmp/test_prometheus.XXXXXX", path[64];
	struct stat st;

	take_start("main");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pg.prom", dir);
	assert_int_equal(prometheus_write(path, stats), 0);
	assert_int_equal(prometheus_write(path, stats), 0); /* replaces */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0); /* was empty */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connections_are_counted_by_outcome, setup, teardown),
		cmocka_unit_test_setup_teardown(
			buckets_are_cumulative_exact_at_their_bounds_and_end_at_the_count, setup,
			teardown),
		cmocka_unit_test_setup_teardown(what_was_not_measured_has_no_line, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_labels_stay_in_their_quotes, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_textfile_is_whole_readable_by_all_and_leaves_no_other_file, setup,
			teardown),
	};

	return cmocka_run_group_tests_name("prometheus", tests, NULL, NULL);
}
