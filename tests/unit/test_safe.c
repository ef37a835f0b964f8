/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/safe.h"

typedef const char *safe_function(const char *text, char *buf, size_t len);

static void expect(safe_function *function, const char *text, const char *expected)
{
	char buf[256];

	assert_string_equal(function(text, buf, sizeof(buf)), expected);
}

TEST(a_terminal_gets_no_control_byte)
{
	expect(safe_terminal, "\x1b[2Jx\a\n\t\x7f", "\\x1b[2Jx\\x07\\x0a\\x09\\x7f");
	expect(safe_terminal,
	       "a\xc2\x9b"
	       "31m",
	       "a\\xc2\\x9b31m");
	expect(safe_terminal,
	       "a\xe2\x80\xae"
	       "b",
	       "a\\xe2\\x80\\xaeb");
	expect(safe_terminal,
	       "a\xe2\x81\xa6"
	       "b",
	       "a\\xe2\\x81\\xa6b");
}

TEST(a_terminal_gets_no_broken_utf8)
{
	expect(safe_terminal, "\xff\x80", "\\xff\\x80");
	expect(safe_terminal, "\xc3", "\\xc3");
	expect(safe_terminal, "\xc0\xaf", "\\xc0\\xaf");
	expect(safe_terminal, "\xed\xa0\x80", "\\xed\\xa0\\x80");
	expect(safe_terminal, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

TEST(good_text_passes_as_it_is)
{
	const char *good = "J\xc3\xbcrgen \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x98";

	expect(safe_terminal, good, good);
	expect(safe_utf8, good, good);
	expect(safe_html, good, good);
	expect(safe_csv, good, good);
	expect(safe_prometheus, good, good);
}

TEST(broken_bytes_become_replacement_characters)
{
	expect(safe_utf8,
	       "a\xff"
	       "b\xc3",
	       "a\xef\xbf\xbd"
	       "b\xef\xbf\xbd");
	expect(safe_html, "\xff", "\xef\xbf\xbd");
	expect(safe_csv, "\xff", "\xef\xbf\xbd");
	expect(safe_prometheus, "\xff", "\xef\xbf\xbd");
}

TEST(html_is_never_markup)
{
	expect(safe_html, "<script>\"&'</script>", "&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;");
}

TEST(csv_fields_are_quoted_where_needed)
{
	expect(safe_csv, "plain", "plain");
	expect(safe_csv, "", "");
	expect(safe_csv, "a,b", "\"a,b\"");
	expect(safe_csv, "say \"hi\"", "\"say \"\"hi\"\"\"");
	expect(safe_csv, "two\nlines", "\"two\nlines\"");
}

TEST(spreadsheet_formulas_are_defused)
{
	expect(safe_csv, "=1+1", "'=1+1");
	expect(safe_csv, "+1", "'+1");
	expect(safe_csv, "-1", "'-1");
	expect(safe_csv, "@SUM(A1)", "'@SUM(A1)");
	expect(safe_csv, "\t=1", "\"'\t=1\"");
	expect(safe_csv, "\r=1", "\"'\r=1\"");
	expect(safe_csv, "=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"");
}

TEST(prometheus_labels_stay_inside_their_quotes)
{
	expect(safe_prometheus, "a\"b\\c\nd", "a\\\"b\\\\c\\nd");
}

TEST(what_does_not_fit_ends_in_three_dots)
{
	char buf[8];

	assert_string_equal(safe_terminal("1234567", buf, sizeof(buf)), "1234567");
	assert_string_equal(safe_terminal("12345678", buf, sizeof(buf)), "1234...");
	assert_string_equal(safe_terminal("123\x1b"
					  "5678",
					  buf, sizeof(buf)),
			    "123...");
	assert_string_equal(safe_utf8("123\xc3\xbc"
				      "5678",
				      buf, sizeof(buf)),
			    "123...");
	assert_string_equal(safe_csv("1,2345678", buf, sizeof(buf)), "\"1,...\"");
}

/* every length, every function: terminated, within bounds, the byte behind untouched */
TEST(no_length_is_too_short)
{
	static safe_function *const functions[] = { safe_terminal, safe_utf8, safe_csv, safe_html,
						    safe_prometheus };
	const char *text = "a,<\x1b\"\xff\xc3\xbc\xe2\x80\xae";

	for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
		for (size_t len = 0; len < 40; len++) {
			char buf[48];

			memset(buf, '#', sizeof(buf));
			functions[f](text, buf, len);
			if (len)
				assert_non_null(memchr(buf, 0, len));
			for (size_t i = len; i < sizeof(buf); i++)
				assert_int_equal(buf[i], '#');
		}
}

TEST(columns_count_wide_characters_twice)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(safe_columns(""), 0);
	assert_int_equal(safe_columns("abc"), 3);
	assert_int_equal(safe_columns("J\xc3\xbcrgen"), 6);
	assert_int_equal(safe_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4);
	assert_int_equal(safe_columns("\xff\xfe"), 2);
}

static char logged[256];

static void remember(enum log_level level, const char *line)
{
	(void)level;
	strncat(logged, line, sizeof(logged) - strlen(logged) - 2);
	strcat(logged, "|");
}

TEST(messages_are_made_harmless_line_by_line)
{
	log_set_sink(remember);
	log_error("user %s\nwhat to do\n", "\x1b[1m");
	log_debug("not told");
	log_set_sink(NULL);
	assert_string_equal(logged, "user \\x1b[1m|what to do|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_gets_no_control_byte),
		cmocka_unit_test(a_terminal_gets_no_broken_utf8),
		cmocka_unit_test(good_text_passes_as_it_is),
		cmocka_unit_test(broken_bytes_become_replacement_characters),
		cmocka_unit_test(html_is_never_markup),
		cmocka_unit_test(csv_fields_are_quoted_where_needed),
		cmocka_unit_test(spreadsheet_formulas_are_defused),
		cmocka_unit_test(prometheus_labels_stay_inside_their_quotes),
		cmocka_unit_test(what_does_not_fit_ends_in_three_dots),
		cmocka_unit_test(no_length_is_too_short),
		cmocka_unit_test(columns_count_wide_characters_twice),
		cmocka_unit_test(messages_are_made_harmless_line_by_line),
	};

	return cmocka_run_group_tests_name("safe", tests, NULL, NULL);
}
