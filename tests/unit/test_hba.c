/* SPDX-License-Identifier: BSD-2-Clause */
/* pg_hba.conf as PostgreSQL reads it, from real files below a folder of our own. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/hba.h"

static char dir[] = "/tmp/test_hba.XXXXXX";
static struct hba hba;

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(path_of(name), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void read_text(const char *text, int major)
{
	write_file("pg_hba.conf", text);
	assert_int_equal(hba_read(getpid(), path_of("pg_hba.conf"), major, &hba), 0);
}

static void assert_names(const char *want)
{
	char got[1024] = "";

	for (int i = 0; i < hba.name_count; i++) {
		strcat(got, i ? " " : "");
		strcat(got, hba.names[i].name);
	}
	assert_string_equal(got, want);
}

TEST(host_names_are_told_from_addresses_and_keywords)
{
	read_text("local all all trust\n"
		  "host all all 10.0.0.0/8 trust\n"
		  "host all all 10.0.0.1 255.255.255.255 trust\n"
		  "host all all ::1/128 trust\n"
		  "host all all fe80::1%lo trust\n"
		  "host all all all trust\n"
		  "host all all samehost trust\n"
		  "host all all samenet trust\n"
		  "host all all app.example trust\n"
		  "hostssl db1,db2 \"some user\",+group .example scram-sha-256\n"
		  "hostnossl all all one reject\n"
		  "hostgssenc all all two gss\n"
		  "hostnogssenc all all three md5\n",
		  15);
	assert_int_equal(hba.rule_count, 13);
	assert_names("app.example .example one two three");
	assert_int_equal(hba.names[0].line, 9);
}

TEST(a_quoted_keyword_is_a_name)
{
	read_text("host all all \"all\" trust\nhost all all \"10.0.0.1\" 255.0.0.0 trust\n", 15);
	assert_names("all");
}

TEST(comments_lists_and_quotes_are_as_postgresql_has_them)
{
	read_text("# host all all a.example trust\n"
		  "   \t\n"
		  "host a, b,c \"x # \"\"y\"\", z\" b.example trust # c.example\n"
		  "host a ,b x.example trust\n"
		  "host all all#comment\n"
		  "host all all c.example,d.example trust\n"
		  "host\tall\tall\te.example\ttrust\r\n",
		  15);
	assert_names("b.example x.example e.example");
	assert_int_equal(hba.names[0].line, 3);
}

TEST(a_line_goes_on_behind_a_backslash_since_14)
{
	read_text("host all \\\n all a.example \\\n trust\nhost all all b.example trust\n", 14);
	assert_names("a.example b.example");
	assert_int_equal(hba.names[0].line, 1);
	assert_int_equal(hba.names[1].line, 4);
	read_text("host all \\\n all a.example trust\nhost all all b.example trust\n", 13);
	assert_names("b.example");
}

TEST(an_at_file_is_a_list_in_its_place)
{
	write_file("users", "alice bob # who else\n\"carol\"\n@more\n");
	write_file("more", "dave\n");
	write_file("where", "from.example\n");
	read_text("host all @users a.example trust\nhost all all @where trust\nhost all @absent b.example trust\n",
		  15);
	assert_names("a.example from.example");
	assert_int_equal(hba.problem_count, 1);
	assert_non_null(strstr(hba.problems[0], "/absent: No such file"));
}

TEST(includes_are_followed_since_16)
{
	mkdir(path_of("conf.d"), 0755);
	write_file("conf.d/b.conf", "host all all b.example trust\ninclude ../deep.conf\n");
	write_file("conf.d/a.conf", "host all all a.example trust\n");
	write_file("conf.d/.hidden.conf", "host all all hidden.example trust\n");
	write_file("conf.d/other.txt", "host all all other.example trust\n");
	write_file("deep.conf", "host all all deep.example trust\n");
	read_text("include_dir conf.d\ninclude_if_exists absent.conf\ninclude gone.conf\n"
		  "host all all last.example trust\n",
		  16);
	assert_names("a.example b.example deep.example last.example");
	assert_int_equal(hba.problem_count, 1);
	assert_non_null(strstr(hba.problems[0], "gone.conf"));
	assert_non_null(strstr(hba.names[0].file, "conf.d/a.conf"));
	read_text("include_dir conf.d\nhost all all last.example trust\n", 15);
	assert_names("last.example");
}

TEST(a_file_that_includes_itself_ends)
{
	read_text("include pg_hba.conf\nhost all all a.example trust\n", 16);
	assert_true(hba.problem_count > 0);
	assert_non_null(strstr(hba.problems[0], "too deeply"));
}

TEST(more_names_than_fit_are_counted)
{
	char text[16384] = "";

	for (int i = 0; i < HBA_RULES + 5; i++)
		sprintf(text + strlen(text), "host all all h%d.example trust\n", i);
	read_text(text, 15);
	assert_int_equal(hba.name_count, HBA_RULES + 5);
	assert_string_equal(hba.names[HBA_RULES - 1].name, "h31.example");
}

TEST(a_missing_file_is_an_error)
{
	assert_int_equal(hba_read(getpid(), path_of("absent"), 15, &hba), -ENOENT);
	assert_int_equal(hba.rule_count, 0);
}

TEST(files_that_include_each_other_many_times_come_to_an_end)
{
	char text[16384] = "host all all first.example trust\n";

	for (int i = 0; i < 60; i++) /* 60 to the power of 10, if nothing stopped it */
		strcat(text, "include pg_hba.conf\ninclude_dir .\nhost all @pg_hba.conf all 10.0.0.1/8 trust\n");
	read_text(text, 16);
	assert_string_equal(hba.names[0].name, "first.example");
	assert_int_equal(hba.problem_count, HBA_PROBLEMS);
}

TEST(what_is_no_regular_file_is_neither_read_nor_waited_for)
{
	unlink(path_of("where"));
	assert_int_equal(mkfifo(path_of("where"), 0600), 0);
	assert_int_equal(hba_read(getpid(), path_of("where"), 16, &hba), -EINVAL);
	unlink(path_of("where"));
	assert_int_equal(symlink("/dev/zero", path_of("where")), 0);
	assert_int_equal(hba_read(getpid(), path_of("where"), 16, &hba), -EINVAL);
	unlink(path_of("where"));
	assert_int_equal(hba_read(getpid(), dir, 16, &hba), -EINVAL);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const files[] = { "pg_hba.conf", "users", "more", "where", "conf.d/a.conf",
					     "conf.d/b.conf", "conf.d/.hidden.conf", "conf.d/other.txt",
					     "deep.conf" };

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_of(files[i]));
	rmdir(path_of("conf.d"));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_names_are_told_from_addresses_and_keywords),
		cmocka_unit_test(a_quoted_keyword_is_a_name),
		cmocka_unit_test(comments_lists_and_quotes_are_as_postgresql_has_them),
		cmocka_unit_test(a_line_goes_on_behind_a_backslash_since_14),
		cmocka_unit_test(an_at_file_is_a_list_in_its_place),
		cmocka_unit_test(includes_are_followed_since_16),
		cmocka_unit_test(a_file_that_includes_itself_ends),
		cmocka_unit_test(more_names_than_fit_are_counted),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(files_that_include_each_other_many_times_come_to_an_end),
		cmocka_unit_test(what_is_no_regular_file_is_neither_read_nor_waited_for),
	};

	return cmocka_run_group_tests_name("hba", tests, make_dir, remove_dir);
}
