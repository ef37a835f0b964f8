/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <locale.h>
#include <time.h>

#include "base/safe.h"
#include "golden.h"
#include "recorded.h"
#include "scenario.h"
#include "show/frame.h"

static char *text;
static size_t text_len;
static struct desk desk;
static struct canvas canvas;

static void draw(struct stats *s, int width, int height, bool utf8)
{
	struct frame_input in = { s, s, &desk, stats_now_ns(s), false };

	canvas_resize(&canvas, width, height);
	canvas.utf8 = utf8;
	frame_draw(&canvas, &in);
}

static void take(struct stats *s, int width, int height, bool utf8)
{
	FILE *out = open_memstream(&text, &text_len);

	draw(s, width, height, utf8);
	canvas_print(&canvas, out);
	fclose(out);
}

static void assert_frame(int width, int height, bool utf8, const char *name)
{
	struct stats *s = stats_recorded("incident");

	take(s, width, height, utf8);
	assert_golden(text, name);
	free(text);
	stats_free(s);
}

static int begin(void **state)
{
	desk_init(&desk, false);
	*state = scenario_build(500);
	return 0;
}

static int finish(void **state)
{
	stats_free(*state);
	canvas_free(&canvas);
	return 0;
}

#define FRAME_TEST(name) static void name(void **state)

FRAME_TEST(eighty_by_24_shows_everything_that_matters)
{
	(void)state;
	desk.metric = METRIC_PHASE(PHASE_HOSTNAME);
	assert_frame(80, 24, true, "frame_80x24");
}

FRAME_TEST(a_large_screen_shows_in_setup_over_time_and_tables_at_once)
{
	(void)state;
	assert_frame(120, 40, true, "frame_120x40");
}

FRAME_TEST(a_very_large_screen_shows_lookups_too)
{
	(void)state;
	assert_frame(200, 60, true, "frame_200x60");
}

FRAME_TEST(a_small_screen_shows_phases_and_who_waits)
{
	(void)state;
	assert_frame(40, 12, true, "frame_40x12");
}

FRAME_TEST(without_utf8_the_bars_are_ascii)
{
	(void)state;
	desk.panel = PANEL_TIME;
	assert_frame(80, 24, false, "frame_ascii");
	for (int i = 0; i < canvas.width * canvas.height; i++)
		assert_true(canvas.cells[i].character < 0x7f);
}

FRAME_TEST(the_verdict_in_full_tells_what_to_do)
{
	(void)state;
	desk_key(&desk, *state, 'v');
	assert_frame(80, 24, true, "frame_verdict");
	desk_key(&desk, *state, 'v');
	assert_false(desk.verdict);
}

FRAME_TEST(a_silent_nameserver_stands_below_the_lookups)
{
	struct event ev = { .type = EVENT_DNS, .at_ns = stats_now_ns(*state) };

	ev.dns.count = 1;
	addr_parse("10.0.0.2", &ev.dns.servers[0].address);
	ev.dns.servers[0].queries = 20;
	ev.dns.servers[0].unanswered = 20;
	feed(*state, &ev);
	desk.panel = PANEL_LOOKUPS;
	take(*state, 80, 24, false);
	assert_non_null(strstr(text, "10.0.0.2"));
	assert_non_null(strstr(text, "20       20      -"));
	free(text);
}

FRAME_TEST(no_size_breaks_the_frame)
{
	for (int width = 1; width < 220; width += 3)
		for (int height = 1; height < 70; height += 2)
			for (int panel = 0; panel < PANEL_COUNT; panel += 3) {
				desk.panel = panel;
				draw(*state, width, height, panel & 1);
			}
}

TEST(nothing_is_drawn_of_a_hostile_name)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	struct conn c = conn_ready("10.0.0.1", 1, MS(3));

	strcpy(ev.start.host, "\x1b]0;x\x07\xe2\x80\xae");
	strcpy(ev.start.cluster_name, "\xff\n\t");
	feed(s, &ev);
	strcpy(c.user, "\x1b[2J\x9b\xc2\x9b\xe4\xbd\xa0\xe5\xa5\xbd");
	feed_conn(s, EVENTS_T0, c);
	for (int utf8 = 0; utf8 < 2; utf8++) {
		desk.panel = PANEL_FIRST_KEY + KEY_USER;
		draw(s, 120, 40, utf8);
		for (int i = 0; i < canvas.width * canvas.height; i++) {
			uint32_t ch = canvas.cells[i].character;

			assert_true(ch == 0 || (ch >= 0x20 && ch < 0x7f) || (utf8 && ch > 0xa0));
			assert_false(ch == 0x202e);
		}
	}
	stats_free(s);
}

