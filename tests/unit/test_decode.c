// SPDX-License-Identifier: BSD-2-Clause
/* The rules of outcomes, phases and lookups, held against records as the kernel would send them. */
#include "unit.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "capture/decode.h"

#define US 1000ULL
#define T0 (5000000 * US) /* accept */

static const uint8_t client[4] = { 10, 42, 1, 5 };

/* A TCP connection that reached the given phase, each phase being 100 us long. */
static struct record reached(enum phase phase)
{
	struct record rec = { .pid = 77, .host_pid = 4077, .socket_seen = 1, .bytes_received = 90 };

	rec.client.family = AF_INET;
	rec.client.port = 60038;
	memcpy(rec.client.bytes, client, sizeof(client));
	rec.start[PHASE_QUEUE] = T0 - 30 * US;
	for (int p = PHASE_FORK; p <= (int)phase; p++)
		rec.start[p] = T0 + (unsigned int)(p - PHASE_FORK) * 100 * US;
	rec.end_ns = rec.start[phase] + 100 * US;
	return rec;
}

static struct record ended(enum phase phase, int status)
{
	struct record rec = reached(phase);

	rec.exited = 1;
	rec.exit_code = (unsigned int)status << 8;
	return rec;
}

static struct record ready_record(void)
{
	struct record rec = reached(PHASE_PREPARE);

	rec.ready = 1;
	rec.start[MARK_READY] = rec.end_ns;
	return rec;
}

static struct conn decoded(const struct record *rec)
{
	struct conn c;

	decode_conn(rec, rec->end_ns, 0, &c);
	return c;
}

TEST(phases_of_a_ready_connection_add_up_to_total_exactly)
{
	struct record rec = ready_record();
	struct conn c;
	uint64_t sum = 0;

	rec.start[PHASE_STARTUP] += 7; /* odd ns must not be lost */
	rec.end_ns += 13;
	c = decoded(&rec);
	for (int p = PHASE_FORK; p < PHASE_COUNT; p++)
		if (c.phases_present & (1u << p))
			sum += c.phases_ns[p];
	assert_int_equal(c.outcome, OUTCOME_READY);
	assert_int_equal(sum, c.total_ns);
	assert_int_equal(c.total_ns, 700 * US + 13);
	assert_int_equal(c.wait_ns, c.total_ns + 30 * US);
	assert_false(c.phases_present & (1u << PHASE_LOGIN));
}

TEST(wait_is_absent_when_the_handshake_was_not_seen)
{
	struct record rec = ready_record();
	struct conn c;

	rec.start[PHASE_QUEUE] = 0;
	c = decoded(&rec);
	assert_false(c.has_wait);
	assert_false(c.phases_present & (1u << PHASE_QUEUE));
	assert_true(c.has_total);
}

TEST(wait_is_total_on_a_unix_socket)
{
	struct record rec = ready_record();
	struct conn c;

	rec.start[PHASE_QUEUE] = 0;
	rec.client = (struct record_addr){ .family = AF_UNIX };
	c = decoded(&rec);
	assert_true(c.has_wait);
	assert_int_equal(c.wait_ns, c.total_ns);
	assert_int_equal(c.client.family, ADDR_UNIX);
}

TEST(a_missing_markers_time_goes_to_the_phase_before)
{
	struct record rec = ready_record();
	struct conn c;

	rec.start[PHASE_JOIN] = 0;
	c = decoded(&rec);
	assert_int_equal(c.phases_ns[PHASE_STARTUP], 200 * US);
	assert_false(c.phases_present & (1u << PHASE_JOIN));
}

TEST(without_the_accept_marker_total_begins_at_the_fork)
{
	struct record rec = ready_record();
	struct conn c;

	rec.start[PHASE_QUEUE] = rec.start[PHASE_FORK] = 0;
	c = decoded(&rec);
	assert_int_equal(c.total_ns, 600 * US);
	assert_false(c.has_wait);
}

TEST(reaching_ready_decides_before_all_else)
{
	struct record rec = ready_record();

	rec.errcode_ns = T0;
	assert_int_equal(decode_outcome(&rec), OUTCOME_READY);
	rec.gone_ns = T0 + 1;
	assert_int_equal(decode_outcome(&rec), OUTCOME_GAVE_UP);
}

