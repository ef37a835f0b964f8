/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "export/export.h"
#include "export/span.h"

#define US   ((int64_t)NS_PER_US)
#define AT   1790935586730123000 /* 2026-10-02T10:06:26.730123Z */
#define EVIL "=\"<script>\xff,\r\n'\x01"

/* -- a stream to export -- */

static struct event start_event(void)
{
	struct event ev = { .type = EVENT_START, .at_ns = AT };

	strcpy(ev.start.host, "db1");
	strcpy(ev.start.server_version, "15.18");
	ev.start.postmaster = 5017;
	ev.start.port = 5432;
	return ev;
}

static void set_phase(struct conn *c, enum phase p, int64_t us)
{
	c->phases_present |= 1u << p;
	c->phases_ns[p] = us * US;
}

/* A ready connection: 31 us in the queue, then 1000 us of which 600 are a reverse lookup. */
static struct event conn_event(int pid, int64_t at_ns)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = at_ns + 1000 * US };
	struct conn *c = &ev.conn;

	*c = (struct conn){ .at_ns = at_ns, .pid = pid, .host_pid = pid, .client_port = 60038,
			    .outcome = OUTCOME_READY, .has_user = true, .has_application = true,
			    .has_wait = true, .has_total = true, .has_dns = true,
			    .wait_ns = 1031 * US, .total_ns = 1000 * US, .dns_ns = 600 * US,
			    .lookup_count = 1, .lookups_told = 1 };
	addr_parse("10.42.1.5", &c->client);
	strcpy(c->user, "bench");
	strcpy(c->database, "postgres");
	strcpy(c->application, "pgbench");
	set_phase(c, PHASE_QUEUE, 31);
	set_phase(c, PHASE_FORK, 50);
	set_phase(c, PHASE_CHILD, 50);
	set_phase(c, PHASE_HOSTNAME, 600);
	set_phase(c, PHASE_STARTUP, 100);
	set_phase(c, PHASE_JOIN, 50);
	set_phase(c, PHASE_AUTH, 100);
	set_phase(c, PHASE_PREPARE, 50);
	c->lookups[0] = (struct lookup){ .address = c->client, .at_ns = 100 * US, .dur_ns = 600 * US };
	strcpy(c->lookups[0].name, "client-5.example");
	return ev;
}

static void make_hostile(struct conn *c)
{
	strcpy(c->user, EVIL);
	strcpy(c->database, EVIL);
	strcpy(c->application, EVIL);
	strcpy(c->lookups[0].name, EVIL);
}

