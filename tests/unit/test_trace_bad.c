/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are no traces, or no longer: one clear message each, and never a crash. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "trace_files.h"

static void expect_message(const char *text, int err, const char *part)
{
	struct reading r = read_text(text);

	assert_int_equal(r.ret, err);
	if (!strstr(r.err, part))
		fail_msg("\"%s\" has no \"%s\"", r.err, part);
}

TEST(a_whole_file_is_complete)
{
	struct reading r = read_text(START_LINE END_LINE);

	assert_int_equal(r.ret, 0);
	assert_int_equal(r.events, 2);
	assert_true(r.complete);
}

TEST(a_file_without_end_was_cut_off)
{
	struct reading r = read_text(START_LINE);

	assert_int_equal(r.ret, 0);
	assert_int_equal(r.events, 1);
	assert_false(r.complete);
}

TEST(a_file_may_be_cut_off_at_any_byte)
{
	static const char text[] = START_LINE END_LINE;
	size_t first = strlen(START_LINE);

	for (size_t size = first; size < sizeof(text) - 2; size++) {
		struct reading r = read_bytes(text, size);

		assert_int_equal(r.ret, 0);
		assert_int_equal(r.events, 1);
		assert_false(r.complete);
	}
	assert_true(read_bytes(text, sizeof(text) - 2).complete); /* all but the last newline */
}

TEST(an_empty_file_is_called_empty)
{
	expect_message("", -ENODATA, "is empty");
	expect_message("\n\n", -ENODATA, "is empty");
}

TEST(a_foreign_file_is_no_trace)
{
	expect_message("root:x:0:0:root:/root:/bin/bash\n", -EINVAL, "is not a trace");
	expect_message("{}\n", -EINVAL, "is not a trace");
	expect_message("[1]\n", -EINVAL, "is not a trace");
	expect_message("{\"type\":\"conn\"}\n", -EINVAL, "is not a trace");
	expect_message("{\"type\":\"start\"}\n", -EINVAL, "is not a trace");
	expect_message("{\"type\":1,\"format\":1}\n", -EINVAL, "is not a trace");
	expect_message("\x7f"
		       "ELF\x02\x01",
		       -EINVAL, "is not a trace");
}

TEST(a_newer_format_is_named)
{
	expect_message("{\"type\":\"start\",\"format\":2}\n", -EPROTONOSUPPORT,
		       "has trace format 2, and this pgdnstrace reads format 1");
}

