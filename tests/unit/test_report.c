/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "export/report.h"

#define AT   1790935586730123000 /* 2026-10-02T10:06:26.730123Z */
#define SEC  ((int64_t)NS_PER_S)
#define EVIL "</script><script>alert(1)</script>\xff"

static struct event start_event(void)
{
	struct event ev = { .type = EVENT_START, .at_ns = AT };

	strcpy(ev.start.host, "db1");
	strcpy(ev.start.server_version, "15.18");
	ev.start.resolver.has = true;
	ev.start.resolver.nameserver_count = 1;
	strcpy(ev.start.resolver.nameservers[0], "10.0.0.2");
	return ev;
}

static struct event conn_event(int64_t at_ns, uint64_t wait_ns)
{
	struct event ev = { .type = EVENT_CONN, .at_ns = at_ns + wait_ns };
	struct conn *c = &ev.conn;

	*c = (struct conn){ .at_ns = at_ns, .pid = 7, .host_pid = 7, .outcome = OUTCOME_READY,
			    .has_user = true, .has_application = true, .has_wait = true,
			    .has_total = true, .has_dns = true, .wait_ns = wait_ns,
			    .total_ns = wait_ns, .dns_ns = wait_ns, .lookup_count = 1,
			    .lookups_told = 1, .phases_present = 1u << PHASE_HOSTNAME };
	c->phases_ns[PHASE_HOSTNAME] = wait_ns;
	addr_parse("10.42.1.5", &c->client);
	strcpy(c->user, "bench");
	strcpy(c->database, "shop");
	strcpy(c->application, "web");
	c->lookups[0] = (struct lookup){ .address = c->client, .dur_ns = wait_ns };
	strcpy(c->lookups[0].name, "client-5.example");
	return ev;
}

static struct report_data *gather(const struct hide *hide, const struct event *events, size_t count)
{
	struct report_data *d = report_data_new(hide);

	assert_non_null(d);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(report_data_event(d, &events[i]), 0);
	return d;
}

/* The page's data of a stream; text is to be freed. */
static json_t *json_of(const struct hide *hide, const struct event *events, size_t count, char **text)
{
	const struct report_options o = { .file = "x.jsonl", .complete = true };
	struct report_data *d = gather(hide, events, count);
	json_error_t error;
	json_t *root;

	*text = report_page_json(d, &o);
	report_data_free(d);
	assert_non_null(*text);
	root = json_loads(*text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s at %d", error.text, error.position);
	return root;
}

static long long figure(json_t *root, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(root, object), key));
}

/* -- what is gathered -- */

TEST(a_trace_longer_than_the_timeline_keeps_every_connection_in_wider_slots)
{
	struct timeline *t = malloc(sizeof(*t));
	uint64_t sum = 0;

	timeline_reset(t);
	for (int i = 0; i < 5000; i++) {
		struct event ev = conn_event(AT + i * 3 * SEC, 1000);

		timeline_conn(t, &ev.conn);
	}
	for (unsigned int i = 0; i < t->used; i++)
		sum += t->slots[i].outcomes[OUTCOME_READY];
	assert_int_equal(sum, 5000);
	assert_true(t->used <= TIMELINE_SLOTS && t->used > TIMELINE_SLOTS / 2 - 2);
	assert_true(t->base_ns <= AT && t->base_ns + t->width_ns > AT);
	free(t);
}

TEST(a_connection_accepted_before_the_first_told_has_a_slot_of_its_own)
{
	struct timeline *t = malloc(sizeof(*t));
	struct event late = conn_event(AT, 1000), early = conn_event(AT - 20 * SEC, 1000),
		     far = conn_event(AT - 9000 * SEC, 1000);

	timeline_reset(t);
	timeline_conn(t, &late.conn);
	timeline_conn(t, &early.conn);
	assert_int_equal(t->used, 21);
	assert_int_equal(t->slots[0].outcomes[OUTCOME_READY], 1);
	assert_int_equal(t->slots[20].outcomes[OUTCOME_READY], 1);
	timeline_conn(t, &far.conn);
	assert_true(t->used <= TIMELINE_SLOTS);
	assert_int_equal(t->slots[0].outcomes[OUTCOME_READY], 1);
	free(t);
}