FRAME_TEST(ages_tick_between_two_sweeps)
{
	struct frame_input in = { *state, *state, &desk, 0, false };
	FILE *out = open_memstream(&text, &text_len);

	in.now_ns = stats_now_ns(*state) + (int64_t)SEC(2);
	canvas_resize(&canvas, 80, 24);
	frame_draw(&canvas, &in);
	canvas_print(&canvas, out);
	fclose(out);
	assert_non_null(strstr(text, "oldest 11.1s in hostname"));
	assert_non_null(strstr(text, "16.0s")); /* from before the start, 14.0 s at the sweep */
	free(text);
}

FRAME_TEST(losses_are_seen_in_the_colour_of_trouble)
{
	struct event ev = event_tick(stats_now_ns(*state), 12, 0);
	FILE *out;
	char *styles;
	const char *at;

	feed(*state, &ev);
	take(*state, 80, 24, false);
	out = open_memstream(&styles, &text_len);
	canvas_print_styles(&canvas, out);
	fclose(out);
	for (int y = 0; y < 3; y++) {
		char *line = text;

		for (int i = 0; i < y; i++)
			line = strchr(line, '\n') + 1;
		*strchrnul(line, '\n') = '\0';
		at = strstr(line, "lost 12");
		if (at)
			assert_int_equal(styles[y * 81 + (at - line)], '!');
		line[strlen(line)] = '\n';
	}
	free(styles);
	free(text);
}

FRAME_TEST(a_time_window_a_filter_and_a_pause_are_said)
{
	desk.minutes = 5;
	desk.paused = true;
	strcpy(desk.filter, "10.0.0.0/8");
	take(*state, 80, 24, false);
	assert_non_null(strstr(text, "last 5m"));
	assert_non_null(strstr(text, "PAUSED"));
	assert_non_null(strstr(text, "only client 10.0.0.0/8"));
	free(text);
}

FRAME_TEST(a_message_and_a_prompt_have_a_row_at_the_bottom)
{
	desk_message(&desk, LOG_WARN, "the ring is full: --ring");
	take(*state, 80, 24, false);
	assert_non_null(strstr(text, "the ring is full: --ring"));
	free(text);
	desk_key(&desk, *state, '/');
	desk_key(&desk, *state, '1');
	take(*state, 80, 24, false);
	assert_non_null(strstr(text, "client (address or network, empty for all): 1"));
	free(text);
}

FRAME_TEST(a_trace_of_long_connections_shows_no_percentile)
{
	struct frame_input in = { *state, *state, &desk, stats_now_ns(*state), true };
	FILE *out = open_memstream(&text, &text_len);

	canvas_resize(&canvas, 120, 40);
	frame_draw(&canvas, &in);
	canvas_print(&canvas, out);
	fclose(out);
	assert_non_null(strstr(text, "10.1s")); /* a maximum */
	assert_null(strstr(text, "3.7ms")); /* a median */
	free(text);
}

/* -- keys -- */

FRAME_TEST(arrows_choose_the_phase_and_tab_the_table)
{
	assert_int_equal(desk.metric, METRIC_WAIT);
	desk_key(&desk, *state, DESK_DOWN);
	assert_int_equal(desk.metric, METRIC_PHASE(PHASE_QUEUE));
	desk_key(&desk, *state, DESK_UP);
	desk_key(&desk, *state, DESK_UP);
	assert_int_equal(desk.metric, METRIC_DNS); /* the last row */
	desk_key(&desk, *state, DESK_TAB);
	assert_int_equal(desk.panel, PANEL_TIME);
	desk_key(&desk, *state, DESK_BACK_TAB);
	desk_key(&desk, *state, DESK_LEFT);
	assert_int_equal(desk.panel, PANEL_COUNT - 1);
	desk.tables_only = true;
	desk_key(&desk, *state, DESK_RIGHT);
	assert_int_equal(desk.panel, PANEL_LOOKUPS);
}

