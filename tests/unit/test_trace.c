/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/safe.h"
#include "events.h"
#include "trace_files.h"

static char line[TRACE_TEXT_MAX + 1];

static const char *written(const struct event *ev)
{
	int len = trace_line(ev, line, TRACE_TEXT_MAX);

	assert_true(len > 0);
	assert_int_equal(line[len - 1], '\n');
	line[len] = '\0';
	return line;
}

/* The event through its line and back. */
static struct event round_trip(const struct event *ev)
{
	char text[sizeof(START_LINE) + TRACE_TEXT_MAX] = START_LINE;
	struct reading r;

	r = read_text(strcat(text, written(ev)));
	assert_string_equal(r.err, "");
	assert_int_equal(r.events, 2);
	return r.last;
}

static json_t *field(json_t *o, const char *name)
{
	json_t *value = json_object_get(o, name);

	if (!value)
		fail_msg("no %s in %s", name, line);
	return value;
}

static struct event example(void)
{
	struct event ev = { .type = EVENT_CONN };
	struct conn *c = &ev.conn;

	*c = conn_begin("10.42.1.5", 7207, 5921250);
	c->at_ns = 1790935586730123000;
	c->backend_start = 0x68de4f12;
	conn_set_phase(c, PHASE_STARTUP, 1204000);
	conn_set_names(c, "bench", "postgres");
	conn_add_lookup(c, RESULT_NAME, 0, 5921250);
	c->lookups[0].at_ns = 915000;
	strcpy(c->lookups[0].name, "client-5.example");
	c->outcome = OUTCOME_READY;
	return ev;
}

TEST(a_connection_is_written_as_the_format_says)
{
	struct event ev = example();

	assert_string_equal(
		written(&ev),
		"{\"type\":\"conn\",\"at\":\"2026-10-02T10:06:26.730123Z\",\"pid\":7207,"
		"\"session_id\":\"68de4f12.1c27\",\"client\":\"10.42.1.5\",\"client_port\":40000,"
		"\"user\":\"bench\",\"database\":\"postgres\",\"application\":\"app\","
		"\"outcome\":\"ready\",\"wait_us\":8071.250,\"total_us\":8040.250,"
		"\"dns_us\":5921.250,\"phases_us\":{\"queue\":31.000,\"fork\":513.000,"
		"\"child\":402.000,\"hostname\":5921.250,\"startup\":1204.000},\"lookup_count\":1,"
		"\"lookups\":[{\"by\":\"log_hostname\",\"kind\":\"reverse\","
		"\"address\":\"10.42.1.5\",\"at_us\":915.000,\"dur_us\":5921.250,"
		"\"result\":\"name\",\"code\":0,\"name\":\"client-5.example\"}]}\n");
}

