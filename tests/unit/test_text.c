/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <locale.h>
#include <time.h>

#include "base/safe.h"
#include "golden.h"
#include "model/sqlstate.h"
#include "scenario.h"
#include "show/bins.h"
#include "show/name.h"
#include "show/text.h"

static char *text;
static size_t text_len;

static void take_view(struct stats *s, const struct view_options *o, bool final)
{
	FILE *out = open_memstream(&text, &text_len);

	assert_int_equal(text_view(out, s, o, final), 0);
	fclose(out);
}

/* The findings are verdict's own affair: what stands between heading and counts. */
static void drop_verdict(void)
{
	char *from = strstr(text, "\n\n");
	char *to = from ? strstr(from + 2, "\n\n") : NULL;

	assert_non_null(to);
	memmove(from, to, strlen(to) + 1);
}

static void take_event(const struct conn *c)
{
	FILE *out = open_memstream(&text, &text_len);

	assert_int_equal(text_event(out, c), 0);
	fclose(out);
}

static void assert_80_columns_without_control_bytes(void)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		assert_true(safe_columns(line) <= 80);
		for (char *p = line; *p; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
	}
}

TEST(the_view_of_an_incident_reads_like_this)
{
	struct view_options o = { .by_count = 3, .by = { KEY_CLIENT, KEY_USER, KEY_OUTCOME } };
	struct stats *s = scenario_build(45);

	take_view(s, &o, false);
	drop_verdict();
	assert_golden(text, "text_incident");
	assert_80_columns_without_control_bytes();
	free(text);
	stats_free(s);
}

TEST(a_view_without_connections_says_so)
{
	struct view_options o = { 0 };
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);

	feed(s, &ev);
	ev = event_tick(EVENTS_T0 + (int64_t)SEC(1), 0, 0);
	feed(s, &ev);
	take_view(s, &o, false);
	assert_non_null(strstr(text, "\n0 connections: 0 ready, 0 in setup\n"));
	assert_non_null(strstr(text, "accept queue 0/244, dropped 0"));
	assert_null(strstr(text, "p50"));
	assert_non_null(strstr(text, "CONNECTION")); /* the verdict's own word for silence */
	free(text);
	stats_free(s);
}

TEST(the_summary_says_why_it_ended_and_what_was_lost)
{
	struct view_options o = { 0 };
	struct stats *s = scenario_build(45);
	struct event ev = event_tick(EVENTS_T0 + (int64_t)SEC(26), 12, 0);

	feed(s, &ev);
	ev = (struct event){ .type = EVENT_END, .at_ns = EVENTS_T0 + (int64_t)SEC(27) };
	strcpy(ev.end.reason, "interrupted");
	feed(s, &ev);
	take_view(s, &o, true);
	assert_non_null(strstr(text, "summary: interrupted\n"));
	assert_non_null(strstr(text, "lost 12 (ring full 12)"));
	free(text);
	stats_free(s);
}

TEST(a_trace_of_long_connections_shows_no_percentile)
{
	struct view_options o = { .no_percentiles = true, .by_count = 1 };
	struct stats *s = scenario_build(45);

	take_view(s, &o, true);
	drop_verdict();
	assert_golden(text, "text_filtered");
	free(text);
	stats_free(s);
}

TEST(hostile_names_come_out_harmless)
{
	struct view_options o = { .by_count = 3, .by = { KEY_USER, KEY_DATABASE, KEY_APPLICATION } };
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	struct conn c = conn_ready("10.0.0.1", 1, MS(3));

	strcpy(ev.start.host, "db\x1b]0;owned\x07");
	strcpy(ev.start.cluster_name, "\xff\xfe");
	feed(s, &ev);
	strcpy(c.user, "\x1b[2Jroot\n\xe2\x80\xae" "evil\x9b");
	strcpy(c.database, "pos\xc3\xbctgres");
	memset(c.application, 0xc3, sizeof(c.application) - 1);
	feed_conn(s, EVENTS_T0, c);
	take_view(s, &o, false);
	drop_verdict();
	assert_golden(text, "text_hostile");
	assert_80_columns_without_control_bytes();
	free(text);
	take_event(&c);
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\x9b"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	stats_free(s);
}