/* What a format makes of a stream. The caller frees it. */
static char *export_text(const char *format, const struct event *events, size_t count)
{
	struct exporter x;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(exporter_open(&x, export_find(format), out), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(exporter_event(&x, &events[i]), 0);
	assert_int_equal(exporter_close(&x), 0);
	fclose(out);
	assert_int_equal(strlen(text), size); /* no NUL byte */
	return text;
}

/* -- a strict CSV reader: RFC 4180 and nothing beyond -- */

#define CSV_COLUMNS 80
#define CSV_ROWS    16

static char *table[CSV_ROWS][CSV_COLUMNS];

static char *csv_field(char **at)
{
	char *p = *at, *start = p, *to;

	if (*p != '"') {
		p += strcspn(p, ",\r\n\"");
		assert_int_not_equal(*p, '"');
		*at = p;
		return start;
	}
	for (to = start = ++p; *p != '"' || p[1] == '"'; *to++ = *p++) {
		assert_int_not_equal(*p, '\0');
		p += *p == '"';
	}
	*to = '\0';
	*at = p + 1;
	return start;
}

/* Fills table[][]; returns the number of rows. Every row must have as many fields as the first. */
static int csv_read(char *text)
{
	int rows = 0, columns = 0, column = 0;
	char end;

	for (char *p = text; *p; column++) {
		assert_true(rows < CSV_ROWS && column < CSV_COLUMNS);
		table[rows][column] = csv_field(&p);
		end = *p;
		*p++ = '\0';
		if (end == ',')
			continue;
		assert_int_equal(end, '\r');
		assert_int_equal(*p++, '\n');
		if (!rows++)
			columns = column;
		assert_int_equal(column, columns);
		column = -1;
	}
	return rows;
}

static const char *csv_value(int row, const char *column)
{
	for (int i = 0; i < CSV_COLUMNS && table[0][i]; i++)
		if (!strcmp(table[0][i], column))
			return table[row][i];
	fail_msg("no column %s", column);
	return NULL;
}

TEST(csv_has_a_header_and_one_row_per_connection)
{
	struct event events[] = { start_event(), conn_event(7, AT), conn_event(8, AT + 5) };
	char *text = export_text("csv", events, 3);

	assert_int_equal(csv_read(text), 3);
	assert_string_equal(csv_value(1, "at"), "2026-10-02T10:06:26.730123Z");
	assert_string_equal(csv_value(1, "host"), "db1");
	assert_string_equal(csv_value(1, "client"), "10.42.1.5");
	assert_string_equal(csv_value(1, "wait_us"), "1031.000");
	assert_string_equal(csv_value(1, "hostname_us"), "600.000");
	assert_string_equal(csv_value(1, "lookup_name"), "client-5.example");
	assert_string_equal(csv_value(2, "pid"), "8");
	free(text);
}

TEST(csv_leaves_empty_what_was_not_measured)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text;

	events[1].conn.has_wait = events[1].conn.has_user = events[1].conn.has_dns = false;
	events[1].conn.phases_present &= ~(1u << PHASE_QUEUE);
	events[1].conn.lookups_told = 0;
	text = export_text("csv", events, 2);
	csv_read(text);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(csv_value(1, (const char *[]){ "wait_us", "queue_us", "login_us",
				    "tls_us", "user", "dns_us", "lookup_name" }[i]), "");
	free(text);
}

TEST(csv_keeps_hostile_names_in_their_field_and_defuses_formulas)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text;

	make_hostile(&events[1].conn);
	text = export_text("csv", events, 2);
	assert_int_equal(csv_read(text), 2);
	assert_int_equal(csv_value(1, "user")[0], '\'');
	assert_non_null(strstr(csv_value(1, "user"), "\"<script>"));
	assert_string_equal(csv_value(1, "outcome"), "ready");
	free(text);
}

/* -- perfetto -- */

static json_t *parse(const char *text, size_t size)
{
	json_error_t error;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%s at %d: %.80s", error.text, error.position,
			 text + (error.position > 40 ? error.position - 40 : 0));
	return root;
}

static const char *str(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static double num(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static int count_events(json_t *events, const char *ph, const char *name)
{
	int count = 0;
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
		count += !strcmp(str(e, "ph"), ph) && (!name || !strcmp(str(e, "name"), name));
	return count;
}

/* Every end has its begin on the same track, time never goes back there, all are closed. */
static void check_nesting(json_t *events, int tracks)
{
	int depth[16] = { 0 }, deepest = 0;
	double last[16] = { 0 };
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e) {
		int track = num(e, "tid"), step = *str(e, "ph") == 'B' ? 1 : -1;

		if (!strchr("BE", *str(e, "ph")))
			continue;
		assert_in_range(track, 1, tracks);
		assert_true(num(e, "ts") >= last[track]);
		last[track] = num(e, "ts");
		depth[track] += step;
		assert_true(depth[track] >= 0);
		deepest = depth[track] > deepest ? depth[track] : deepest;
	}
	for (int track = 0; track < 16; track++)
		assert_int_equal(depth[track], 0);
	assert_int_equal(deepest, 3);
}

TEST(perfetto_nests_lookups_in_phases_in_connections)
{
	struct event events[] = { start_event(), conn_event(7, AT), conn_event(7, AT + 5) };
	char *text = export_text("perfetto", events, 3);
	json_t *root = parse(text, strlen(text)), *list = json_object_get(root, "traceEvents");

	check_nesting(list, 2); /* the same pid twice: a track each */
	assert_int_equal(count_events(list, "B", "ready"), 2);
	assert_int_equal(count_events(list, "B", "hostname"), 2);
	assert_int_equal(count_events(list, "B", "reverse lookup"), 2);
	json_decref(root);
	free(text);
}

TEST(perfetto_nests_also_a_lookup_that_outlasts_its_phase_by_what_clocks_differ)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	struct lookup *l = events[1].conn.lookups;
	char *text;
	json_t *root;

	l[0].dur_ns += 3000;
	l[1] = l[0];
	l[1].at_ns = l[0].at_ns + 5;
	events[1].conn.lookups_told = events[1].conn.lookup_count = 2;
	text = export_text("perfetto", events, 2);
	root = parse(text, strlen(text));
	check_nesting(json_object_get(root, "traceEvents"), 1);
	json_decref(root);
	free(text);
}

