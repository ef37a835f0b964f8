/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "base/exit.h"
#include "model/conn.h"

TEST(every_name_leads_back_to_its_number)
{
	for (int p = 0; p <= PHASE_COUNT; p++)
		assert_int_equal(phase_parse(phase_name(p)), p);
	for (int w = 0; w < WITHIN_COUNT; w++)
		assert_int_equal(within_parse(within_name(w)), w);
	for (int o = 0; o < OUTCOME_COUNT; o++)
		assert_int_equal(outcome_parse(outcome_name(o)), o);
	for (int a = 0; a < ASKER_COUNT; a++)
		assert_int_equal(asker_parse(asker_name(a)), a);
	for (int d = 0; d < DIRECTION_COUNT; d++)
		assert_int_equal(direction_parse(direction_name(d)), d);
	for (int r = 0; r < RESULT_COUNT; r++)
		assert_int_equal(result_parse(result_name(r)), r);
	for (int m = 0; m < METRIC_COUNT; m++)
		assert_int_equal(metric_parse(metric_name(m)), m);
}

TEST(metrics_carry_the_names_of_their_phases)
{
	assert_string_equal(metric_name(METRIC_PHASE(PHASE_HOSTNAME)), "hostname");
	assert_string_equal(metric_name(METRIC_WITHIN(WITHIN_TLS)), "tls");
	assert_string_equal(metric_name(METRIC_DNS), "dns");
}

TEST(numbers_out_of_range_have_no_name)
{
	assert_null(outcome_name(OUTCOME_NONE));
	assert_null(metric_name(-1));
	assert_null(metric_name(METRIC_COUNT));
	assert_int_equal(phase_parse("no such phase"), -ENOENT);
}

TEST(an_absent_metric_has_no_value)
{
	struct conn c = { .phases_present = 1 << PHASE_HOSTNAME, .has_total = true, .total_ns = 9 };
	uint64_t ns = 77;

	c.phases_ns[PHASE_HOSTNAME] = 5;
	assert_true(conn_metric(&c, METRIC_PHASE(PHASE_HOSTNAME), &ns));
	assert_int_equal(ns, 5);
	assert_true(conn_metric(&c, METRIC_TOTAL, &ns));
	assert_int_equal(ns, 9);
	assert_false(conn_metric(&c, METRIC_WAIT, &ns));
	assert_false(conn_metric(&c, METRIC_PHASE(PHASE_AUTH), &ns));
	assert_false(conn_metric(&c, METRIC_WITHIN(WITHIN_TLS), &ns));
	assert_false(conn_metric(&c, METRIC_COUNT, &ns));
	assert_int_equal(ns, 9);
}

TEST(the_slowest_phase_is_one_that_was_measured)
{
	struct conn c = { 0 };

	assert_int_equal(conn_slowest_phase(&c), PHASE_UNKNOWN);
	c.phases_ns[PHASE_AUTH] = 100;
	c.phases_ns[PHASE_FORK] = 10;
	c.phases_present = 1 << PHASE_FORK | 1 << PHASE_CHILD;
	assert_int_equal(conn_slowest_phase(&c), PHASE_FORK);
}

TEST(the_session_id_is_the_one_of_the_log)
{
	struct conn c = { .backend_start = 0x68de4f12, .pid = 0x1c27 };
	char buf[32];

	assert_string_equal(conn_session_id(&c, buf), "68de4f12.1c27");
	c.backend_start = 0;
	assert_string_equal(conn_session_id(&c, buf), "");
}

TEST(addresses_are_read_as_they_are_written)
{
	const char *texts[] = { "[local]", "10.42.1.5", "::1", "2001:db8::5", "::ffff:10.0.0.1" };
	char buf[ADDR_TEXT_LEN];
	struct addr a;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(addr_parse(texts[i], &a), 0);
		assert_string_equal(addr_format(&a, buf), texts[i]);
	}
	assert_int_equal(addr_parse("fe80::1%eth0", &a), 0);
	assert_string_equal(addr_format(&a, buf), "fe80::1");
	a.family = ADDR_NONE;
	assert_string_equal(addr_format(&a, buf), "");
}

TEST(what_is_no_address_is_invalid)
{
	const char *bad[] = { "",     "local",    "10.0.0", "10.0.0.256", "10.0.0.1%eth0",
			      "g::1", "1.2.3.4.5" };
	struct addr a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(addr_parse(bad[i], &a), -EINVAL);
}

static bool within(const char *a, const char *net, unsigned int bits)
{
	struct addr x, y;

	assert_int_equal(addr_parse(a, &x), 0);
	assert_int_equal(addr_parse(net, &y), 0);
	return addr_within(&x, &y, bits);
}

TEST(an_address_lies_in_a_network_of_any_width)
{
	assert_true(within("10.1.2.3", "10.0.0.0", 8));
	assert_false(within("11.1.2.3", "10.0.0.0", 8));
	assert_true(within("10.127.0.1", "10.64.0.0", 10));
	assert_false(within("10.128.0.1", "10.64.0.0", 10));
	assert_true(within("10.1.2.3", "10.1.2.3", 32));
	assert_false(within("10.1.2.2", "10.1.2.3", 32));
	assert_true(within("1.2.3.4", "9.9.9.9", 0));
	assert_true(within("2001:db8::1", "2001:db8::", 64));
	assert_false(within("::1", "0.0.0.1", 0));
	assert_true(within("[local]", "[local]", 0));
}

TEST(a_client_belongs_to_its_slash_24_or_64)
{
	struct addr a, net;
	char buf[ADDR_TEXT_LEN];

	addr_parse("10.1.2.3", &a);
	net = addr_network(&a);
	assert_string_equal(addr_format(&net, buf), "10.1.2.0");
	addr_parse("2001:db8:1:2:3:4:5:6", &a);
	net = addr_network(&a);
	assert_string_equal(addr_format(&net, buf), "2001:db8:1:2::");
	addr_parse("[local]", &a);
	net = addr_network(&a);
	assert_true(addr_equal(&a, &net));
}

TEST(resolver_codes_have_words)
{
	char buf[24];

	assert_string_equal(eai_name(-3, buf), "EAI_AGAIN");
	assert_string_equal(eai_name(EAI_NONAME, buf), "EAI_NONAME");
	assert_string_equal(eai_name(-42, buf), "EAI_-42");
}

TEST(exit_codes_have_words)
{
	assert_int_equal(EXIT_FAILURE, 1);
	assert_string_equal(exit_text(EXIT_USAGE), "usage");
	assert_null(exit_text(77));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_leads_back_to_its_number),
		cmocka_unit_test(metrics_carry_the_names_of_their_phases),
		cmocka_unit_test(numbers_out_of_range_have_no_name),
		cmocka_unit_test(an_absent_metric_has_no_value),
		cmocka_unit_test(the_slowest_phase_is_one_that_was_measured),
		cmocka_unit_test(the_session_id_is_the_one_of_the_log),
		cmocka_unit_test(addresses_are_read_as_they_are_written),
		cmocka_unit_test(what_is_no_address_is_invalid),
		cmocka_unit_test(an_address_lies_in_a_network_of_any_width),
		cmocka_unit_test(a_client_belongs_to_its_slash_24_or_64),
		cmocka_unit_test(resolver_codes_have_words),
		cmocka_unit_test(exit_codes_have_words),
	};

	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
