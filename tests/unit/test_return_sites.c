/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elf_build.h"
#include "target/return_sites.h"

#define SITES_MAX 16
#define FLAGS     "-O1 -fcf-protection=none -pie -fPIE -rdynamic"

#define CALLEE                                                                                     \
	"__attribute__((noinline)) int pg_getnameinfo_all(int x) { __asm__(\"\"); return x + 1; "  \
	"}\n"
#define MAIN "int main(int c, char **v) { return one(c) + two(c); }\n"
/* two calls, each with something to do afterwards, so that none becomes a jump */
#define CALLS                                                                                      \
	"__attribute__((noinline)) int one(int x) { return pg_getnameinfo_all(x) * 3; }\n"         \
	"__attribute__((noinline)) int two(int x) { return pg_getnameinfo_all(x) + "               \
	"pg_getnameinfo_all(9); }\n"

/*
 * What objdump says: the address of the line behind each call, but for those that established
 * sessions make. In .text of these files, addresses are file offsets.
 */
static int objdump_sites(const char *path, const char *symbol, uint64_t *sites)
{
	char command[1024];
	unsigned long long site;
	int count = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn -j .text %s | awk '"
		 "/^[0-9a-f]+ </ { skip = "
		 "/<(pg_stat_get_|inet_(client|server)_|log_status_format)/ }"
		 "/call.*<%s(@@Base)?>/ { found = !skip; next }"
		 "found { sub(\":\", \"\", $1); print $1; found = 0 }'",
		 path, symbol);
	f = popen(command, "r");
	while (count < SITES_MAX && fscanf(f, "%llx", &site) == 1)
		sites[count++] = site;
	pclose(f);
	return count;
}

static void compare_with_objdump(int fd, const char *path, const char *symbol)
{
	uint64_t found[SITES_MAX], expected[SITES_MAX];
	int count = objdump_sites(path, symbol, expected);

	assert_true(count > 0);
	assert_int_equal(return_sites_find(fd, symbol, found, SITES_MAX), count);
	assert_memory_equal(found, expected, count * sizeof(found[0]));
}

static void sites_of_the_installed_server_are_what_objdump_finds(void **state)
{
	glob_t servers;
	const char *path;
	int fd;

	(void)state;
	assert_int_equal(glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &servers), 0);
	path = servers.gl_pathv[servers.gl_pathc - 1];
	fd = open(path, O_RDONLY | O_CLOEXEC);
	compare_with_objdump(fd, path, "pg_getnameinfo_all");
	compare_with_objdump(fd, path, "ClientAuthentication");
	close(fd);
	globfree(&servers);
}

static void sites_are_what_objdump_finds(void **state)
{
	uint64_t sites[SITES_MAX];
	char path[64];
	int fd = elf_build(CALLEE CALLS MAIN, FLAGS, NULL);

	(void)state;
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	compare_with_objdump(fd, path, "pg_getnameinfo_all");
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, SITES_MAX), 3);
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, 2), -ENOSPC);
	close(fd);
}

static void a_stripped_file_has_the_same_sites(void **state)
{
	uint64_t whole[SITES_MAX], stripped[SITES_MAX];
	int fd = elf_build(CALLEE CALLS MAIN, FLAGS, NULL);
	int bare = elf_build(CALLEE CALLS MAIN, FLAGS, "strip");

	(void)state;
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", whole, SITES_MAX), 3);
	assert_int_equal(return_sites_find(bare, "pg_getnameinfo_all", stripped, SITES_MAX), 3);
	assert_memory_equal(whole, stripped, 3 * sizeof(whole[0]));
	close(fd);
	close(bare);
}

/* movabs whose operand has the bytes of a call */
static void bytes_of_a_call_within_an_instruction_are_no_site(void **state)
{
	uint64_t sites[SITES_MAX];
	int fd =
		elf_build(CALLEE CALLS MAIN
			  "void trap(void) { __asm__ volatile(\".byte 0x48, 0xb8\\n1: .byte 0xe8\\n"
			  ".long pg_getnameinfo_all - (1b + 5)\\n.byte 0, 0, 0\" ::: \"rax\"); }\n",
			  FLAGS, NULL);

	(void)state;
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, SITES_MAX), 3);
	close(fd);
}

static void a_function_reached_by_a_jump_has_no_complete_list(void **state)
{
	uint64_t sites[SITES_MAX];
	int fd = elf_build(CALLEE CALLS MAIN
			   "int three(int x) { return pg_getnameinfo_all(x + 2); }\n",
			   "-O2 -fcf-protection=none -pie -fPIE -rdynamic", NULL);

	(void)state;
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, SITES_MAX), -ENOTSUP);
	close(fd);
}

static void what_established_sessions_call_is_left_out(void **state)
{
	uint64_t sites[SITES_MAX];
	int fd = elf_build(CALLEE CALLS MAIN
			   "int inet_client_addr(int x) { return pg_getnameinfo_all(x) * 5; }\n",
			   FLAGS, NULL);

	(void)state;
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, SITES_MAX), 3);
	close(fd);
}

static void bytes_that_are_no_instruction_are_refused(void **state)
{
	uint64_t sites[SITES_MAX];
	int fd = elf_build(CALLEE CALLS MAIN
			   "int four(int x) { __asm__ volatile(\"jmp 1f\\n.byte 0x06, 0x07\\n1:\");"
			   " return pg_getnameinfo_all(x) * 7; }\n",
			   FLAGS, NULL);

	(void)state;
	assert_int_equal(return_sites_find(fd, "pg_getnameinfo_all", sites, SITES_MAX), -EILSEQ);
	close(fd);
}

static void a_function_that_is_missing_or_never_called_has_none(void **state)
{
	uint64_t sites[SITES_MAX];
	int fd = elf_build(CALLEE CALLS MAIN, FLAGS, NULL);

	(void)state;
	assert_int_equal(return_sites_find(fd, "AcceptConnection", sites, SITES_MAX), -ENOENT);
	assert_int_equal(return_sites_find(fd, "_start", sites, SITES_MAX), -ENOENT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_what_objdump_finds),
		cmocka_unit_test(sites_of_the_installed_server_are_what_objdump_finds),
		cmocka_unit_test(a_stripped_file_has_the_same_sites),
		cmocka_unit_test(bytes_of_a_call_within_an_instruction_are_no_site),
		cmocka_unit_test(a_function_reached_by_a_jump_has_no_complete_list),
		cmocka_unit_test(what_established_sessions_call_is_left_out),
		cmocka_unit_test(bytes_that_are_no_instruction_are_refused),
		cmocka_unit_test(a_function_that_is_missing_or_never_called_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
