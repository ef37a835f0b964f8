/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keep/file.h"

static char folder[] = "/tmp/pgdnstrace-unit.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static unsigned int files_in_folder(void)
{
	DIR *dir = opendir(folder);
	unsigned int count = 0;

	for (struct dirent *e; (e = readdir(dir));)
		count += e->d_name[0] != '.';
	closedir(dir);
	return count;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* fails, and the test with it, when something was left behind */
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return st.st_mode & 07777;
}

TEST(a_new_file_has_its_mode_whatever_the_umask)
{
	mode_t before = umask(0777);
	FILE *out;

	assert_int_equal(file_create(&out, path, 0644), 0);
	umask(before);
	fclose(out);
	assert_int_equal(mode_of(path), 0644);
}

TEST(an_existing_file_is_refused_and_left_alone)
{
	FILE *out;
	char text[8] = "";

	assert_int_equal(file_create(&out, path, 0600), 0);
	fputs("old", out);
	fclose(out);
	assert_int_equal(file_create(&out, path, 0600), -EEXIST);
	out = fopen(path, "r");
	assert_int_equal(fread(text, 1, sizeof(text), out), 3);
	fclose(out);
	assert_string_equal(text, "old");
}

TEST(a_symlink_is_not_followed_not_even_to_nowhere)
{
	FILE *out;

	assert_int_equal(symlink("/tmp/pgdnstrace-unit-nowhere", path), 0);
	assert_int_equal(file_create(&out, path, 0600), -EEXIST);
	assert_int_equal(access("/tmp/pgdnstrace-unit-nowhere", F_OK), -1);
}

TEST(the_caller_of_sudo_owns_the_file)
{
	struct stat st;
	FILE *out;

	if (geteuid()) { /* who cannot give away keeps it, and that is no error */
		setenv("SUDO_UID", "12345", 1);
		assert_int_equal(file_create(&out, path, 0600), 0);
		fclose(out);
		return;
	}
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "54321", 1);
	assert_int_equal(file_create(&out, path, 0600), 0);
	fclose(out);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 54321);
	assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(nonsense_from_the_environment_is_ignored)
{
	const char *bad[] = { "", "root", "-1", "1x", "99999999999999999999" };
	struct stat st;
	FILE *out;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("SUDO_UID", bad[i], 1);
		assert_int_equal(file_create(&out, path, 0600), 0);
		fclose(out);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, geteuid());
		unlink(path);
	}
}

TEST(a_file_is_seen_under_its_name_only_when_it_is_whole)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, path, 0640), 0);
	fputs("new", f.out);
	assert_int_equal(access(path, F_OK), -1);
	assert_non_null(strstr(f.temporary, FILE_PARTIAL));
	assert_int_equal(mode_of(f.temporary), 0640);
	assert_int_equal(file_atomic_commit(&f), 0);
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(files_in_folder(), 1);
	file_atomic_abort(&f);
	assert_int_equal(files_in_folder(), 1);
}

TEST(a_commit_replaces_the_file_before)
{
	struct file_atomic f;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(file_atomic_open(&f, path, 0600), 0);
		assert_int_equal(file_atomic_commit(&f), 0);
	}
	assert_int_equal(files_in_folder(), 1);
}

TEST(what_is_aborted_leaves_nothing)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, path, 0600), 0);
	fputs("half", f.out);
	file_atomic_abort(&f);
	file_atomic_abort(&f);
	assert_int_equal(files_in_folder(), 0);
}

TEST(a_missing_folder_is_an_error_without_a_trace)
{
	struct file_atomic f;
	FILE *out;

	assert_int_equal(file_atomic_open(&f, "/nonexistent/x", 0600), -ENOENT);
	assert_int_equal(file_create(&out, "/nonexistent/x", 0600), -ENOENT);
}

TEST(a_commit_that_fails_has_cleaned_up)
{
	struct file_atomic f;

	assert_int_equal(file_atomic_open(&f, path, 0600), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(file_atomic_commit(&f), -EISDIR);
	assert_int_equal(files_in_folder(), 1);
	rmdir(path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_new_file_has_its_mode_whatever_the_umask),
		IN_FOLDER(an_existing_file_is_refused_and_left_alone),
		IN_FOLDER(a_symlink_is_not_followed_not_even_to_nowhere),
		IN_FOLDER(the_caller_of_sudo_owns_the_file),
		IN_FOLDER(nonsense_from_the_environment_is_ignored),
		IN_FOLDER(a_file_is_seen_under_its_name_only_when_it_is_whole),
		IN_FOLDER(a_commit_replaces_the_file_before),
		IN_FOLDER(what_is_aborted_leaves_nothing),
		IN_FOLDER(a_missing_folder_is_an_error_without_a_trace),
		IN_FOLDER(a_commit_that_fails_has_cleaned_up),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