TEST(what_was_not_measured_is_absent)
{
	struct event ev = { .type = EVENT_CONN };
	json_t *o;

	ev.conn.outcome = OUTCOME_CLOSED;
	ev.conn.client.family = ADDR_UNIX;
	o = json_loads(written(&ev), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(o);
	for (const char *const *name =
		     (const char *const[]){ "wait_us", "total_us", "dns_us", "user", "database",
					    "application", "sqlstate", "client_gone_us",
					    "client_port", "session_id", "within_us", "pg_us",
					    "lookups", "host_pid", "server", NULL };
	     *name; name++)
		assert_null(json_object_get(o, *name));
	assert_string_equal(json_string_value(field(o, "client")), "[local]");
	assert_int_equal(json_object_size(field(o, "phases_us")), 0);
	json_decref(o);
}

TEST(a_sweep_is_no_line)
{
	struct event ev = { .type = EVENT_SWEEP };

	assert_int_equal(trace_line(&ev, line, sizeof(line)), 0);
}

TEST(a_line_that_does_not_fit_is_refused)
{
	struct event ev = example();

	assert_int_equal(trace_line(&ev, line, 100), -ENOBUFS);
}

/* -- round trips of anything ---------------------------------------------------------------------
 */

static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static bool coin(void)
{
	return any(2);
}

/* Bytes of any kind, short enough not to be cut when broken ones take three bytes each. */
static void any_text(char *text, size_t len)
{
	size_t size = any((len - 1) / 3 + 1);

	for (size_t i = 0; i < size; i++)
		text[i] = coin() ? 'a' + any(26) : 1 + any(255);
	text[size] = '\0';
}

static uint64_t any_ns(void)
{
	return any(1ULL << any(61)); /* within what a reader takes: trace_fields.h */
}

static void any_address(struct addr *a)
{
	memset(a, 0, sizeof(*a));
	a->family = any(4);
	for (int i = 0; i < (a->family == ADDR_V4 ? 4 : a->family == ADDR_V6 ? 16 : 0); i++)
		a->bytes[i] = any(256);
}

static void any_question(struct question *q)
{
	do
		any_address(&q->nameserver);
	while (q->nameserver.family == ADDR_NONE);
	q->at_ns = any_ns();
	q->answered = coin();
	q->rcode = q->answered ? any(DNS_RCODES) : 0;
	if ((q->has_rtt = coin()))
		q->rtt_ns = any_ns();
}

static void any_lookup(struct lookup *l)
{
	l->by = any(ASKER_COUNT);
	l->kind = any(DIRECTION_COUNT);
	l->result = any(RESULT_COUNT);
	any_address(&l->address);
	l->at_ns = any_ns();
	l->dur_ns = any_ns();
	l->code = l->result == RESULT_PENDING ? 0 : (int)any(200) - 100;
	any_text(l->name, sizeof(l->name));
	l->question_count = any(9);
	for (unsigned int i = 0; i < l->question_count && i < QUESTIONS_TOLD; i++)
		any_question(&l->questions[i]);
}

static void any_spans(unsigned int *present, uint64_t *spans_ns, int count)
{
	for (int i = 0; i < count; i++)
		if (coin()) {
			*present |= 1u << i;
			spans_ns[i] = any_ns();
		}
}

static struct event any_conn(bool ended)
{
	struct event ev = { .type = ended ? EVENT_CONN : EVENT_IN_SETUP };
	struct conn *c = &ev.conn;

	c->at_ns = any(4000000000) * (int64_t)NS_PER_S + any(1000000) * 1000;
	c->pid = any(INT32_MAX);
	c->host_pid = coin() ? c->pid : (int)any(INT32_MAX);
	c->backend_start = coin() ? 0 : any(1ULL << 40);
	any_address(&c->client);
	c->client_port = any(65536);
	if (coin()) {
		c->has_user = true;
		any_text(c->user, sizeof(c->user));
		any_text(c->database, sizeof(c->database));
	}
	c->has_application = coin();
	if (c->has_application)
		any_text(c->application, sizeof(c->application));
	c->outcome = ended ? any(OUTCOME_COUNT) : OUTCOME_NONE;
	c->phase = c->outcome == OUTCOME_READY ? PHASE_UNKNOWN : any(PHASE_COUNT + 1);
	c->in_phase_ns = ended || c->phase == PHASE_UNKNOWN ? 0 : any_ns();
	c->age_ns = ended ? 0 : any_ns();
	any_spans(&c->phases_present, c->phases_ns, PHASE_COUNT);
	any_spans(&c->within_present, c->within_ns, WITHIN_COUNT);
	if ((c->has_wait = coin()))
		c->wait_ns = any_ns();
	if ((c->has_total = coin()))
		c->total_ns = any_ns();
	if ((c->has_dns = coin()))
		c->dns_ns = any_ns();
	strcpy(c->sqlstate, coin() ? "" : "57P03");
	if ((c->has_client_gone = coin()))
		c->client_gone_ns = (int64_t)any_ns() - (int64_t)any_ns();
	if ((c->has_pg = coin())) {
		c->pg_fork_ns = any(1 << 30) * 1000;
		c->pg_auth_ns = any(1 << 30) * 1000;
	}
	c->lookup_count = any(9);
	c->lookups_told = c->lookup_count < LOOKUPS_TOLD ? c->lookup_count : LOOKUPS_TOLD;
	for (unsigned int i = 0; i < c->lookups_told; i++)
		any_lookup(&c->lookups[i]);
	return ev;
}

/* Names as a reader sees them: valid UTF-8. */
static void clean(char *text, size_t len)
{
	char copy[DNS_NAME_LEN];

	strcpy(copy, text);
	safe_utf8(copy, text, len);
}

static void clean_names(struct conn *c)
{
	clean(c->user, sizeof(c->user));
	clean(c->database, sizeof(c->database));
	clean(c->application, sizeof(c->application));
	for (unsigned int i = 0; i < c->lookups_told; i++)
		clean(c->lookups[i].name, sizeof(c->lookups[i].name));
}

TEST(any_connection_survives_the_way_through_a_file_to_the_ns)
{
	for (int i = 0; i < 2000; i++) {
		struct event ev = any_conn(coin()), back = round_trip(&ev);

		clean_names(&ev.conn);
		back.conn.host_pid = ev.conn.host_pid;
		if (ev.conn.phase == PHASE_UNKNOWN)
			back.conn.phase = ev.conn.phase;
		assert_int_equal(back.type, ev.type);
		assert_memory_equal(&back.conn, &ev.conn, sizeof(ev.conn));
	}
}

TEST(a_parser_of_its_own_accepts_every_line)
{
	for (int i = 0; i < 2000; i++) {
		struct event ev = any_conn(coin());
		json_t *o = json_loads(written(&ev), JSON_REJECT_DUPLICATES, NULL);

		assert_non_null(o);
		assert_memory_equal(line, "{\"type\":\"", 9);
		json_decref(o);
	}
}

/* -- the other types -----------------------------------------------------------------------------
 */

TEST(a_start_survives_the_way_through_a_file)
{
	struct event ev = { .type = EVENT_START, .at_ns = EVENTS_T0 }, back;
	struct session *s = &ev.start;

	strcpy(s->tool, "pgdnstrace 0.1.0");
	strcpy(s->host, "db1");
	strcpy(s->kernel, "6.18");
	s->postmaster = 5017;
	strcpy(s->server_version, "15.18");
	s->server_major = 15;
	s->port = 5432;
	strcpy(s->cluster_name, "main \"1\"");
	strcpy(s->data_directory, "/srv/\xc3\xbc");
	strcpy(s->container, "pod-7");
	strcpy(s->socket_directory, "/run/postgresql");
	strcpy(s->time_zone, "Europe/Berlin");
	s->settings = (struct settings){ .has_log_hostname = true,
					 .log_hostname = true,
					 .has_log_line_prefix = true,
					 .log_line_prefix = "%m [%p] ",
					 .has_printers = true,
					 .printers = 1U << PRINTER_JSONLOG | 1U << PRINTER_TITLE };
	s->resolver = (struct resolver){ .has = true,
					 .host_count = 3,
					 .hosts = { "files", "[NOTFOUND=return]", "dns" },
					 .nameserver_count = 2,
					 .nameservers = { "10.0.0.2", "fe80::1%eth0" },
					 .search_count = 1,
					 .search = { "example" },
					 .timeout_s = 5,
					 .attempts = 2,
					 .rotate = true,
					 .nscd = true,
					 .libc = "glibc" };
	s->missing_phases = 1 << PHASE_QUEUE | 1 << PHASE_LOGIN;
	strcpy(s->filter, "longer-than=200ms");
	back = round_trip(&ev);
	assert_memory_equal(&back.start, s, sizeof(*s));
	assert_int_equal(back.at_ns, ev.at_ns);
}

TEST(a_start_without_filter_and_settings_says_so)
{
	struct event ev = { .type = EVENT_START }, back;
	json_t *o = json_loads(written(&ev), 0, NULL);

	assert_true(json_is_null(field(o, "filter")));
	assert_int_equal(json_object_size(field(o, "settings")), 0);
	assert_null(json_object_get(o, "resolver"));
	json_decref(o);
	back = round_trip(&ev);
	assert_memory_equal(&back.start, &ev.start, sizeof(ev.start));
}

TEST(a_tick_keeps_what_was_lost_by_reason)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = EVENTS_T0 }, back;

	ev.tick = (struct tick){ .in_setup = 4,
				 .has_accept_queue = true,
				 .accept_queue_limit = 244,
				 .listen_drops = UINT32_MAX + 1ULL,
				 .lost = { [LOSS_RING] = 3, [LOSS_MAP] = 5, [LOSS_UNMET] = 2 },
				 .before_start = 57 };
	assert_non_null(strstr(written(&ev), "\"lost\":10,\"lost_by\":{\"ring_full\":3,"
					     "\"map_full\":5,\"client_unknown\":2}"));
	back = round_trip(&ev);
	assert_memory_equal(&back.tick, &ev.tick, sizeof(ev.tick));
}