TEST(an_ascii_locale_gets_ascii)
{
	char buf[256];

	assert_string_equal(show_name("pos\xc3\xbc", true, buf, sizeof(buf)), "pos\xc3\xbc");
	assert_string_equal(show_name("pos\xc3\xbc", false, buf, sizeof(buf)), "pos\\xc3\\xbc");
	assert_string_equal(show_name("\x1b", false, buf, sizeof(buf)), "\\x1b");
}

TEST(an_event_is_one_line)
{
	struct conn c = conn_ready("10.42.1.5", 7207, SEC(10));
	struct event ev = event_conn(EVENTS_T0 + (int64_t)SEC(20), c);

	ev.conn.at_ns = EVENTS_T0 + (int64_t)MS(9994);
	take_event(&ev.conn);
	assert_string_equal(text, "03:14:09.994   10.0s ready   hostname   10.0s 10.42.1.5 bench@postgres\n");
	free(text);
	c = conn_failed("2001:db8::1", 7208, "28P01");
	c.at_ns = EVENTS_T0;
	take_event(&c);
	assert_string_equal(text, "03:14:00.000   4.5ms failed  auth       3.0ms 2001:db8::1 intruder@postgres 28P01\n");
	free(text);
	c = (struct conn){ .outcome = OUTCOME_KILLED, .at_ns = EVENTS_T0 };
	take_event(&c);
	assert_string_equal(text, "03:14:00.000       - killed  unknown        - -\n");
	free(text);
}

TEST(a_full_disk_is_an_error)
{
	struct view_options o = { 0 };
	struct stats *s = scenario_build(45);
	FILE *out = fopen("/dev/full", "w");

	assert_int_equal(text_view(out, s, &o, false), -ENOSPC);
	fclose(out);
	stats_free(s);
}

TEST(bins_cover_everything_once_under_true_labels)
{
	static struct hist h;
	uint64_t counts[BINS], sum = 0;
	char label[BIN_LABEL_LEN];

	for (unsigned int bin = 0; bin < BINS; bin++) {
		hist_record(&h, bin_from_ns(bin) + bin_from_ns(bin) / 20);
		hist_record(&h, bin_from_ns(bin) + bin_from_ns(bin) / 2);
	}
	bins_count(&h, counts);
	for (unsigned int bin = 0; bin < BINS; bin++) {
		assert_int_equal(counts[bin], 2);
		sum += counts[bin];
	}
	assert_int_equal(sum, h.count);
	assert_string_equal(bin_label(0, label), "<1us");
	assert_string_equal(bin_label(1, label), "1-2us");
	assert_string_equal(bin_label(10, label), "512us-1ms");
	assert_string_equal(bin_label(12, label), "2-4ms");
	assert_string_equal(bin_label(20, label), "512ms-1s");
	assert_string_equal(bin_label(24, label), "8-16s");
	assert_string_equal(bin_label(BINS - 1, label), ">2048s");
}

TEST(sqlstates_have_words)
{
	assert_string_equal(sqlstate_name("28P01"), "invalid_password");
	assert_string_equal(sqlstate_name("57P03"), "cannot_connect_now");
	assert_string_equal(sqlstate_name("08P01"), "protocol_violation");
	assert_string_equal(sqlstate_name("53999"), "insufficient resources");
	assert_string_equal(sqlstate_name("ZZ999"), "");
}

TEST(names_are_cut_to_columns_not_bytes)
{
	char name[64] = "p\xc3\xb6st";

	assert_string_equal(show_cut(name, 4), "p\xc3\xb6st");
	assert_string_equal(show_cut(name, 3), "p\xc3\xb6~");
	assert_string_equal(show_cut(name, 2), "p~");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_view_of_an_incident_reads_like_this),
		cmocka_unit_test(a_view_without_connections_says_so),
		cmocka_unit_test(the_summary_says_why_it_ended_and_what_was_lost),
		cmocka_unit_test(a_trace_of_long_connections_shows_no_percentile),
		cmocka_unit_test(hostile_names_come_out_harmless),
		cmocka_unit_test(an_ascii_locale_gets_ascii),
		cmocka_unit_test(an_event_is_one_line),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(bins_cover_everything_once_under_true_labels),
		cmocka_unit_test(sqlstates_have_words),
		cmocka_unit_test(names_are_cut_to_columns_not_bytes),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