TEST(perfetto_counts_connections_per_second_and_shows_the_gauges)
{
	struct event tick = { .type = EVENT_TICK, .at_ns = AT, .tick = { .in_setup = 4 } };
	struct event events[] = { start_event(), conn_event(7, AT), conn_event(8, AT + 5), tick,
				  conn_event(9, AT + 7 * (int64_t)NS_PER_S) };
	char *text = export_text("perfetto", events, 5);
	json_t *root = parse(text, strlen(text)), *list = json_object_get(root, "traceEvents"), *e;
	int ready = 0;
	size_t i;

	json_array_foreach(list, i, e)
		if (str(e, "name") && !strcmp(str(e, "name"), "connections/s"))
			ready += num(json_object_get(e, "args"), "ready");
	assert_int_equal(ready, 3);
	assert_int_equal(count_events(list, "C", "in setup"), 1);
	assert_int_equal(count_events(list, "C", "accept queue"), 0); /* was not read */
	json_decref(root);
	free(text);
}

TEST(perfetto_keeps_hostile_names_text)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text;

	make_hostile(&events[1].conn);
	text = export_text("perfetto", events, 2);
	json_decref(parse(text, strlen(text)));
	free(text);
}

/* -- otlp -- */

/* Spans of one line. *root is to be released by the caller. */
static json_t *line_spans(const char *text, json_t **root)
{
	json_t *spans;

	*root = parse(text, strcspn(text, "\n"));
	if (json_unpack(*root, "{s:[{s:[{s:o}]}]}", "resourceSpans", "scopeSpans", "spans", &spans))
		fail_msg("no spans");
	return spans;
}

static const char *attribute(json_t *span, const char *key)
{
	json_t *list = json_object_get(span, "attributes"), *a;
	size_t i;

	json_array_foreach(list, i, a) {
		json_t *value = json_object_get(a, "value");

		if (!strcmp(str(a, "key"), key))
			return str(value, "stringValue") ? str(value, "stringValue") :
							   str(value, "intValue");
	}
	return NULL;
}

static json_t *span_named(json_t *spans, const char *name)
{
	json_t *span;
	size_t i;

	json_array_foreach(spans, i, span)
		if (!strcmp(str(span, "name"), name))
			return span;
	fail_msg("no span %s", name);
	return NULL;
}

static long long span_ns(json_t *span)
{
	return atoll(str(span, "endTimeUnixNano")) - atoll(str(span, "startTimeUnixNano"));
}

TEST(otlp_makes_a_server_span_with_children_that_add_up_to_it)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text = export_text("otlp", events, 2);
	json_t *root, *spans = line_spans(text, &root), *span, *parent, *lookup;
	long long sum = 0;
	size_t i;

	parent = span_named(spans, "postgresql connect");
	json_array_foreach(spans, i, span) {
		assert_string_equal(str(span, "traceId"), str(parent, "traceId"));
		if (str(span, "parentSpanId") && !strcmp(str(span, "parentSpanId"), str(parent, "spanId")))
			sum += span_ns(span);
	}
	assert_int_equal(num(parent, "kind"), 2);
	assert_int_equal(span_ns(parent), 1031000);
	assert_int_equal(sum, 1031000);
	lookup = span_named(spans, "reverse lookup");
	assert_string_equal(str(lookup, "parentSpanId"), str(span_named(spans, "hostname"), "spanId"));
	assert_string_equal(attribute(lookup, "dns.question.name"), "5.1.42.10.in-addr.arpa");
	assert_string_equal(attribute(parent, "client.port"), "60038");
	assert_null(attribute(parent, "error.type"));
	json_decref(root);
	free(text);
}