TEST(a_missing_file_is_named)
{
	struct trace_reader *r;
	char err[TRACE_ERR_LEN];

	assert_int_equal(trace_open(&r, "/nonexistent", err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "cannot read /nonexistent: No such file or directory");
	assert_int_equal(trace_open(&r, "/", err, sizeof(err)), -EISDIR);
}

TEST(garbage_in_the_middle_is_told_with_its_line)
{
	static const char nul[] = START_LINE "{}\0\n" END_LINE;
	struct reading r = read_bytes(nul, sizeof(nul) - 1);

	assert_int_equal(r.ret, -EINVAL);
	assert_non_null(strstr(r.err, "line 2, byte 3: more behind the value"));
	expect_message(START_LINE "garbage\n" END_LINE, -EINVAL,
		       "line 2, byte 1: expected a value");
	expect_message(START_LINE "\n{\"type\":\"tick\",}\n", -EINVAL, "line 3, byte 16");
	expect_message(START_LINE "[]\n", -EINVAL, "line 2, byte 1: not an object");
}

TEST(a_field_of_the_wrong_type_is_told_with_its_name)
{
	const struct {
		const char *json, *field;
	} lines[] = {
		{ "{\"at\":\"2026-10-02T03:14:00Z\"}", "type" },
		{ "{\"type\":5}", "type" },
		{ "{\"type\":\"tick\"}", "at" },
		{ "{\"type\":\"tick\",\"at\":5}", "at" },
		{ "{\"type\":\"tick\",\"at\":\"today\"}", "at" },
#define AT "\"at\":\"2026-10-02T03:14:00Z\""
		/* instants and durations that no sum or difference of two can hold */
		{ "{\"type\":\"tick\",\"at\":\"1969-12-31T23:59:59Z\"}", "at" },
		{ "{\"type\":\"tick\",\"at\":\"2261-01-01T00:00:00Z\"}", "at" },
		{ "{\"type\":\"conn\"," AT ",\"outcome\":\"ready\",\"total_us\":3e15}", "total_us" },
		{ "{\"type\":\"conn\"," AT ",\"outcome\":\"ready\",\"client_gone_us\":-3e15}",
		  "client_gone_us" },
		{ "{\"type\":\"conn\"," AT ",\"outcome\":\"ready\",\"phases_us\":{\"auth\":3e15}}", "auth" },
		{ "{\"type\":\"tick\"," AT ",\"in_setup\":\"4\"}", "in_setup" },
		{ "{\"type\":\"tick\"," AT ",\"in_setup\":-1}", "in_setup" },
		{ "{\"type\":\"tick\"," AT ",\"lost\":1.5}", "lost" },
		{ "{\"type\":\"tick\"," AT ",\"lost\":9223372036854775808}", "lost" },
		{ "{\"type\":\"settings\"," AT ",\"changed\":[]}", "changed" },
		{ "{\"type\":\"settings\"," AT ",\"changed\":{\"log_hostname\":1}}",
		  "log_hostname" },
		{ "{\"type\":\"start\"," AT ",\"missing_phases\":[1]}", "missing_phases" },
		{ "{\"type\":\"start\"," AT ",\"resolver\":\"none\"}", "resolver" },
		{ "{\"type\":\"trigger\"," AT ",\"value\":\"1\"}", "value" },
		{ "{\"type\":\"end\"," AT ",\"ready\":true}", "ready" },
#define CONN "{\"type\":\"conn\"," AT
		{ CONN "}", "outcome" },
		{ CONN ",\"outcome\":\"odd\"}", "outcome" },
		{ CONN ",\"outcome\":\"failed\",\"phase\":\"odd\"}", "phase" },
		{ CONN ",\"outcome\":\"ready\",\"pid\":99999999999}", "pid" },
		{ CONN ",\"outcome\":\"ready\",\"client\":\"nowhere\"}", "client" },
		{ CONN ",\"outcome\":\"ready\",\"client_port\":65536}", "client_port" },
		{ CONN ",\"outcome\":\"ready\",\"session_id\":\"x\"}", "session_id" },
		{ CONN ",\"outcome\":\"ready\",\"wait_us\":-1}", "wait_us" },
		{ CONN ",\"outcome\":\"ready\",\"wait_us\":\"1\"}", "wait_us" },
		{ CONN ",\"outcome\":\"ready\",\"phases_us\":{\"auth\":true}}", "auth" },
		{ CONN ",\"outcome\":\"ready\",\"phases_us\":[1]}", "phases_us" },
		{ CONN ",\"outcome\":\"ready\",\"lookups\":[1]}", "lookups" },
		{ CONN ",\"outcome\":\"ready\",\"lookups\":[{}]}", "by" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[1024], part[64];

		snprintf(text, sizeof(text), "%s%s\n", START_LINE, lines[i].json);
		snprintf(part, sizeof(part), "line 2: field \"%s\"", lines[i].field);
		expect_message(text, -EINVAL, part);
	}
}

TEST(what_a_later_version_adds_is_skipped)
{
	struct reading r = read_text(
		START_LINE
		"{\"type\":\"weather\",\"rain\":true}\n" CONN
		",\"outcome\":\"ready\",\"mood\":[{\"a\":{}}],"
		"\"phases_us\":{\"nap\":\"long\",\"auth\":7},\"within_us\":{\"tea\":1}}\n");

	assert_int_equal(r.ret, 0);
	assert_int_equal(r.events, 2);
	assert_int_equal(r.last.conn.phases_present, 1 << PHASE_AUTH);
	assert_int_equal(r.last.conn.phases_ns[PHASE_AUTH], 7000);
}

TEST(null_is_as_good_as_absent)
{
	struct reading r = read_text(START_LINE CONN
				     ",\"outcome\":\"ready\",\"wait_us\":null,\"user\":null}\n");

	assert_int_equal(r.ret, 0);
	assert_false(r.last.conn.has_wait);
	assert_false(r.last.conn.has_user);
}

TEST(a_name_too_long_is_cut_and_not_copied_behind_its_end)
{
	char text[2048], name[300];
	struct reading r;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "%s%s,\"outcome\":\"ready\",\"user\":\"%s\"}\n", START_LINE,
		 CONN, name);
	r = read_text(text);
	assert_int_equal(r.ret, 0);
	assert_int_equal(strlen(r.last.conn.user), PG_NAME_LEN - 1);
	assert_string_equal(r.last.conn.database, "");
}

TEST(only_a_filter_that_drops_short_ones_counts_as_filtered)
{
	assert_false(read_text(START_LINE).filtered);
	assert_true(read_text("{\"type\":\"start\",\"format\":1," AT
			      ",\"filter\":\"longer-than=1s\"}\n")
			    .filtered);
	assert_false(read_text("{\"type\":\"start\",\"format\":1," AT ",\"filter\":\"user=bob\"}\n")
			     .filtered);
}

/* A sparse file of zeros with a newline nowhere: 2 GB that take no disk. */
TEST(a_line_of_two_gigabytes_is_refused_in_little_memory)
{
	struct memory_file f = memory_file(START_LINE, strlen(START_LINE));
	struct rusage before, after;
	struct trace_reader *r;
	struct event ev;
	char err[TRACE_ERR_LEN];

	assert_int_equal(ftruncate(f.fd, 2LL << 30), 0);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(trace_open(&r, f.path, err, sizeof(err)), 0);
	assert_int_equal(trace_next(r, &ev, err, sizeof(err)), 1);
	assert_int_equal(trace_next(r, &ev, err, sizeof(err)), -EMSGSIZE);
	assert_non_null(strstr(err, "line 2: longer than 1 MiB"));
	trace_close(r);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 8192); /* KiB */
	close(f.fd);
}