FRAME_TEST(keys_do_what_the_help_says)
{
	assert_int_equal(desk_key(&desk, *state, 't'), WISH_NOTHING);
	assert_int_equal(desk.minutes, 1);
	desk_key(&desk, *state, 't');
	assert_int_equal(desk.minutes, 5);
	desk_key(&desk, *state, 't');
	assert_int_equal(desk.minutes, STATS_ALL);
	desk_key(&desk, *state, 's');
	assert_int_equal(desk.sort, SORT_CONNECTIONS);
	assert_int_equal(desk_key(&desk, *state, 'p'), WISH_PAUSE);
	assert_true(desk.paused);
	assert_int_equal(desk_key(&desk, *state, 'r'), WISH_RESET);
	assert_int_equal(desk_key(&desk, *state, 'q'), WISH_QUIT);
	desk_key(&desk, *state, '?');
	take(*state, 80, 24, false);
	assert_non_null(strstr(text, "order of the tables"));
	free(text);
	desk_key(&desk, *state, 'x');
	assert_false(desk.help);
	assert_int_equal(desk_key(&desk, *state, '+'), WISH_NOTHING); /* replay alone */
}

FRAME_TEST(a_filter_is_typed_corrected_and_given_up)
{
	desk_key(&desk, *state, '/');
	for (const char *p = "10.0q"; *p; p++)
		assert_int_equal(desk_key(&desk, *state, *p), WISH_NOTHING);
	desk_key(&desk, *state, DESK_BACKSPACE);
	assert_string_equal(desk.typed, "10.0");
	assert_int_equal(desk_key(&desk, *state, DESK_ENTER), WISH_FILTER);
	assert_int_equal(desk.prompt, PROMPT_NONE);
	desk_key(&desk, *state, '/');
	assert_int_equal(desk_key(&desk, *state, DESK_ESCAPE), WISH_NOTHING);
	assert_int_equal(desk.prompt, PROMPT_NONE);
	desk_key(&desk, *state, '/');
	for (int i = 0; i < 500; i++)
		desk_key(&desk, *state, 'x');
	assert_int_equal(strlen(desk.typed), sizeof(desk.typed) - 1);
}

FRAME_TEST(a_replay_has_keys_of_its_own)
{
	desk_init(&desk, true);
	assert_int_equal(desk_key(&desk, *state, ' '), WISH_PAUSE);
	assert_int_equal(desk_key(&desk, *state, '+'), WISH_SPEED);
	assert_int_equal(desk.speed, 2);
	for (int i = 0; i < 20; i++)
		desk_key(&desk, *state, '+');
	assert_int_equal(desk.speed, DESK_SPEED_MAX);
	for (int i = 0; i < 20; i++)
		desk_key(&desk, *state, '-');
	assert_int_equal(desk.speed, 1);
	assert_int_equal(desk_key(&desk, *state, ']'), WISH_STEP);
	assert_int_equal(desk.step_s, 10);
	desk_key(&desk, *state, 'j');
	assert_int_equal(desk_key(&desk, *state, DESK_ENTER), WISH_NOTHING);
	desk_key(&desk, *state, 'j');
	desk_key(&desk, *state, '3');
	assert_int_equal(desk_key(&desk, *state, DESK_ENTER), WISH_JUMP);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(eighty_by_24_shows_everything_that_matters),
		CASE(a_large_screen_shows_in_setup_over_time_and_tables_at_once),
		CASE(a_very_large_screen_shows_lookups_too),
		CASE(a_small_screen_shows_phases_and_who_waits),
		CASE(without_utf8_the_bars_are_ascii),
		CASE(the_verdict_in_full_tells_what_to_do),
		CASE(a_silent_nameserver_stands_below_the_lookups),
		CASE(no_size_breaks_the_frame),
		cmocka_unit_test(nothing_is_drawn_of_a_hostile_name),
		CASE(ages_tick_between_two_sweeps),
		CASE(losses_are_seen_in_the_colour_of_trouble),
		CASE(a_time_window_a_filter_and_a_pause_are_said),
		CASE(a_message_and_a_prompt_have_a_row_at_the_bottom),
		CASE(a_trace_of_long_connections_shows_no_percentile),
		CASE(arrows_choose_the_phase_and_tab_the_table),
		CASE(keys_do_what_the_help_says),
		CASE(a_filter_is_typed_corrected_and_given_up),
		CASE(a_replay_has_keys_of_its_own),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
