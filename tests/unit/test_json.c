/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/json_out.h"

static struct json_out out;
static char text[4096];

static void begin(void)
{
	json_put_start(&out, text, sizeof(text) - 1);
}

static const char *written(void)
{
	assert_false(out.full);
	text[out.used] = '\0';
	return text;
}

static struct json_in in;

static struct json_value *parsed(const char *json)
{
	strcpy(text, json);
	return json_in_parse(&in, text, strlen(text));
}

TEST(commas_and_brackets_come_out_right)
{
	begin();
	json_put_open(&out, NULL, '{');
	json_put_int(&out, "a", -1);
	json_put_open(&out, "b", '[');
	json_put_bool(&out, NULL, true);
	json_put_null(&out, NULL);
	json_put_open(&out, NULL, '{');
	json_put_close(&out, '}');
	json_put_close(&out, ']');
	json_put_text(&out, "c", "x");
	json_put_close(&out, '}');
	assert_string_equal(written(), "{\"a\":-1,\"b\":[true,null,{}],\"c\":\"x\"}");
}

TEST(text_that_ends_like_a_bracket_still_gets_its_comma)
{
	begin();
	json_put_open(&out, NULL, '[');
	json_put_text(&out, NULL, "[");
	json_put_text(&out, NULL, "{");
	json_put_close(&out, ']');
	assert_string_equal(written(), "[\"[\",\"{\"]");
}

static void expect_us(int64_t ns, const char *expected)
{
	begin();
	json_put_us(&out, NULL, ns);
	assert_string_equal(written(), expected);
}

TEST(microseconds_have_three_decimals)
{
	expect_us(13201247, "13201.247");
	expect_us(31002, "31.002");
	expect_us(0, "0.000");
	expect_us(7, "0.007");
	expect_us(-1500, "-1.500");
	expect_us(INT64_MAX, "9223372036854775.807");
	expect_us(INT64_MIN, "-9223372036854775.808");
}

static void expect_real(double value, const char *expected)
{
	begin();
	json_put_real(&out, NULL, value);
	assert_string_equal(written(), expected);
}

TEST(reals_have_no_more_decimals_than_they_need)
{
	expect_real(0.612, "0.612");
	expect_real(50, "50");
	expect_real(-2.5, "-2.5");
	expect_real(1e-9, "0");
	expect_real(NAN, "null");
	expect_real(INFINITY, "null");
	expect_real(1e300, "null");
}

TEST(a_decimal_comma_of_the_locale_changes_nothing)
{
	struct json_value *v;
	double value;
	int64_t ns;

	setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it is installed */
	expect_us(13201247, "13201.247");
	expect_real(0.5, "0.5");
	v = parsed("13201.247");
	assert_true(json_in_us(v, &ns));
	assert_int_equal(ns, 13201247);
	assert_true(json_in_real(v, &value));
	setlocale(LC_NUMERIC, "C");
}

TEST(hostile_text_is_valid_and_harmless)
{
	json_t *theirs;

	begin();
	json_put_text(&out, NULL, "a\"\\\x1b[2J\n\xff\xc2\x9b\xe2\x80\xae\xc3\xbc");
	assert_string_equal(written(), "\"a\\u0022\\u005c\\u001b[2J\\u000a\xef\xbf\xbd"
				       "\\u009b\\u202e\xc3\xbc\"");
	theirs = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_non_null(theirs);
	json_decref(theirs);
}

TEST(what_does_not_fit_is_told_and_never_written_behind_the_buffer)
{
	char small[10] = "#########";

	json_put_start(&out, small, 8);
	json_put_text(&out, NULL, "0123456789");
	assert_true(out.full);
	assert_int_equal(small[8], '#');
}

static void expect_parsed_us(const char *json, int64_t expected)
{
	int64_t ns;

	assert_true(json_in_us(parsed(json), &ns));
	assert_int_equal(ns, expected);
}

TEST(microseconds_are_read_to_the_nearest_ns)
{
	expect_parsed_us("13201.247", 13201247);
	expect_parsed_us("5921.25", 5921250);
	expect_parsed_us("900.1", 900100);
	expect_parsed_us("7", 7000);
	expect_parsed_us("-1.5", -1500);
	expect_parsed_us("0.0004", 0);
	expect_parsed_us("0.0005", 1);
	expect_parsed_us("0.00049999999", 0);
	expect_parsed_us("1.5e3", 1500000);
	expect_parsed_us("9223372036854775.807", INT64_MAX);
}

TEST(numbers_that_fit_no_integer_are_refused)
{
	int64_t n;

	assert_false(json_in_us(parsed("9223372036854775808"), &n));
	assert_false(json_in_us(parsed("1e300"), &n));
	assert_false(json_in_us(parsed("\"1\""), &n));
	assert_false(json_in_int(parsed("9223372036854775808"), &n));
	assert_false(json_in_int(parsed("1.0"), &n));
	assert_false(json_in_int(parsed("1e3"), &n));
	assert_true(json_in_int(parsed("9223372036854775807"), &n));
	assert_int_equal(n, INT64_MAX);
}

