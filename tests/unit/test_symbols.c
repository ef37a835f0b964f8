/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "elf_build.h"
#include "target/elffile.h"
#include "target/prologue.h"
#include "target/symbols.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A server in miniature: first bytes of every kind, as x86-64 text. */
static const char server[] =
	"#define F(name, bytes) __asm__(\".text\\n.globl \" #name \"\\n.type \" #name \", "
	"@function\\n\" \\\n"
	"	#name \":\\n.byte \" bytes \"\\n.fill 40, 1, 0x90\\n.size \" #name \", . - \" "
	"#name);\n"
	"F(pg_getnameinfo_all, \"0xf3, 0x0f, 0x1e, 0xfa, 0x55\")\n"
	"F(InitProcess, \"0x55, 0x48, 0x89, 0xe5\")\n"
	"F(pgstat_report_connect, \"0x83, 0x3d, 0, 0, 0, 0, 2, 0x74, 2\")\n"
	"F(InitPostgres, \"0x48, 0x83, 0xec, 8\")\n"
	"const char text[] = \"before upgrading to PostgreSQL 9.1. Hint\";\n"
	"const char version[] = \"PostgreSQL 15.18 (Debian 15.18-0+deb12u1)\";\n"
	"_Bool log_hostname = 1; char *Log_line_prefix; long PostPortNumber = 5432;\n"
	"static void __attribute__((used)) errcode_part(void) __asm__(\"errcode.part.0\");\n"
	"static void __attribute__((used)) errcode_part(void) {}\n"
	"int StreamConnection(int); int (*undefined)(int) __attribute__((weak)) = 0;\n"
	"extern int AcceptConnection(void) __attribute__((weak));\n"
	"int main(void) { return AcceptConnection ? AcceptConnection() : text[0] + version[0] == "
	"0; }\n";

static void read_server(const char *flags, const char *after, struct symbols *s)
{
	char err[256] = "";
	int fd = elf_build(server, flags, after);

	assert_true(fd >= 0);
	assert_int_equal(symbols_read(fd, s, err, sizeof(err)), 0);
	close(fd);
}

static void check_server(const struct symbols *s)
{
	const struct symbol *f = s->functions;

	assert_string_equal(s->version, "15.18");
	assert_int_equal(s->major, 15);
	assert_int_equal(
		f[FUNCTION_GETNAMEINFO].probe_offset - f[FUNCTION_GETNAMEINFO].entry_offset, 4);
	assert_false(f[FUNCTION_GETNAMEINFO].single_stepped);
	assert_int_equal(f[FUNCTION_INIT_PROCESS].probe_offset,
			 f[FUNCTION_INIT_PROCESS].entry_offset);
	assert_false(f[FUNCTION_INIT_PROCESS].single_stepped);
	assert_int_equal(f[FUNCTION_REPORT_CONNECT].probe_offset -
				 f[FUNCTION_REPORT_CONNECT].entry_offset,
			 7);
	assert_int_equal(f[FUNCTION_INIT_POSTGRES].probe_offset,
			 f[FUNCTION_INIT_POSTGRES].entry_offset);
	assert_true(f[FUNCTION_INIT_POSTGRES].single_stepped);
	assert_true(s->variables[VARIABLE_LOG_HOSTNAME].value);
}

/* The bytes in the file at entry_offset are the function's own. */
static void offsets_point_at_the_code(const char *flags)
{
	static const uint8_t expected[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55 };
	uint8_t code[sizeof(expected)];
	struct symbols s;
	char err[256];
	int fd = elf_build(server, flags, NULL);

	assert_int_equal(symbols_read(fd, &s, err, sizeof(err)), 0);
	assert_int_equal(
		pread(fd, code, sizeof(code), s.functions[FUNCTION_GETNAMEINFO].entry_offset),
		sizeof(code));
	assert_memory_equal(code, expected, sizeof(code));
	close(fd);
}