TEST(of_more_dots_than_are_drawn_a_fair_sample_is_kept_and_the_slowest_whole)
{
	struct report_data *d = report_data_new(&(struct hide){ 0 });
	unsigned int early = 0;

	for (int i = 0; i < 40000; i++) {
		struct event ev = conn_event(AT + i * (int64_t)NS_PER_MS, 1000 + i);

		assert_int_equal(report_data_event(d, &ev), 0);
	}
	assert_int_equal(d->dots_seen, 40000);
	assert_int_equal(d->dot_count, REPORT_DOTS);
	for (unsigned int i = 0; i < d->dot_count; i++)
		early += d->dots[i].wait_ns < 21000;
	assert_in_range(early, REPORT_DOTS * 45 / 100, REPORT_DOTS * 55 / 100);
	report_data_sort(d);
	assert_int_equal(d->slowest_count, REPORT_SLOWEST);
	for (int i = 0; i < REPORT_SLOWEST; i++)
		assert_int_equal(d->slowest[i].wait_ns, 40999 - i);
	report_data_free(d);
}

TEST(figures_are_those_of_the_trace)
{
	struct event events[] = { start_event(), conn_event(AT, 5 * NS_PER_S),
				  conn_event(AT, 999 * NS_PER_MS), conn_event(AT, NS_PER_S) };
	char *text;
	json_t *root, *waited;

	events[3].conn.outcome = OUTCOME_GAVE_UP;
	root = json_of(&(struct hide){ 0 }, events, 4, &text);
	assert_int_equal(figure(root, "counts", "connections"), 3);
	assert_int_equal(figure(root, "counts", "gave_up"), 1);
	waited = json_array_get(json_object_get(root, "waited"), 1);
	assert_int_equal(json_integer_value(json_object_get(waited, "count")), 2);
	assert_string_equal(json_string_value(json_object_get(root, "again")),
			    "dig -x 10.42.1.5 @10.0.0.2");
	json_decref(root);
	free(text);
}

TEST(the_command_to_see_it_again_never_holds_a_name_that_a_shell_would_read)
{
	struct event events[] = { start_event(), conn_event(AT, NS_PER_S) };
	char *text;
	json_t *root;

	events[1].conn.lookups[0].kind = DIRECTION_FORWARD;
	strcpy(events[1].conn.lookups[0].name, "x;rm -rf ~");
	root = json_of(&(struct hide){ 0 }, events, 2, &text);
	assert_null(json_object_get(root, "again"));
	json_decref(root);
	free(text);
}

/* -- the page -- */

TEST(a_name_cannot_leave_the_data_of_the_page)
{
	struct event events[] = { start_event(), conn_event(AT, NS_PER_S) };
	const struct report_options o = { .file = EVIL, .complete = true };
	struct report_data *d;
	char *page = NULL;
	size_t len;
	FILE *out = open_memstream(&page, &len);
	int scripts = 0;

	strcpy(events[1].conn.user, EVIL);
	strcpy(events[1].conn.lookups[0].name, EVIL);
	d = gather(&(struct hide){ 0 }, events, 2);
	assert_int_equal(report_write(out, d, &o), 0);
	fclose(out);
	for (char *at = page; (at = strstr(at, "</script>")); at++)
		scripts++;
	assert_int_equal(scripts, 3); /* data, Chart.js, ours */
	assert_null(strstr(page, "<script>"));
	assert_null(strstr(page, "{{"));
	assert_non_null(strstr(page, "default-src 'none'; script-src 'nonce-"));
	report_data_free(d);
	free(page);
}

/* -- pseudonyms -- */

static struct hide hide_of(const char *keys)
{
	struct hide h = { .key = { 1, 2 } };
	char err[128];

	assert_int_equal(hide_parse(&h, keys, err, sizeof(err)), 0);
	return h;
}