TEST(a_client_that_spoke_and_left_gave_up_in_the_phase_it_left_in)
{
	struct record rec = ended(PHASE_AUTH, 0);
	struct conn c;

	rec.gone_ns = rec.start[PHASE_HOSTNAME] + 10 * US;
	c = decoded(&rec);
	assert_int_equal(c.outcome, OUTCOME_GAVE_UP);
	assert_int_equal(c.phase, PHASE_HOSTNAME);
	assert_int_equal(c.client_gone_ns, 210 * US);
}

TEST(a_client_can_give_up_in_the_accept_queue)
{
	struct record rec = ended(PHASE_STARTUP, 0);
	struct conn c;

	rec.gone_ns = T0 - 10 * US;
	c = decoded(&rec);
	assert_int_equal(c.outcome, OUTCOME_GAVE_UP);
	assert_int_equal(c.phase, PHASE_QUEUE);
	assert_int_equal(c.client_gone_ns, -10 * (int64_t)US);
}

TEST(a_fin_counts_as_one_byte_and_a_probe_is_closed)
{
	struct record rec = ended(PHASE_STARTUP, 0);

	rec.gone_ns = T0 + 50 * US;
	rec.bytes_received = 1;
	assert_int_equal(decode_outcome(&rec), OUTCOME_CLOSED);
	rec.bytes_received = 2;
	assert_int_equal(decode_outcome(&rec), OUTCOME_GAVE_UP);
}

TEST(the_earlier_of_close_and_errcode_decides)
{
	struct record rec = ended(PHASE_AUTH, 1);

	rec.errcode_ns = T0 + 10 * US;
	rec.gone_ns = T0 + 20 * US;
	assert_int_equal(decode_outcome(&rec), OUTCOME_FAILED);
	rec.gone_ns = T0 + 5 * US;
	assert_int_equal(decode_outcome(&rec), OUTCOME_GAVE_UP);
}

TEST(where_errcode_is_not_probed_the_exit_status_tells_a_failure_from_a_client_that_left)
{
	struct record rec = ended(PHASE_AUTH, 1);

	rec.gone_ns = rec.end_ns - 10 * US;
	assert_int_equal(decoded(&rec).outcome, OUTCOME_GAVE_UP);
	rec.no_errcode = 1;
	assert_int_equal(decoded(&rec).outcome, OUTCOME_FAILED);
	rec.exit_code = 0;
	assert_int_equal(decoded(&rec).outcome, OUTCOME_GAVE_UP);
}

TEST(exit_status_1_or_an_errcode_failed)
{
	struct record rec = ended(PHASE_STARTUP, 1);
	struct conn c;

	c = decoded(&rec);
	assert_int_equal(c.outcome, OUTCOME_FAILED);
	assert_string_equal(c.sqlstate, "");
	rec = ended(PHASE_STARTUP, 0); /* HTTP: exit 0 with 08P01 */
	rec.errcode_ns = T0 + 10 * US;
	rec.sqlstate = ('0' - '0') + (('8' - '0') << 6) + (('P' - '0') << 12) + (('0' - '0') << 18) +
		       (('1' - '0') << 24);
	c = decoded(&rec);
	assert_int_equal(c.outcome, OUTCOME_FAILED);
	assert_string_equal(c.sqlstate, "08P01");
}

TEST(a_cancel_request_ends_in_startup_while_its_client_waits)
{
	struct record rec = ended(PHASE_STARTUP, 0);

	rec.bytes_received = 16;
	assert_int_equal(decode_outcome(&rec), OUTCOME_CANCEL);
	rec = ended(PHASE_AUTH, 0);
	assert_int_equal(decode_outcome(&rec), OUTCOME_CLOSED);
}

TEST(a_quiet_end_on_a_unix_socket_is_closed)
{
	struct record rec = ended(PHASE_STARTUP, 0);

	rec.client = (struct record_addr){ .family = AF_UNIX };
	rec.socket_seen = 0;
	rec.bytes_received = 0;
	assert_int_equal(decode_outcome(&rec), OUTCOME_CLOSED);
}