static void file_offsets_hold_for_pie_and_fixed_addresses(void **state)
{
	(void)state;
	offsets_point_at_the_code("-pie -fPIE");
	offsets_point_at_the_code("-no-pie -fno-pie");
	offsets_point_at_the_code("-pie -fPIE -Wl,-z,noseparate-code");
}

static void probes_sit_on_emulated_instructions(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE", NULL, &s);
	check_server(&s);
}

static void a_stripped_file_is_read_by_its_dynamic_symbols(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE -rdynamic", "strip", &s);
	check_server(&s);
}

static void a_stripped_file_without_exports_has_no_symbol(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE", "strip", &s);
	assert_int_equal(s.functions[FUNCTION_GETNAMEINFO].value, 0);
	assert_string_equal(s.version, "15.18");
}

static void undefined_symbols_and_clones_do_not_match(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE -rdynamic", NULL, &s);
	assert_int_equal(s.functions[FUNCTION_ACCEPT_CONNECTION].value, 0);
	assert_int_equal(s.functions[FUNCTION_ERRCODE].value, 0);
	assert_int_equal(s.functions[FUNCTION_STREAM_CONNECTION].value, 0);
}

static void a_variable_of_another_size_is_not_ours(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE", NULL, &s);
	assert_int_equal(s.variables[VARIABLE_PORT].value, 0);
	assert_true(s.variables[VARIABLE_LOG_LINE_PREFIX].value);
}

static void missing_phases_follow_from_missing_functions(void **state)
{
	struct symbols s;

	(void)state;
	read_server("-pie -fPIE", NULL, &s);
	assert_int_equal(symbols_missing_phases(&s),
			 1U << PHASE_QUEUE | 1U << PHASE_FORK | 1U << PHASE_AUTH);
}

static void the_ready_marker_falls_back_to_an_older_one(void **state)
{
	struct symbols s = { .major = 17 };
	bool at_return;

	(void)state;
	assert_int_equal(symbols_ready(&s, &at_return), FUNCTION_COUNT);
	s.functions[FUNCTION_BEGIN_REPORTING].value = 1;
	assert_int_equal(symbols_ready(&s, &at_return), FUNCTION_BEGIN_REPORTING);
	assert_false(at_return);
	s.functions[FUNCTION_EVENT_TRIGGER_LOGIN].value = 1;
	assert_int_equal(symbols_ready(&s, &at_return), FUNCTION_EVENT_TRIGGER_LOGIN);
	assert_true(at_return);
	s.major = 15;
	assert_int_equal(symbols_ready(&s, &at_return), FUNCTION_BEGIN_REPORTING);
	s.functions[FUNCTION_REPORT_CONNECT].value = 1;
	assert_int_equal(symbols_ready(&s, &at_return), FUNCTION_REPORT_CONNECT);
}

