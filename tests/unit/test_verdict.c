/* SPDX-License-Identifier: BSD-2-Clause */
/* Each finding against recorded traces: first in one, absent from another (tests/data/record). */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/safe.h"
#include "events.h"
#include "keep/trace.h"
#include "model/verdict.h"

static struct stats *stats_of(const char *name)
{
	char path[128], err[TRACE_ERR_LEN];
	struct stats *s = stats_new();
	struct trace_reader *r;
	static struct event ev;
	int more;

	snprintf(path, sizeof(path), "tests/data/%s.jsonl", name);
	assert_int_equal(trace_open(&r, path, err, sizeof(err)), 0);
	while ((more = trace_next(r, &ev, err, sizeof(err))) > 0)
		assert_int_equal(stats_event(s, NULL, &ev), 0);
	assert_int_equal(more, 0);
	trace_close(r);
	return s;
}

static void verdict_of(const char *name, struct verdict *v)
{
	struct stats *s = stats_of(name);

	verdict_build(s, v);
	stats_free(s);
}

static bool has_title(const struct verdict *v, const char *title)
{
	for (unsigned int i = 0; i < v->count; i++)
		if (!strcmp(v->findings[i].title, title))
			return true;
	return false;
}

/* Each finding: the trace where it comes first, words that must be in it, one without it. */
static const struct {
	const char *title, *first_in, *words, *advice, *absent_from;
} cases[] = {
	{ "SINCE THE RELOAD", "reload", "log_hostname is off since", "", "slow_dns" },
	{ "ONE CLIENT", "one_client", "10.42.0.9 alone waits for name lookups", "getent hosts 10.42.0.9",
	  "dead_dns" },
	{ "ONE NETWORK", "one_network", "10.42.7.0/24 alone", "getent hosts 10.42.7.", "one_client" },
	{ "IPV6 ALONE", "ipv6", "IPv6 alone", "getent hosts fd42::", "slow_dns" },
	{ "NAME SERVER", "first_server_dead", "192.0.2.1 leaves a question unanswered for 1s",
	  "@192.0.2.1", "dead_dns" },
	{ "REVERSE DNS", "dead_dns", "10.0s is 2 unanswered tries of 5s (127.0.0.1)",
	  "ALTER SYSTEM SET log_hostname=off", "log_hostname_off" },
	{ "REVERSE DNS", "slow_dns", "Name used by: %h", "SELECT pg_reload_conf()", "reload" },
	{ "REVERSE DNS", "stuck", "3 log_hostname lookups wait now", "waits already waits on", "refused" },
	{ "HOST NAME RULES", "host_rules", "6 reverse and 0 forward", "pg_hba_file_rules", "slow_dns" },
	{ "FAILED LOOKUPS", "refused", "EAI_AGAIN 10", "getent hosts", "slow_dns" },
	{ "NAMES UNVERIFIED", "lie", "PTR record of 10.42.0.66 says \"10.0.0.5\"", "--resolve",
	  "one_client" },
	{ "ACCEPT QUEUE", "queue", "until the postmaster takes them", "somaxconn", "fork" },
	{ "ACCEPT QUEUE", "listen_drops", "packets were dropped", "somaxconn", "stuck" },
	{ "FORK", "fork", "page tables", "VmPTE", "queue" },
	{ "BACKEND START", "backend_start", "pre_auth_delay", "SHOW pre_auth_delay", "fork" },
	{ "SILENT CLIENTS", "silent_clients", "1 of 6 clients", "--by client", "scram" },
	{ "TLS", "tls", "TLS negotiation takes", "ssl_cert_file", "scram" },
	{ "AUTHENTICATION", "scram", "SCRAM iterations", "pg_authid", "host_rules" },
	{ "PREPARE", "preload", "preload libraries", "SHOW session_preload_libraries", "login_trigger" },
	{ "LOGIN TRIGGERS", "login_trigger", "Login event triggers", "pg_event_trigger", "preload" },
	{ "CLIENTS GAVE UP", "gave_up", "Half of them by 2.0s: a connect timeout", "outcome=gave_up",
	  "scram" },
	{ "CLIENTS GAVE UP", "no_password", "no password at hand", "outcome=gave_up", "dead_dns" },
	{ "FAILURES", "too_many", "53300 too_many_connections 6", "max_connections", "log_hostname_off" },
	{ "PORT PROBES", "port_probes", "10 of 12 connections", "outcome=closed", "log_hostname_off" },
	{ "NOTHING WRONG", "log_hostname_off", "10 connections took", "", "dead_dns" },
	{ "NOTHING WRONG", "healthy", "30 connections took", "", "slow_dns" },
	{ "NO CONNECTION YET", "silence", "Accept queue 0 of", "", "stuck" },
};

TEST(each_finding_comes_first_in_a_trace_of_its_trouble)
{
	static struct verdict v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		verdict_of(cases[i].first_in, &v);
		if (strcmp(v.findings[0].title, cases[i].title) != 0)
			fail_msg("%s: first is %s: %s", cases[i].first_in, v.findings[0].title,
				 v.findings[0].text);
		if (!strstr(v.findings[0].text, cases[i].words))
			fail_msg("%s: '%s' is not in: %s", cases[i].first_in, cases[i].words,
				 v.findings[0].text);
		if (!strstr(v.findings[0].advice, cases[i].advice))
			fail_msg("%s: '%s' is not in: %s", cases[i].first_in, cases[i].advice,
				 v.findings[0].advice);
	}
}