TEST(hidden_values_are_nowhere_in_the_data)
{
	static const char *const secrets[] = { "bench", "shop", "web", "10.42.1.5", "10.42.1.0",
					       "client-5" };
	struct event events[] = { start_event(), conn_event(AT, 9 * NS_PER_S), conn_event(AT, 1000),
				  conn_event(AT, NS_PER_S) };
	const struct hide h = hide_of("user,database,application,client");
	char *text;
	json_t *root;

	strcpy(events[0].start.filter, "user=bench");
	events[3].type = EVENT_IN_SETUP;
	events[3].conn.outcome = OUTCOME_NONE;
	events[3].conn.phase = PHASE_HOSTNAME;
	root = json_of(&h, events, 4, &text);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strstr(text, secrets[i]))
			fail_msg("%s in ...%.200s", secrets[i], strstr(text, secrets[i]) - 40);
	assert_non_null(strstr(text, "10.0.0.2")); /* the nameserver is no client */
	json_decref(root);
	free(text);
}

TEST(a_pseudonym_is_the_same_for_the_same_value_and_key_alone)
{
	struct hide h = hide_of("user"), other = h;
	char a[HIDE_TEXT_LEN], b[HIDE_TEXT_LEN];

	other.key[0]++;
	assert_string_equal(hide_pseudonym(&h, "user", "bench", a), hide_pseudonym(&h, "user", "bench", b));
	assert_string_not_equal(a, hide_pseudonym(&h, "user", "bench2", b));
	assert_string_not_equal(a, hide_pseudonym(&other, "user", "bench", b));
	assert_string_equal(hide_pseudonym(&h, "user", "", b), "");
}

TEST(the_key_is_that_of_the_file)
{
	char path[] = "/tmp/test_report.XXXXXX";
	struct hide a = { 0 }, b = { 0 }, c = { 0 };
	int fd = mkstemp(path);

	assert_int_equal(write(fd, "trace", 5), 5);
	assert_int_equal(hide_key(&a, path), 0);
	assert_int_equal(hide_key(&b, path), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(hide_key(&c, path), 0);
	assert_memory_equal(a.key, b.key, sizeof(a.key));
	assert_memory_not_equal(a.key, c.key, sizeof(a.key));
	close(fd);
	unlink(path);
}

TEST(addresses_in_a_sentence_are_hidden_but_for_nameservers_times_and_figures)
{
	struct hide h = hide_of("client");
	struct event start = start_event();
	char buf[512], pseudonym[ADDR_TEXT_LEN], expected[512];

	hide_sentence(&h, &start.start.resolver,
		      "5 from 10.42.1.5: asked 10.0.0.2 at 03:14:25, fd42::5 took 10.0s.", buf,
		      sizeof(buf));
	hide_client(&h, "10.42.1.5", pseudonym);
	snprintf(expected, sizeof(expected), "5 from %s: asked 10.0.0.2 at 03:14:25, ", pseudonym);
	assert_int_equal(strncmp(buf, expected, strlen(expected)), 0);
	assert_null(strstr(buf, "fd42"));
	assert_non_null(strstr(buf, " took 10.0s."));
}

TEST(what_cannot_be_hidden_is_refused)
{
	struct hide h = { 0 };
	char err[128];

	assert_int_equal(hide_parse(&h, "user,outcome", err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "'outcome'"));
	assert_int_equal(hide_parse(&h, "everything", err, sizeof(err)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_trace_longer_than_the_timeline_keeps_every_connection_in_wider_slots),
		cmocka_unit_test(a_connection_accepted_before_the_first_told_has_a_slot_of_its_own),
		cmocka_unit_test(
			of_more_dots_than_are_drawn_a_fair_sample_is_kept_and_the_slowest_whole),
		cmocka_unit_test(figures_are_those_of_the_trace),
		cmocka_unit_test(
			the_command_to_see_it_again_never_holds_a_name_that_a_shell_would_read),
		cmocka_unit_test(a_name_cannot_leave_the_data_of_the_page),
		cmocka_unit_test(hidden_values_are_nowhere_in_the_data),
		cmocka_unit_test(a_pseudonym_is_the_same_for_the_same_value_and_key_alone),
		cmocka_unit_test(the_key_is_that_of_the_file),
		cmocka_unit_test(
			addresses_in_a_sentence_are_hidden_but_for_nameservers_times_and_figures),
		cmocka_unit_test(what_cannot_be_hidden_is_refused),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