static void one_function_of_another_file_is_found(void **state)
{
	char err[256] = "";
	struct symbol symbol;
	int fd = elf_build(server, "-pie -fPIE", NULL);

	(void)state;
	assert_int_equal(symbols_find(fd, "InitProcess", &symbol, err, sizeof(err)), 0);
	assert_true(symbol.probe_offset > 0);
	assert_int_equal(symbols_find(fd, "getaddrinfo", &symbol, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "no function getaddrinfo");
	close(fd);
}

static void refused(int fd, const char *reason)
{
	char err[256] = "";
	struct symbols s;

	assert_true(fd >= 0);
	assert_int_equal(symbols_read(fd, &s, err, sizeof(err)), -ENOEXEC);
	assert_non_null(strstr(err, reason));
	close(fd);
}

static void files_that_are_no_elf_file_of_this_machine_are_refused(void **state)
{
	(void)state;
	refused(open("/etc/passwd", O_RDONLY), "not an ELF file");
	refused(open("/dev/null", O_RDONLY), "not an ELF file");
	refused(elf_build(server, "-pie -fPIE", "truncate -s 40"), "not an ELF file");
	refused(elf_build(server, "-pie -fPIE", "truncate -s 8000"), "truncated");
}

static const struct {
	const char *what;
	int machine;
	size_t len;
	uint8_t code[16];
	size_t skip;
	bool single_stepped;
} prologues[] = {
	{ "push", EM_X86_64, 2, { 0x55, 0x48 }, 0, false },
	{ "push %r15", EM_X86_64, 2, { 0x41, 0x57 }, 0, false },
	{ "endbr64, push", EM_X86_64, 6, { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48 }, 4, false },
	{ "endbr64, sub", EM_X86_64, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8 }, 0, true },
	{ "cmpl, je", EM_X86_64, 9, { 0x83, 0x3d, 1, 2, 3, 4, 2, 0x74, 7 }, 7, false },
	{ "cmpl, je rel32", EM_X86_64, 9, { 0x83, 0x3d, 1, 2, 3, 4, 2, 0x0f, 0x84 }, 7, false },
	{ "endbr64, cmpl, je",
	  EM_X86_64,
	  13,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x83, 0x3d, 1, 2, 3, 4, 2, 0x74, 7 },
	  11,
	  false },
	{ "cmpl, mov", EM_X86_64, 9, { 0x83, 0x3d, 1, 2, 3, 4, 2, 0x89, 0xc0 }, 0, true },
	{ "movslq, test, js",
	  EM_X86_64,
	  11,
	  { 0x48, 0x63, 0x05, 1, 2, 3, 4, 0x85, 0xc0, 0x0f, 0x88 },
	  9,
	  false },
	{ "endbr64, mov, test, js",
	  EM_X86_64,
	  14,
	  { 0xf3, 0x0f, 0x1e, 0xfa, 0x8b, 0x05, 1, 2, 3, 4, 0x85, 0xc0, 0x0f, 0x88 },
	  12,
	  false },
	{ "cut off behind endbr64", EM_X86_64, 4, { 0xf3, 0x0f, 0x1e, 0xfa }, 0, true },
	{ "empty", EM_X86_64, 0, { 0 }, 0, true },
	{ "bti c, stp",
	  EM_AARCH64,
	  8,
	  { 0x5f, 0x24, 0x03, 0xd5, 0xfd, 0x7b, 0xbf, 0xa9 },
	  0,
	  true },
	{ "bti c, adrp",
	  EM_AARCH64,
	  8,
	  { 0x5f, 0x24, 0x03, 0xd5, 0x00, 0x10, 0x00, 0x90 },
	  4,
	  false },
	{ "paciasp, adrp",
	  EM_AARCH64,
	  8,
	  { 0x3f, 0x23, 0x03, 0xd5, 0x00, 0x10, 0x00, 0x90 },
	  0,
	  true },
	{ "cbz", EM_AARCH64, 8, { 0x40, 0x00, 0x00, 0xb4, 0, 0, 0, 0 }, 0, false },
	{ "another machine", EM_RISCV, 4, { 0x55, 0x55 }, 0, true },
};

static void prologues_are_stepped_over_only_where_right(void **state)
{
	bool single_stepped;

	(void)state;
	for (size_t i = 0; i < COUNT(prologues); i++) {
		print_message("  %s\n", prologues[i].what);
		assert_int_equal(prologue_skip(prologues[i].machine, prologues[i].code,
					       prologues[i].len, &single_stepped),
				 prologues[i].skip);
		assert_int_equal(single_stepped, prologues[i].single_stepped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_offsets_hold_for_pie_and_fixed_addresses),
		cmocka_unit_test(probes_sit_on_emulated_instructions),
		cmocka_unit_test(a_stripped_file_is_read_by_its_dynamic_symbols),
		cmocka_unit_test(a_stripped_file_without_exports_has_no_symbol),
		cmocka_unit_test(undefined_symbols_and_clones_do_not_match),
		cmocka_unit_test(a_variable_of_another_size_is_not_ours),
		cmocka_unit_test(missing_phases_follow_from_missing_functions),
		cmocka_unit_test(the_ready_marker_falls_back_to_an_older_one),
		cmocka_unit_test(one_function_of_another_file_is_found),
		cmocka_unit_test(files_that_are_no_elf_file_of_this_machine_are_refused),
		cmocka_unit_test(prologues_are_stepped_over_only_where_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