TEST(no_finding_appears_in_a_trace_of_another_trouble)
{
	static struct verdict v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		verdict_of(cases[i].absent_from, &v);
		if (has_title(&v, cases[i].title))
			fail_msg("%s is found in %s", cases[i].title, cases[i].absent_from);
	}
}

TEST(every_finding_has_a_figure_and_fits_where_it_is_shown)
{
	static struct verdict v;
	char line[TEXT_LEN];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		verdict_of(cases[i].first_in, &v);
		for (unsigned int f = 0; f < v.count; f++) {
			const struct finding *found = &v.findings[f];
			char advice[sizeof(found->advice)];

			assert_true(strcspn(found->text, "0123456789") < strlen(found->text));
			verdict_line(found, line, sizeof(line));
			assert_true(strlen(line) == strlen(found->title) + 2 + strlen(found->text));
			snprintf(advice, sizeof(advice), "%s", found->advice);
			for (char *at = strtok(advice, "\n"); at; at = strtok(NULL, "\n"))
				if (safe_columns(at) > 78)
					fail_msg("%s: too wide: %s", found->title, at);
		}
	}
}

TEST(findings_stand_in_the_order_of_their_weight)
{
	static struct verdict v;

	verdict_of("one_client", &v);
	assert_true(v.count >= 2);
	for (unsigned int i = 1; i < v.count; i++)
		assert_true(v.findings[i - 1].weight >= v.findings[i].weight);
}

TEST(advice_goes_by_the_servers_own_socket)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	static struct verdict v;

	strcpy(ev.start.socket_directory, "/run/postgresql");
	ev.start.port = 5433;
	feed(s, &ev);
	feed_conn(s, EVENTS_T0 + 1, conn_gave_up("10.0.0.1", 1, SEC(5), SEC(10)));
	verdict_build(s, &v);
	assert_string_equal(v.findings[0].title, "REVERSE DNS");
	assert_ptr_equal(strstr(v.findings[0].advice,
				"Now: sudo -u postgres psql -h /run/postgresql -p 5433 \\\n"
				"    -c 'ALTER SYSTEM SET log_hostname=off' -c 'SELECT pg_reload_conf()'\n"),
			 v.findings[0].advice);
	stats_free(s);
}

TEST(a_socket_directory_that_needs_quoting_is_left_out)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	static struct verdict v;

	strcpy(ev.start.socket_directory, "/tmp/$(reboot)");
	feed(s, &ev);
	feed_conn(s, EVENTS_T0 + 1, conn_gave_up("10.0.0.1", 1, SEC(5), SEC(10)));
	verdict_build(s, &v);
	assert_null(strstr(v.findings[0].advice, "reboot"));
	assert_non_null(strstr(v.findings[0].advice, "sudo -u postgres psql"));
	stats_free(s);
}

TEST(nothing_printing_the_name_is_said)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	static struct verdict v;

	ev.start.settings.has_log_line_prefix = true;
	strcpy(ev.start.settings.log_line_prefix, "%m %%h [%p] ");
	ev.start.settings.has_printers = true;
	feed(s, &ev);
	feed_conn(s, EVENTS_T0 + 1, conn_gave_up("10.0.0.1", 1, SEC(5), SEC(10)));
	verdict_build(s, &v);
	assert_non_null(strstr(v.findings[0].text, "Nothing in this server's settings prints the name."));
	stats_free(s);
}

TEST(a_hostile_name_is_text_and_never_advice)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	struct conn c = conn_ready("10.0.0.1", 1, MS(1));
	static struct verdict v;

	feed(s, &ev);
	conn_add_lookup(&c, RESULT_NAME, 0, MS(1));
	strcpy(c.lookups[0].name, "10.9.9.9");
	strcpy(c.user, "'; DROP TABLE x; --");
	feed_conn(s, EVENTS_T0 + 1, c);
	verdict_build(s, &v);
	assert_string_equal(v.findings[0].title, "NAMES UNVERIFIED");
	assert_non_null(strstr(v.findings[0].text, "10.9.9.9"));
	assert_null(strstr(v.findings[0].advice, "10.9.9.9"));
	stats_free(s);
}

TEST(half_of_the_lookups_slow_is_told_as_two_humps)
{
	struct stats *s = stats_new();
	static struct verdict v;

	for (int i = 0; i < 20; i++) {
		struct conn c = conn_ready("10.0.0.1", i + 1, i % 2 ? SEC(5) : MS(3));

		conn_add_lookup(&c, RESULT_NAME, 0, c.phases_ns[PHASE_HOSTNAME]);
		feed_conn(s, EVENTS_T0, c);
	}
	verdict_build(s, &v);
	assert_string_equal(v.findings[0].title, "REVERSE DNS");
	assert_non_null(strstr(v.findings[0].text,
			       "10 of 20 log_hostname lookups took 5.0s, the others 3.0ms."));
	stats_free(s);
}