TEST(what_nameservers_did_survives_the_way_through_a_file)
{
	struct event ev = { .type = EVENT_DNS, .at_ns = EVENTS_T0 }, back;

	ev.dns.packets = 12;
	ev.dns.lost = 1;
	ev.dns.count = 2;
	ev.dns.servers[0] = (struct dns_server){ .queries = 5, .answers = 4, .unanswered = 1,
						 .retries = 1, .rcodes = { 3, [15] = 1 },
						 .rtt_count = 3, .rtt_p50_ns = 300000,
						 .rtt_p99_ns = 5000001, .rtt_max_ns = 5000001,
						 .rtt_bins = { [9] = 2, [13] = 1 } };
	addr_parse("10.0.0.2", &ev.dns.servers[0].address);
	addr_parse("fd42::53", &ev.dns.servers[1].address);
	assert_non_null(strstr(written(&ev), "\"bins\":{\"512\":2,\"8192\":1}"));
	assert_null(strstr(strstr(line, "fd42::53"), "rtt_us"));
	back = round_trip(&ev);
	assert_int_equal(back.type, EVENT_DNS);
	assert_memory_equal(&back.dns, &ev.dns, sizeof(ev.dns));
}

TEST(an_accept_queue_that_could_not_be_read_is_absent)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = EVENTS_T0 };

	assert_null(strstr(written(&ev), "accept_queue"));
	assert_false(round_trip(&ev).tick.has_accept_queue);
}