TEST(otlp_tells_the_questions_of_a_lookup_as_events)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	struct lookup *l = events[1].conn.lookups;
	char *text;
	json_t *root, *list;

	l->question_count = 2;
	addr_parse("10.0.0.2", &l->questions[0].nameserver);
	addr_parse("10.0.0.3", &l->questions[1].nameserver);
	l->questions[1].answered = true;
	l->questions[1].rcode = 3;
	l->questions[1].at_ns = 500 * US;
	text = export_text("otlp", events, 2);
	list = json_object_get(span_named(line_spans(text, &root), "reverse lookup"), "events");
	assert_int_equal(json_array_size(list), 2);
	assert_null(attribute(json_array_get(list, 0), "pgdnstrace.dns.rcode"));
	assert_string_equal(attribute(json_array_get(list, 1), "pgdnstrace.dns.rcode"), "NXDOMAIN");
	json_decref(root);
	free(text);
}

TEST(otlp_tells_errors_by_sqlstate_or_outcome)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text;
	json_t *root, *span;

	events[1].conn.outcome = OUTCOME_FAILED;
	events[1].conn.phase = PHASE_AUTH;
	strcpy(events[1].conn.sqlstate, "28P01");
	text = export_text("otlp", events, 2);
	span = span_named(line_spans(text, &root), "postgresql connect");
	assert_string_equal(attribute(span, "error.type"), "28P01");
	assert_string_equal(attribute(span, "db.response.status_code"), "28P01");
	assert_int_equal(num(json_object_get(span, "status"), "code"), 2);
	json_decref(root);
	free(text);
}

TEST(otlp_writes_the_question_of_an_ipv6_reverse_lookup)
{
	struct event events[] = { start_event(), conn_event(7, AT) };
	char *text;
	json_t *root;

	addr_parse("2001:db8::1", &events[1].conn.lookups[0].address);
	text = export_text("otlp", events, 2);
	assert_string_equal(attribute(span_named(line_spans(text, &root), "reverse lookup"),
				      "dns.question.name"),
			    "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
	json_decref(root);
	free(text);
}

TEST(otlp_ids_are_those_of_the_connection)
{
	struct event events[] = { start_event(), conn_event(7, AT), conn_event(8, AT) };
	char *once = export_text("otlp", events, 3), *again = export_text("otlp", events, 3);
	json_t *root, *spans = line_spans(once, &root);

	assert_string_equal(once, again);
	assert_string_not_equal(str(json_array_get(spans, 0), "traceId"),
				str(json_array_get(spans, json_array_size(spans) - 1), "traceId"));
	json_decref(root);
	free(once);
	free(again);
}

TEST(otlp_lines_stay_below_1_mib_with_the_most_hostile_names)
{
	static struct event events[65];
	char *text;

	events[0] = start_event();
	for (int i = 1; i < 65; i++) {
		struct conn *c = &events[i].conn;

		events[i] = conn_event(i, AT);
		memset(c->user, '\\', PG_NAME_LEN - 1);
		memset(c->database, '\\', PG_NAME_LEN - 1);
		memset(c->application, '\\', PG_NAME_LEN - 1);
		c->lookups_told = LOOKUPS_TOLD;
		for (int l = 0; l < LOOKUPS_TOLD; l++) {
			c->lookups[l] = c->lookups[0];
			c->lookups[l].kind = DIRECTION_FORWARD;
			memset(c->lookups[l].name, '\x01', DNS_NAME_LEN - 1);
			c->lookups[l].question_count = QUESTIONS_TOLD;
		}
	}
	text = export_text("otlp", events, 65);
	for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
		assert_in_range(strcspn(line, "\n"), 1, 1 << 20);
		json_decref(parse(line, strcspn(line, "\n")));
	}
	free(text);
}

/* -- what all share -- */

static void put_in_setup(struct event *ev)
{
	ev->type = EVENT_IN_SETUP;
	ev->conn.outcome = OUTCOME_NONE;
	ev->conn.phase = PHASE_HOSTNAME;
}