/* The same trouble as the finding NAME SERVER guesses from durations, seen on the wire. */
TEST(a_name_server_that_is_silent_on_the_wire_is_named)
{
	struct stats *s = stats_of("first_server_dead");
	static struct event ev = { .type = EVENT_DNS };
	static struct verdict v;

	ev.dns.count = 2;
	ev.dns.servers[0] = (struct dns_server){ .queries = 8, .unanswered = 8 };
	ev.dns.servers[1] = (struct dns_server){ .queries = 8, .answers = 8, .rtt_count = 8,
						 .rtt_p50_ns = MS(3), .rtt_max_ns = MS(3) };
	addr_parse("192.0.2.1", &ev.dns.servers[0].address);
	addr_parse("192.0.2.2", &ev.dns.servers[1].address);
	feed(s, &ev);
	verdict_build(s, &v);
	assert_string_equal(v.findings[0].title, "SILENT NAME SERVER");
	assert_string_equal(v.findings[0].text, "192.0.2.1 left 8 of 8 questions unanswered. "
						"192.0.2.2 answers in 3.0ms.");
	assert_non_null(strstr(v.findings[0].advice, "@192.0.2.1"));
	assert_false(has_title(&v, "NAME SERVER"));
	ev.dns.servers[0].unanswered = 2;
	feed(s, &ev);
	verdict_build(s, &v);
	assert_false(has_title(&v, "SILENT NAME SERVER"));
	stats_free(s);
}

TEST(a_trace_of_long_connections_says_what_was_said_when_all_were_known)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	static struct verdict v;

	strcpy(ev.start.filter, "longer-than=200ms");
	feed(s, &ev);
	feed_conn(s, EVENTS_T0 + 1, conn_gave_up("10.0.0.1", 1, SEC(5), SEC(10)));
	ev = (struct event){ .type = EVENT_END, .at_ns = EVENTS_T0 + (int64_t)SEC(1) };
	ev.end.verdict_count = 1;
	strcpy(ev.end.verdict[0], "REVERSE DNS: 1 of 5000 log_hostname lookups took 10.0s.");
	feed(s, &ev);
	verdict_build(s, &v);
	assert_int_equal(v.count, 1);
	assert_string_equal(v.findings[0].title, "REVERSE DNS");
	assert_string_equal(v.findings[0].text, "1 of 5000 log_hostname lookups took 10.0s.");
	assert_non_null(strstr(v.findings[0].advice, "log_hostname=off"));
	stats_free(s);
}

TEST(what_was_lost_is_said_with_the_option_that_helps)
{
	struct stats *s = stats_new();
	struct event ev = event_start(EVENTS_T0);
	static struct verdict v;

	feed(s, &ev);
	feed_conn(s, EVENTS_T0 + 1, conn_ready("10.0.0.1", 1, US(5)));
	ev = event_tick(EVENTS_T0 + 2, 99, 0);
	feed(s, &ev);
	verdict_build(s, &v);
	assert_string_equal(v.findings[0].title, "RECORDS LOST");
	assert_non_null(strstr(v.findings[0].text, "99 of 100"));
	assert_non_null(strstr(v.findings[0].advice, "--ring"));
	stats_free(s);
}

TEST(a_prefix_is_read_as_postgresql_reads_it)
{
	assert_true(log_prefix_uses("%m [%p] %h ", 'h'));
	assert_true(log_prefix_uses("%-10h", 'h'));
	assert_true(log_prefix_uses("%q%h", 'h'));
	assert_true(log_prefix_uses("%%%r", 'r'));
	assert_true(log_prefix_uses("%007h", 'h'));
	assert_false(log_prefix_uses("%%h", 'h'));
	assert_false(log_prefix_uses("% h", 'h'));
	assert_false(log_prefix_uses("%--h", 'h'));
	assert_false(log_prefix_uses("h%", 'h'));
	assert_false(log_prefix_uses("%1", 'h'));
	assert_false(log_prefix_uses("", 'h'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_finding_comes_first_in_a_trace_of_its_trouble),
		cmocka_unit_test(no_finding_appears_in_a_trace_of_another_trouble),
		cmocka_unit_test(every_finding_has_a_figure_and_fits_where_it_is_shown),
		cmocka_unit_test(findings_stand_in_the_order_of_their_weight),
		cmocka_unit_test(advice_goes_by_the_servers_own_socket),
		cmocka_unit_test(a_socket_directory_that_needs_quoting_is_left_out),
		cmocka_unit_test(nothing_printing_the_name_is_said),
		cmocka_unit_test(a_hostile_name_is_text_and_never_advice),
		cmocka_unit_test(half_of_the_lookups_slow_is_told_as_two_humps),
		cmocka_unit_test(a_name_server_that_is_silent_on_the_wire_is_named),
		cmocka_unit_test(a_trace_of_long_connections_says_what_was_said_when_all_were_known),
		cmocka_unit_test(what_was_lost_is_said_with_the_option_that_helps),
		cmocka_unit_test(a_prefix_is_read_as_postgresql_reads_it),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