TEST(changed_settings_name_only_what_changed)
{
	struct event ev = { .type = EVENT_SETTINGS, .at_ns = EVENTS_T0 }, back;

	ev.settings.has_log_hostname = true;
	assert_string_equal(written(&ev),
			    "{\"type\":\"settings\",\"at\":\"2026-10-02T03:14:00.000000Z\","
			    "\"changed\":{\"log_hostname\":false}}\n");
	back = round_trip(&ev);
	assert_memory_equal(&back.settings, &ev.settings, sizeof(ev.settings));
}

TEST(triggers_and_ends_survive_the_way_through_a_file)
{
	struct event ev = { .type = EVENT_TRIGGER, .at_ns = EVENTS_T0 }, back;

	ev.trigger = (struct trigger){ "dns>500ms", true, 0.612345, 17 };
	back = round_trip(&ev);
	assert_memory_equal(&back.trigger, &ev.trigger, sizeof(ev.trigger));

	memset(&ev.end, 0, sizeof(ev.end));
	ev.type = EVENT_END;
	ev.end = (struct end){ .reason = "interrupted",
			       .connections = 10,
			       .outcomes = { 1, 2, 3, 4, 0, 0 },
			       .in_setup = 1,
			       .before_start = 9,
			       .lost = INT64_MAX,
			       .filtered = 2,
			       .verdict_count = 2,
			       .verdict = { "REVERSE DNS: \"slow\"", "B" } };
	back = round_trip(&ev);
	assert_memory_equal(&back.end, &ev.end, sizeof(ev.end));
}

TEST(a_merged_line_names_its_server)
{
	struct event ev = example();

	ev.server = "db1:5432";
	assert_non_null(strstr(written(&ev), "\"server\":\"db1:5432\""));
}

TEST(the_instant_a_connection_was_told_is_its_end)
{
	struct event ev = example();

	assert_int_equal(round_trip(&ev).at_ns, ev.conn.at_ns + ev.conn.total_ns);
	ev.conn.has_total = false;
	assert_int_equal(round_trip(&ev).at_ns, ev.conn.at_ns + ev.conn.total_ns);
}

TEST(a_stream_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");
	struct event ev = example();
	int err = 0;

	for (int i = 0; i < 100 && !err; i++)
		err = trace_write(full, &ev);
	assert_int_equal(err, -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_written_as_the_format_says),
		cmocka_unit_test(what_was_not_measured_is_absent),
		cmocka_unit_test(a_sweep_is_no_line),
		cmocka_unit_test(a_line_that_does_not_fit_is_refused),
		cmocka_unit_test(any_connection_survives_the_way_through_a_file_to_the_ns),
		cmocka_unit_test(a_parser_of_its_own_accepts_every_line),
		cmocka_unit_test(a_start_survives_the_way_through_a_file),
		cmocka_unit_test(a_start_without_filter_and_settings_says_so),
		cmocka_unit_test(a_tick_keeps_what_was_lost_by_reason),
		cmocka_unit_test(what_nameservers_did_survives_the_way_through_a_file),
		cmocka_unit_test(an_accept_queue_that_could_not_be_read_is_absent),
		cmocka_unit_test(changed_settings_name_only_what_changed),
		cmocka_unit_test(triggers_and_ends_survive_the_way_through_a_file),
		cmocka_unit_test(a_merged_line_names_its_server),
		cmocka_unit_test(the_instant_a_connection_was_told_is_its_end),
		cmocka_unit_test(a_stream_that_cannot_be_written_is_an_error),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