static uint64_t seed = 88172645463325252;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % below;
}

/* A real line with bytes changed, dropped, doubled, or pieces of itself copied over. */
static size_t mutate(char *bytes, size_t size)
{
	size_t at = any(size), from = any(size), n = 1 + any(16);

	switch (any(4)) {
	case 0:
		bytes[at] = any(256);
		return size;
	case 1:
		memmove(bytes + at, bytes + at + 1, size - at - 1);
		return size - 1;
	case 2:
		memmove(bytes + at + 1, bytes + at, size - at);
		return size + 1;
	default:
		if (at + n > size || from + n > size)
			return size;
		memmove(bytes + at, bytes + from, n);
		return size;
	}
}

TEST(garbage_of_any_kind_ends_in_a_message_or_in_events)
{
	static const char origin[] = START_LINE CONN
		",\"pid\":7207,\"session_id\":\"68de4f12.1c27\",\"client\":\"10.42.1.5\","
		"\"client_port\":60038,\"user\":\"b\\u00fc\",\"database\":\"p\",\"outcome\":"
		"\"failed\","
		"\"phase\":\"auth\",\"sqlstate\":\"28P01\",\"wait_us\":13201.247,"
		"\"phases_us\":{\"queue\":31.002,\"auth\":4.5e3},\"lookup_count\":1,\"lookups\":"
		"[{\"by\":\"hba\",\"kind\":\"reverse\",\"address\":\"::1\",\"at_us\":9.1,"
		"\"dur_us\":5.25,\"result\":\"failed\",\"code\":-3}]}\n"
		"{\"type\":\"tick\"," AT ",\"lost\":2,\"lost_by\":{\"ring_full\":2}}\n" END_LINE;
	unsigned int refused = 0, rounds = 20000;

	for (unsigned int i = 0; i < rounds; i++) {
		char bytes[sizeof(origin) + 16];
		size_t size = sizeof(origin) - 1;
		struct reading r;

		memcpy(bytes, origin, sizeof(origin));
		for (unsigned int n = 1 + any(6); n; n--)
			size = mutate(bytes, size);
		r = read_bytes(bytes, size);
		assert_true(r.ret <= 0);
		assert_int_equal(!r.ret, !*r.err);
		refused += r.ret < 0;
	}
	assert_in_range(refused, 100, rounds - 100); /* both kinds were met */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_complete),
		cmocka_unit_test(a_file_without_end_was_cut_off),
		cmocka_unit_test(a_file_may_be_cut_off_at_any_byte),
		cmocka_unit_test(an_empty_file_is_called_empty),
		cmocka_unit_test(a_foreign_file_is_no_trace),
		cmocka_unit_test(a_newer_format_is_named),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(garbage_in_the_middle_is_told_with_its_line),
		cmocka_unit_test(a_field_of_the_wrong_type_is_told_with_its_name),
		cmocka_unit_test(what_a_later_version_adds_is_skipped),
		cmocka_unit_test(null_is_as_good_as_absent),
		cmocka_unit_test(a_name_too_long_is_cut_and_not_copied_behind_its_end),
		cmocka_unit_test(only_a_filter_that_drops_short_ones_counts_as_filtered),
		cmocka_unit_test(a_line_of_two_gigabytes_is_refused_in_little_memory),
		cmocka_unit_test(garbage_of_any_kind_ends_in_a_message_or_in_events),
	};

	return cmocka_run_group_tests_name("trace_bad", tests, NULL, NULL);
}
