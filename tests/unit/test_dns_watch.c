/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <stdlib.h>

#include "events.h"
#include "model/dns_watch.h"

#define CLIENT "10.42.0.7"

static struct dns_watch *watch;
static struct dns_report report;

static int watch_setup(void **state)
{
	struct resolver r = { .has = true, .nameserver_count = 2, .timeout_s = 5,
			      .nameservers = { "10.0.0.2", "10.0.0.3" } };

	(void)state;
	watch = dns_watch_new(&r);
	return watch ? 0 : -1;
}

static int watch_teardown(void **state)
{
	(void)state;
	dns_watch_free(watch);
	return 0;
}

static struct dns_packet packet(const char *server, uint16_t id, uint16_t port)
{
	struct dns_packet p = { .from_port = port, .to_port = DNS_PORT, .id = id, .question = 99 };

	addr_parse("10.0.0.1", &p.from);
	addr_parse(server, &p.to);
	addr_parse(CLIENT, &p.about);
	return p;
}

static void ask(const char *server, uint16_t id, int64_t at_ns)
{
	struct dns_packet p = packet(server, id, id + 1000);

	dns_watch_packet(watch, &p, EVENTS_T0 + at_ns);
}

static void answer(const char *server, uint16_t id, uint8_t rcode, int64_t at_ns)
{
	struct dns_packet p = packet(server, id, id + 1000), back = p;

	back.from = p.to;
	back.to = p.from;
	back.from_port = DNS_PORT;
	back.to_port = p.from_port;
	back.answer = true;
	back.rcode = rcode;
	dns_watch_packet(watch, &back, EVENTS_T0 + at_ns);
}

static const struct dns_server *server(int row, int64_t at_ns)
{
	dns_watch_report(watch, EVENTS_T0 + at_ns, &report);
	return &report.servers[row];
}

/* A connection that waits for the name of CLIENT from at_ns on. */
static struct conn waiting(int pid, int64_t at_ns, uint64_t dur_ns)
{
	struct conn c = { .pid = pid, .host_pid = pid, .at_ns = EVENTS_T0 + at_ns };

	addr_parse(CLIENT, &c.client);
	conn_add_lookup(&c, RESULT_NAME, 0, dur_ns);
	return c;
}

TEST(an_answer_is_counted_with_its_time_and_code)
{
	ask("10.0.0.2", 1, MS(10));
	answer("10.0.0.2", 1, 3, MS(13));
	assert_int_equal(server(0, SEC(1))->queries, 1);
	assert_int_equal(report.servers[0].answers, 1);
	assert_int_equal(report.servers[0].rcodes[3], 1);
	assert_int_equal(report.servers[0].rtt_count, 1);
	assert_int_equal(report.servers[0].rtt_max_ns, MS(3));
	assert_int_equal(report.servers[0].rtt_bins[12], 1); /* 2 to 4 ms */
	assert_int_equal(report.servers[0].unanswered, 0);
}

TEST(the_resolvers_own_nameservers_are_told_without_a_packet)
{
	char text[ADDR_TEXT_LEN];

	assert_string_equal(addr_format(&server(1, 0)->address, text), "10.0.0.3");
	assert_int_equal(report.count, 2);
	assert_int_equal(report.servers[1].queries, 0);
	assert_int_equal(report.servers[1].rtt_count, 0);
}

TEST(silence_is_told_once_the_resolver_would_have_given_up)
{
	ask("10.0.0.2", 1, 0);
	assert_int_equal(server(0, SEC(5) - 1)->unanswered, 0);
	assert_int_equal(server(0, SEC(5))->unanswered, 1);
}

TEST(asking_another_server_gives_the_first_one_up)
{
	ask("10.0.0.2", 1, 0);
	ask("10.0.0.3", 1, SEC(1));
	assert_int_equal(server(0, SEC(1))->unanswered, 1);
	assert_int_equal(report.servers[0].retries, 0);
	assert_int_equal(report.servers[1].retries, 0);
	answer("10.0.0.3", 1, 0, SEC(1) + MS(1));
	assert_int_equal(server(1, SEC(9))->unanswered, 0);
	assert_int_equal(report.servers[1].rtt_max_ns, MS(1));
	assert_int_equal(report.servers[0].unanswered, 1);
}

/* Which of the two was answered cannot be told: no round trip is. */
TEST(a_repeated_question_is_a_retry_and_has_no_round_trip)
{
	ask("10.0.0.2", 1, 0);
	ask("10.0.0.2", 1, SEC(5));
	answer("10.0.0.2", 1, 0, SEC(5) + MS(1));
	assert_int_equal(server(0, SEC(20))->queries, 2);
	assert_int_equal(report.servers[0].retries, 1);
	assert_int_equal(report.servers[0].answers, 1);
	assert_int_equal(report.servers[0].unanswered, 1);
	assert_int_equal(report.servers[0].rtt_count, 0);
}

TEST(a_late_answer_is_an_answer)
{
	ask("10.0.0.2", 1, 0);
	assert_int_equal(server(0, SEC(6))->unanswered, 1);
	answer("10.0.0.2", 1, 0, SEC(7));
	assert_int_equal(server(0, SEC(8))->unanswered, 0);
	assert_int_equal(report.servers[0].answers, 1);
}