TEST(signals_and_a_crash_restart_killed)
{
	struct record rec = ended(PHASE_STARTUP, 2);

	rec.gone_ns = T0; /* whatever the client did */
	assert_int_equal(decode_outcome(&rec), OUTCOME_KILLED);
	rec.exit_code = 9;
	assert_int_equal(decode_outcome(&rec), OUTCOME_KILLED);
}

TEST(a_connection_in_setup_has_no_outcome_but_a_phase_and_an_age)
{
	struct record rec = reached(PHASE_HOSTNAME);
	struct conn c;

	rec.end_ns = 0;
	decode_conn(&rec, rec.start[PHASE_HOSTNAME] + 3000000 * US, 0, &c);
	assert_int_equal(c.outcome, OUTCOME_NONE);
	assert_int_equal(c.phase, PHASE_HOSTNAME);
	assert_int_equal(c.in_phase_ns, 3000000 * US);
	assert_int_equal(c.age_ns, 3000200 * US);
}

/* A reverse lookup with this answer. */
static struct conn looked_up(int code, const char *answer, int done)
{
	struct record rec = ready_record();

	rec.lookup_count = 1;
	rec.dns_ns = done ? 50 * US : 0;
	rec.lookups[0] = (struct record_lookup){
		.enter_ns = rec.start[PHASE_HOSTNAME],
		.dur_ns = done ? 50 * US : 0,
		.code = code,
		.asker = ASKER_LOG_HOSTNAME,
		.direction = DIRECTION_REVERSE,
		.done = (unsigned char)done,
		.addr = rec.client,
	};
	strcpy(rec.lookups[0].name, answer);
	return decoded(&rec);
}

TEST(a_name_is_any_text_but_the_clients_own_address)
{
	struct conn c = looked_up(0, "client-5.example", 1);

	assert_int_equal(c.lookups[0].result, RESULT_NAME);
	assert_string_equal(c.lookups[0].name, "client-5.example");
	assert_int_equal(c.lookups[0].at_ns, 200 * US);
	assert_int_equal(c.dns_ns, 50 * US);
	c = looked_up(0, "10.0.0.5", 1); /* a PTR that lies */
	assert_int_equal(c.lookups[0].result, RESULT_NAME);
	c = looked_up(0, "10.42.1.5", 1);
	assert_int_equal(c.lookups[0].result, RESULT_NO_NAME);
	c = looked_up(EAI_NONAME, "", 1);
	assert_int_equal(c.lookups[0].result, RESULT_NO_NAME);
}

TEST(any_other_code_is_a_failure)
{
	struct conn c = looked_up(EAI_AGAIN, "", 1);

	assert_int_equal(c.lookups[0].result, RESULT_FAILED);
	assert_int_equal(c.lookups[0].code, EAI_AGAIN);
}

TEST(a_lookup_that_never_returned_is_pending_for_as_long_as_it_was_watched)
{
	struct conn c = looked_up(0, "", 0);

	assert_int_equal(c.lookups[0].result, RESULT_PENDING);
	assert_int_equal(c.lookups[0].dur_ns, 500 * US);
	assert_int_equal(c.dns_ns, 500 * US);
}

TEST(dns_is_absent_without_a_lookup)
{
	struct record rec = ready_record();
	struct conn c = decoded(&rec);

	assert_false(c.has_dns);
}

TEST(lookups_beyond_those_told_are_counted_and_summed)
{
	struct record rec = ready_record();
	struct conn c;

	rec.lookup_count = LOOKUPS_TOLD + 3;
	rec.dns_ns = 900 * US;
	for (int i = 0; i < LOOKUPS_TOLD; i++)
		rec.lookups[i].done = 1;
	c = decoded(&rec);
	assert_int_equal(c.lookup_count, LOOKUPS_TOLD + 3);
	assert_int_equal(c.lookups_told, LOOKUPS_TOLD);
	assert_int_equal(c.dns_ns, 900 * US);
}