TEST(fields_are_found_in_any_order)
{
	struct json_value *o = parsed(" { \"a\" : 1 , \"b\" : null, \"c\":[{\"d\":\"e\"}] } ");
	int64_t n;

	assert_non_null(json_in_find(o, "c"));
	assert_true(json_in_int(json_in_find(o, "a"), &n));
	assert_null(json_in_find(o, "b"));
	assert_null(json_in_find(o, "none"));
	assert_string_equal(json_in_find(json_in_find(o, "c")->first, "d")->text, "e");
	assert_null(json_in_find(NULL, "a"));
	assert_null(json_in_find(json_in_find(o, "a"), "a"));
}

TEST(escapes_are_read_back)
{
	assert_string_equal(parsed("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")->text, "\"\\/\b\f\n\r\t");
	assert_string_equal(parsed("\"\\u00fc\\u65e5\\ud83d\\udc18\"")->text,
			    "\xc3\xbc\xe6\x97\xa5\xf0\x9f\x90\x98");
}

TEST(what_is_not_json_is_refused_with_the_place)
{
	const char *bad[] = { "",
			      " ",
			      "{",
			      "[1",
			      "[1,]",
			      "{\"a\"}",
			      "{\"a\":}",
			      "{a:1}",
			      "{\"a\":1,}",
			      "01",
			      "-",
			      "1.",
			      ".5",
			      "1e",
			      "+1",
			      "NaN",
			      "tru",
			      "nulll",
			      "1 2",
			      "\"",
			      "\"\\x\"",
			      "\"\\u12\"",
			      "\"\\u0000\"",
			      "\"\\ud800\"",
			      "\"\\ud800\\u0041\"",
			      "\"\\udc00\"",
			      "\"\xff\"",
			      "\"\xc3\"",
			      "\"a\nb\"",
			      "{} {}",
			      "'a'",
			      "[}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(parsed(bad[i]));
		assert_non_null(in.error);
		assert_in_range(in.error_at, 0, strlen(bad[i]));
		assert_null(json_loads(bad[i], JSON_DECODE_ANY, NULL));
	}
}

TEST(depth_and_number_of_values_are_bounded)
{
	static char line[3 * JSON_VALUES_MAX];

	memset(line, '[', 1000);
	assert_null(json_in_parse(&in, line, 1000));
	assert_string_equal(in.error, "nested too deeply");
	memset(line, 0, sizeof(line));
	line[0] = '[';
	for (int i = 0; i <= JSON_VALUES_MAX; i++)
		memcpy(line + 1 + 2 * i, "1,", 2);
	assert_null(json_in_parse(&in, line, strlen(line)));
	assert_string_equal(in.error, "too many values");
}

static uint64_t seed = 88172645463325252;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % below;
}

/* One byte changed, doubled or dropped, or two pieces swapped in. */
static void mutate(char *line)
{
	static const char alphabet[] = "{}[]\",:\\u0129.eE+-tfn \x1f\xc3\xbc\xff/";
	size_t len = strlen(line), at = any(len);

	switch (any(3)) {
	case 0:
		line[at] = alphabet[any(sizeof(alphabet) - 1)];
		break;
	case 1:
		memmove(line + at + 1, line + at, len - at + 1);
		break;
	default:
		memmove(line + at, line + at + 1, len - at);
	}
}

/* jansson also refuses numbers that it cannot hold, which only matters where one is used. */
static bool refused_for_size(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);

	return code == json_error_numeric_overflow;
}

TEST(the_reader_agrees_with_jansson_on_what_is_json)
{
	static const char origin[] =
		"{\"type\":\"conn\",\"n\":[1,-2.50,3e2,0],\"t\":\"a\\u00fc\\n\\\"\","
		"\"o\":{\"x\":null,\"y\":true,\"z\":false},\"u\":\"\xc3\xbc\"}";
	unsigned int accepted = 0;

	for (int i = 0; i < 100000; i++) {
		char line[256];
		json_error_t error;
		json_t *theirs;
		bool ours;

		strcpy(line, origin);
		for (unsigned int n = any(4); n < 4; n++)
			mutate(line);
		theirs = json_loads(line, JSON_DECODE_ANY, &error);
		ours = parsed(line);
		if (ours != !!theirs && !(ours && refused_for_size(&error)))
			fail_msg("ours %d, theirs %d: %s", ours, !!theirs, line);
		accepted += ours;
		json_decref(theirs);
	}
	assert_in_range(accepted, 1000, 99000); /* both kinds were met */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_brackets_come_out_right),
		cmocka_unit_test(text_that_ends_like_a_bracket_still_gets_its_comma),
		cmocka_unit_test(microseconds_have_three_decimals),
		cmocka_unit_test(reals_have_no_more_decimals_than_they_need),
		cmocka_unit_test(a_decimal_comma_of_the_locale_changes_nothing),
		cmocka_unit_test(hostile_text_is_valid_and_harmless),
		cmocka_unit_test(what_does_not_fit_is_told_and_never_written_behind_the_buffer),
		cmocka_unit_test(microseconds_are_read_to_the_nearest_ns),
		cmocka_unit_test(numbers_that_fit_no_integer_are_refused),
		cmocka_unit_test(fields_are_found_in_any_order),
		cmocka_unit_test(escapes_are_read_back),
		cmocka_unit_test(what_is_not_json_is_refused_with_the_place),
		cmocka_unit_test(depth_and_number_of_values_are_bounded),
		cmocka_unit_test(the_reader_agrees_with_jansson_on_what_is_json),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