TEST(an_answer_that_nobody_asked_for_counts_nowhere)
{
	struct dns_packet p = packet("10.9.9.9", 1, DNS_PORT);

	answer("10.0.0.2", 1, 0, MS(1));
	p.answer = true;
	p.from = p.to;
	dns_watch_packet(watch, &p, EVENTS_T0);
	ask("10.0.0.2", 2, MS(2));
	answer("10.0.0.2", 3, 0, MS(3)); /* another id, and so another port */
	answer("10.0.0.3", 2, 0, MS(3)); /* another server */
	assert_int_equal(server(0, SEC(1))->answers, 0);
	assert_int_equal(report.servers[1].answers, 0);
	assert_int_equal(report.count, 2);
	assert_int_equal(report.packets, 5);
}

TEST(servers_beyond_the_table_are_counted_together)
{
	char text[ADDR_TEXT_LEN];

	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "10.1.0.%d", i);
		ask(text, (uint16_t)i, MS(i));
		answer(text, (uint16_t)i, 0, MS(i));
	}
	server(0, SEC(1));
	assert_int_equal(report.count, DNS_SERVERS);
	assert_int_equal(report.others, 20 - (DNS_SERVERS - 2));
}

TEST(what_is_no_longer_remembered_keeps_its_count)
{
	for (int i = 0; i < 40000; i++)
		ask("10.0.0.2", (uint16_t)i, (int64_t)MS(i));
	assert_int_equal(server(0, SEC(100))->unanswered, 40000);
	assert_int_equal(report.lost, 0);
	for (int i = 0; i < 40000; i++) /* faster than silence can be told from patience */
		ask("10.0.0.3", (uint16_t)i, (int64_t)(SEC(100) + US(i)));
	server(1, SEC(200));
	assert_int_equal(report.servers[0].unanswered, 40000);
	assert_true(report.lost > 0);
	assert_int_equal(report.servers[1].unanswered + report.lost, 40000);
}

TEST(a_lookup_gets_the_questions_asked_for_its_address_while_it_waited)
{
	struct conn c = waiting(7, MS(100), SEC(5) + MS(3));
	const struct question *q = c.lookups[0].questions;
	char text[ADDR_TEXT_LEN];

	ask("10.0.0.2", 5, MS(50)); /* before */
	ask("10.0.0.2", 6, MS(101));
	ask("10.0.0.3", 6, SEC(5) + MS(101));
	answer("10.0.0.3", 6, 0, SEC(5) + MS(102));
	ask("10.0.0.2", 7, SEC(6)); /* after */
	dns_watch_tie(watch, &c);
	assert_int_equal(c.lookups[0].question_count, 2);
	assert_string_equal(addr_format(&q[0].nameserver, text), "10.0.0.2");
	assert_false(q[0].answered);
	assert_int_equal(q[0].at_ns, MS(1));
	assert_true(q[1].answered && q[1].has_rtt);
	assert_int_equal(q[1].rtt_ns, MS(1));
}

TEST(two_that_wait_for_one_address_do_not_share_a_question)
{
	struct conn a = waiting(7, 0, SEC(5)), b = waiting(8, MS(10), SEC(5));

	ask("10.0.0.2", 1, MS(1));
	ask("10.0.0.2", 2, MS(11));
	ask("10.0.0.3", 1, SEC(4));
	dns_watch_tie(watch, &a);
	dns_watch_tie(watch, &b);
	dns_watch_tie(watch, &a); /* while they wait they are told again and again */
	assert_int_equal(a.lookups[0].question_count, 2);
	assert_int_equal(b.lookups[0].question_count, 1);
	assert_int_equal(b.lookups[0].questions[0].at_ns, MS(1));
}

TEST(forward_lookups_and_other_addresses_get_no_question)
{
	struct conn c = waiting(7, 0, SEC(1)), d = waiting(8, 0, SEC(1));

	ask("10.0.0.2", 1, MS(1));
	c.lookups[0].kind = DIRECTION_FORWARD;
	addr_parse("10.42.0.8", &d.lookups[0].address);
	dns_watch_tie(watch, &c);
	dns_watch_tie(watch, &d);
	assert_int_equal(c.lookups[0].question_count, 0);
	assert_int_equal(d.lookups[0].question_count, 0);
}

#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, watch_setup, watch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(an_answer_is_counted_with_its_time_and_code),
		WATCH_TEST(the_resolvers_own_nameservers_are_told_without_a_packet),
		WATCH_TEST(silence_is_told_once_the_resolver_would_have_given_up),
		WATCH_TEST(asking_another_server_gives_the_first_one_up),
		WATCH_TEST(a_repeated_question_is_a_retry_and_has_no_round_trip),
		WATCH_TEST(a_late_answer_is_an_answer),
		WATCH_TEST(an_answer_that_nobody_asked_for_counts_nowhere),
		WATCH_TEST(servers_beyond_the_table_are_counted_together),
		WATCH_TEST(what_is_no_longer_remembered_keeps_its_count),
		WATCH_TEST(a_lookup_gets_the_questions_asked_for_its_address_while_it_waited),
		WATCH_TEST(two_that_wait_for_one_address_do_not_share_a_question),
		WATCH_TEST(forward_lookups_and_other_addresses_get_no_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
