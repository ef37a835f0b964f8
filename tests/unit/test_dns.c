/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "dns_build.h"
#include "model/dns.h"

#define PTR 12

static struct built question(const char *name, unsigned int type)
{
	struct built b = { .len = 0 };

	put_ip(&b, "10.0.0.1", "10.0.0.2", false);
	put_ports(&b, 40000, 53, false);
	put_message(&b, 4711, 0x0100, name, type);
	return b;
}

static void assert_about(const char *name, unsigned int type, const char *address)
{
	struct built b = question(name, type);
	struct dns_packet p;
	char text[ADDR_TEXT_LEN];

	assert_int_equal(dns_parse(b.data, b.len, &p), 0);
	assert_string_equal(addr_format(&p.about, text), address);
}

TEST(a_question_tells_who_asks_whom)
{
	struct built b = question("7.0.42.10.in-addr.arpa", PTR);
	struct dns_packet p;
	char text[ADDR_TEXT_LEN];

	assert_int_equal(dns_parse(b.data, b.len, &p), 0);
	assert_string_equal(addr_format(&p.from, text), "10.0.0.1");
	assert_string_equal(addr_format(&p.to, text), "10.0.0.2");
	assert_int_equal(p.from_port, 40000);
	assert_int_equal(p.to_port, 53);
	assert_int_equal(p.id, 4711);
	assert_false(p.answer);
	assert_false(p.tcp);
}

TEST(a_reverse_name_is_read_as_the_address_it_is_about)
{
	assert_about("7.0.42.10.in-addr.arpa", PTR, "10.42.0.7");
	assert_about("7.0.42.10.IN-ADDR.Arpa", PTR, "10.42.0.7");
	assert_about("8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.2.4.D.f.ip6.arpa", PTR,
		     "fd42::8");
}

TEST(another_question_is_about_no_address)
{
	assert_about("7.0.42.10.in-addr.arpa", 1, "");
	assert_about("client-7.example", PTR, "");
	assert_about("7.0.42.in-addr.arpa", PTR, "");
	assert_about("7.0.42.256.in-addr.arpa", PTR, "");
	assert_about("7.0.42.-1.in-addr.arpa", PTR, "");
	assert_about("1.7.0.42.10.in-addr.arpa", PTR, "");
	assert_about("", PTR, "");
	assert_about("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.1.2.3.4.5.6.7.8.9.10.11.12."
		     "13.14.15.16.17.18.19.20",
		     PTR, "");
}

TEST(an_answer_belongs_to_its_question_whatever_case_the_name_is_in)
{
	struct built q = question("client-7.example", 1), a = { .len = 0 }, other;
	struct dns_packet asked, answered, elsewhere;

	put_ip(&a, "10.0.0.2", "10.0.0.1", false);
	put_ports(&a, 53, 40000, false);
	put_message(&a, 4711, 0x8183, "CLIENT-7.Example", 1);
	other = question("client-7.example", 28);
	assert_int_equal(dns_parse(q.data, q.len, &asked), 0);
	assert_int_equal(dns_parse(a.data, a.len, &answered), 0);
	assert_int_equal(dns_parse(other.data, other.len, &elsewhere), 0);
	assert_true(answered.answer);
	assert_int_equal(answered.rcode, 3);
	assert_true(answered.question == asked.question);
	assert_false(elsewhere.question == asked.question);
}

TEST(ipv6_and_tcp_carry_the_same)
{
	struct built b = { .len = 0 };
	struct dns_packet p;
	char text[ADDR_TEXT_LEN];

	put_ip(&b, "fd42::1", "fd42::2", true);
	put_ports(&b, 40000, 53, true);
	put_message(&b, 1, 0, "7.0.42.10.in-addr.arpa", PTR);
	assert_int_equal(dns_parse(b.data, b.len, &p), 0);
	assert_true(p.tcp);
	assert_string_equal(addr_format(&p.to, text), "fd42::2");
	assert_string_equal(addr_format(&p.about, text), "10.42.0.7");
}

TEST(what_is_no_dns_packet_is_refused)
{
	struct built b = question("client-7.example", 1);
	struct dns_packet p;

	b.data[24 + 3] = 54; /* neither port is 53 */
	assert_int_equal(dns_parse(b.data, b.len, &p), -EINVAL);
	b = question("client-7.example", 1);
	b.data[9] = 1; /* ICMP */
	assert_int_equal(dns_parse(b.data, b.len, &p), -EINVAL);
	b = question("client-7.example", 1);
	b.data[7] = 1; /* a later fragment */
	assert_int_equal(dns_parse(b.data, b.len, &p), -EINVAL);
	b = question("client-7.example", 1);
	b.data[24 + 8 + 5] = 2; /* two questions */
	assert_int_equal(dns_parse(b.data, b.len, &p), -EINVAL);
	b = question("client-7.example", 1);
	b.data[24 + 8 + 12] = 0xc0; /* a compressed name */
	assert_int_equal(dns_parse(b.data, b.len, &p), -EINVAL);
	assert_int_equal(dns_parse(b.data, 0, &p), -EINVAL);
}

TEST(a_packet_cut_off_anywhere_is_refused)
{
	struct built b = question("7.0.42.10.in-addr.arpa", PTR);

	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len ? len : 1); /* so that a sanitizer sees what lies behind */
		struct dns_packet p;

		memcpy(exact, b.data, len);
		assert_int_equal(dns_parse(exact, len, &p), -EINVAL);
		free(exact);
	}
}

TEST(any_bytes_are_read_without_harm)
{
	unsigned int seed = 1;

	for (int i = 0; i < 200000; i++) {
		struct built b = question("7.0.42.10.in-addr.arpa", PTR);
		struct dns_packet p;
		size_t len = (size_t)rand_r(&seed) % (b.len + 1);
		uint8_t *exact = malloc(len ? len : 1);

		for (int k = 0; k < 4; k++)
			b.data[(size_t)rand_r(&seed) % b.len] = (uint8_t)rand_r(&seed);
		memcpy(exact, b.data, len);
		dns_parse(exact, len, &p);
		free(exact);
	}
}

TEST(every_rcode_has_a_name_that_leads_back)
{
	char buf[DNS_RCODE_TEXT_LEN];

	assert_string_equal(dns_rcode_name(3, buf), "NXDOMAIN");
	assert_string_equal(dns_rcode_name(15, buf), "RCODE15");
	for (int i = 0; i < DNS_RCODES; i++)
		assert_int_equal(dns_rcode_parse(dns_rcode_name((unsigned int)i, buf)), i);
	assert_int_equal(dns_rcode_parse("nonsense"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_tells_who_asks_whom),
		cmocka_unit_test(a_reverse_name_is_read_as_the_address_it_is_about),
		cmocka_unit_test(another_question_is_about_no_address),
		cmocka_unit_test(an_answer_belongs_to_its_question_whatever_case_the_name_is_in),
		cmocka_unit_test(ipv6_and_tcp_carry_the_same),
		cmocka_unit_test(what_is_no_dns_packet_is_refused),
		cmocka_unit_test(a_packet_cut_off_anywhere_is_refused),
		cmocka_unit_test(any_bytes_are_read_without_harm),
		cmocka_unit_test(every_rcode_has_a_name_that_leads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