TEST(of_those_in_setup_the_ones_at_the_end_are_exported_not_those_of_a_trigger)
{
	struct event stuck = conn_event(9, AT), before_start = stuck, end = { .type = EVENT_END };
	struct event trigger = { .type = EVENT_TRIGGER, .at_ns = AT };
	char *text;

	put_in_setup(&stuck);
	put_in_setup(&before_start);
	before_start.conn.phase = PHASE_UNKNOWN;
	/* the list of a trigger comes with the next sweep: others may end in between */
	text = export_text("csv", (struct event[]){ start_event(), trigger, conn_event(6, AT), stuck,
						    conn_event(7, AT), before_start, stuck, end }, 8);
	assert_int_equal(csv_read(text), 4);
	assert_string_equal(csv_value(1, "pid"), "6");
	assert_string_equal(csv_value(2, "pid"), "7");
	assert_string_equal(csv_value(3, "pid"), "9");
	assert_string_equal(csv_value(3, "outcome"), "in_setup");
	free(text);
}

TEST(those_in_setup_when_a_trace_was_cut_off_are_exported)
{
	struct event events[] = { start_event(), conn_event(9, AT) };
	char *text;

	put_in_setup(&events[1]);
	text = export_text("csv", events, 2);
	assert_int_equal(csv_read(text), 2);
	free(text);
}

TEST(a_phase_under_way_ends_now)
{
	struct event ev = conn_event(7, AT);
	struct span s;

	ev.conn.outcome = OUTCOME_NONE;
	ev.conn.phase = PHASE_HOSTNAME;
	ev.conn.phases_present = 1u << PHASE_FORK | 1u << PHASE_CHILD;
	ev.conn.has_total = false;
	ev.conn.in_phase_ns = 250 * US;
	assert_true(span_phase(&ev.conn, PHASE_HOSTNAME, &s));
	assert_int_equal(s.from_ns - AT, 100 * US);
	assert_int_equal(s.to_ns - AT, 350 * US);
	assert_int_equal(span_conn(&ev.conn).to_ns, s.to_ns);
}

TEST(a_full_disk_is_told)
{
	const struct event ev = conn_event(7, AT);

	for (const struct export_format *f = export_formats; f->name; f++) {
		FILE *out = fopen("/dev/full", "w");
		struct exporter x;
		int rc = exporter_open(&x, f, out);

		for (int i = 0; i < 100 && !rc; i++)
			rc = exporter_event(&x, &ev);
		assert_int_equal(rc, -ENOSPC);
		exporter_close(&x);
		fclose(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_has_a_header_and_one_row_per_connection),
		cmocka_unit_test(csv_leaves_empty_what_was_not_measured),
		cmocka_unit_test(csv_keeps_hostile_names_in_their_field_and_defuses_formulas),
		cmocka_unit_test(perfetto_nests_lookups_in_phases_in_connections),
		cmocka_unit_test(
			perfetto_nests_also_a_lookup_that_outlasts_its_phase_by_what_clocks_differ),
		cmocka_unit_test(perfetto_counts_connections_per_second_and_shows_the_gauges),
		cmocka_unit_test(perfetto_keeps_hostile_names_text),
		cmocka_unit_test(otlp_makes_a_server_span_with_children_that_add_up_to_it),
		cmocka_unit_test(otlp_tells_the_questions_of_a_lookup_as_events),
		cmocka_unit_test(otlp_tells_errors_by_sqlstate_or_outcome),
		cmocka_unit_test(otlp_writes_the_question_of_an_ipv6_reverse_lookup),
		cmocka_unit_test(otlp_ids_are_those_of_the_connection),
		cmocka_unit_test(otlp_lines_stay_below_1_mib_with_the_most_hostile_names),
		cmocka_unit_test(
			of_those_in_setup_the_ones_at_the_end_are_exported_not_those_of_a_trigger),
		cmocka_unit_test(those_in_setup_when_a_trace_was_cut_off_are_exported),
		cmocka_unit_test(a_phase_under_way_ends_now),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