TEST(postgresqls_own_timings_come_from_conn_timing)
{
	struct record rec = ready_record();
	struct conn c = decoded(&rec);

	assert_false(c.has_pg);
	rec.conn_timing[2] = 1000;
	rec.conn_timing[3] = 1690;
	rec.conn_timing[4] = 5000;
	rec.conn_timing[5] = 9016;
	c = decoded(&rec);
	assert_true(c.has_pg);
	assert_int_equal(c.pg_fork_ns, 690 * US);
	assert_int_equal(c.pg_auth_ns, 4016 * US);
}

TEST(a_tls_negotiation_cut_short_lasts_until_the_end)
{
	struct record rec = ended(PHASE_STARTUP, 1);
	struct conn c;

	rec.within[WITHIN_TLS].enter_ns = rec.end_ns - 40 * US;
	rec.within[WITHIN_TLS].open = 1;
	c = decoded(&rec);
	assert_int_equal(c.within_present, 1u << WITHIN_TLS);
	assert_int_equal(c.within_ns[WITHIN_TLS], 40 * US);
}

TEST(a_marker_seen_late_makes_no_phase_of_its_own_and_none_negative)
{
	for (int late = PHASE_CHILD; late < PHASE_PREPARE; late++) {
		struct record rec = ready_record();
		uint64_t sum = 0;
		struct conn c;

		rec.start[late] = rec.start[PHASE_PREPARE] + 50 * US;
		c = decoded(&rec);
		assert_false(c.phases_present & (1u << late));
		for (int p = PHASE_FORK; p < PHASE_COUNT; p++)
			sum += c.phases_ns[p];
		assert_int_equal(sum, c.total_ns);
		assert_int_equal(c.phases_ns[late - 1], 200 * US);
	}
}

TEST(a_lookup_swept_before_its_beginning_was_written_is_not_told_yet)
{
	struct record rec = reached(PHASE_HOSTNAME);
	struct conn c;

	rec.lookup_count = 1;
	c = decoded(&rec);
	assert_int_equal(c.lookup_count, 0);
	assert_int_equal(c.lookups_told, 0);
	assert_false(c.has_dns);
	assert_int_equal(c.dns_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_of_a_ready_connection_add_up_to_total_exactly),
		cmocka_unit_test(wait_is_absent_when_the_handshake_was_not_seen),
		cmocka_unit_test(wait_is_total_on_a_unix_socket),
		cmocka_unit_test(a_missing_markers_time_goes_to_the_phase_before),
		cmocka_unit_test(without_the_accept_marker_total_begins_at_the_fork),
		cmocka_unit_test(reaching_ready_decides_before_all_else),
		cmocka_unit_test(a_client_that_spoke_and_left_gave_up_in_the_phase_it_left_in),
		cmocka_unit_test(a_client_can_give_up_in_the_accept_queue),
		cmocka_unit_test(a_fin_counts_as_one_byte_and_a_probe_is_closed),
		cmocka_unit_test(the_earlier_of_close_and_errcode_decides),
		cmocka_unit_test(where_errcode_is_not_probed_the_exit_status_tells_a_failure_from_a_client_that_left),
		cmocka_unit_test(exit_status_1_or_an_errcode_failed),
		cmocka_unit_test(a_cancel_request_ends_in_startup_while_its_client_waits),
		cmocka_unit_test(a_quiet_end_on_a_unix_socket_is_closed),
		cmocka_unit_test(signals_and_a_crash_restart_killed),
		cmocka_unit_test(a_connection_in_setup_has_no_outcome_but_a_phase_and_an_age),
		cmocka_unit_test(a_name_is_any_text_but_the_clients_own_address),
		cmocka_unit_test(any_other_code_is_a_failure),
		cmocka_unit_test(a_lookup_that_never_returned_is_pending_for_as_long_as_it_was_watched),
		cmocka_unit_test(a_marker_seen_late_makes_no_phase_of_its_own_and_none_negative),
		cmocka_unit_test(a_lookup_swept_before_its_beginning_was_written_is_not_told_yet),
		cmocka_unit_test(dns_is_absent_without_a_lookup),
		cmocka_unit_test(lookups_beyond_those_told_are_counted_and_summed),
		cmocka_unit_test(postgresqls_own_timings_come_from_conn_timing),
		cmocka_unit_test(a_tls_negotiation_cut_short_lasts_until_the_end),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
