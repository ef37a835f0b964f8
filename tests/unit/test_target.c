/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read of other processes: their memory, files, groups and libraries. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/container.h"
#include "target/find.h"
#include "target/library.h"
#include "target/memory.h"
#include "target/proc.h"
#include "target/resolver.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char *text_pointer;
static pid_t child;

/* A child that stands still, with our memory as it was at the fork. */
static void child_start(void)
{
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
}

static void child_end(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_text_is_read_through_its_pointer(void **state)
{
	char buf[32];

	(void)state;
	text_pointer = strdup("%m [%p] %h ");
	child_start();
	assert_int_equal(memory_text(child, (uintptr_t)&text_pointer, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "%m [%p] %h ");
	assert_int_equal(memory_text(child, (uintptr_t)&text_pointer, buf, 5), 0);
	assert_string_equal(buf, "%m [");
	child_end();
	free(text_pointer);
}

static void a_null_pointer_is_an_empty_text(void **state)
{
	char buf[8] = "before";

	(void)state;
	text_pointer = NULL;
	child_start();
	assert_int_equal(memory_text(child, (uintptr_t)&text_pointer, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	child_end();
}

static void a_text_at_the_end_of_mapped_memory_is_read(void **state)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char buf[64];

	(void)state;
	munmap(pages + page, page);
	text_pointer = pages + page - 5;
	strcpy(text_pointer, "main");
	child_start();
	assert_int_equal(memory_text(child, (uintptr_t)&text_pointer, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "main");
	child_end();
	munmap(pages, page);
}

static void a_wild_pointer_is_an_error(void **state)
{
	char buf[8];

	(void)state;
	text_pointer = (char *)16;
	child_start();
	assert_int_equal(memory_text(child, (uintptr_t)&text_pointer, buf, sizeof(buf)), -EFAULT);
	child_end();
	assert_int_equal(memory_read(child, (uintptr_t)&text_pointer, buf, 1), -ESRCH);
}

extern char _start[];

static void the_load_bias_is_run_time_address_minus_link_time_address(void **state)
{
	Elf64_Ehdr header;
	uint64_t bias;
	FILE *f = fopen("/proc/self/exe", "r");

	(void)state;
	assert_int_equal(fread(&header, sizeof(header), 1, f), 1);
	fclose(f);
	child_start();
	assert_int_equal(memory_load_bias(child, header.e_entry, &bias), 0);
	assert_int_equal(bias + header.e_entry, (uintptr_t)_start);
	child_end();
}

static void status_gives_the_last_number_of_a_line(void **state)
{
	(void)state;
	child_start();
	assert_int_equal(proc_status_number(child, "PPid"), getpid());
	assert_true(proc_status_number(child, "NSpid") > 0);
	assert_int_equal(proc_status_number(child, "Nothing"), -ENOENT);
	child_end();
	assert_true(proc_status_number(child, "PPid") < 0);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *cgroup, *name;
} groups[] = {
	{ "0::/system.slice/docker-" ID ".scope\n", "docker:0123456789ab" },
	{ "12:pids:/docker/" ID "\n0::/\n", "docker:0123456789ab" },
	{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
	  "cri-containerd-" ID ".scope\n",
	  "kubernetes:0123456789ab" },
	{ "4:memory:/kubepods/besteffort/pod8f2c/" ID "\n", "kubernetes:0123456789ab" },
	{ "0::/kubepods.slice/kubepods-pod3.slice/crio-" ID ".scope\n", "kubernetes:0123456789ab" },
	{ "0::/machine.slice/libpod-" ID ".scope/container\n", "podman:0123456789ab" },
	{ "0::/lxc.payload.web1/system.slice/postgresql.service\n", "lxc:web1" },
	{ "0::/lxc/db/init.scope\n", "lxc:db" },
	{ "0::/machine.slice/systemd-nspawn@db.service/payload\n", "nspawn:db" },
	{ "0::/machine.slice/machine-db2.scope\n", "nspawn:db2" },
	{ "0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n", "" },
	{ "4:memory:/process_api/d7946e29236994e021ea32fa4ac3deb2\n0::/\n", "" },
	{ "0::/user.slice/docker-0123.scope\n", "" },
	{ "", "" },
};

static void containers_are_named_by_their_group(void **state)
{
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT(groups); i++) {
		assert_int_equal(container_name(groups[i].cgroup, name, sizeof(name)),
				 groups[i].name[0] != '\0');
		assert_string_equal(name, groups[i].name);
	}
}

static void executables_are_recognised_by_name(void **state)
{
	(void)state;
	assert_true(find_is_postgres("/usr/lib/postgresql/15/bin/postgres"));
	assert_true(find_is_postgres("/usr/lib/postgresql/15/bin/postgres (deleted)"));
	assert_true(find_is_postgres("/usr/edb/as15/bin/edb-postgres"));
	assert_false(find_is_postgres("/usr/bin/postgres_exporter"));
	assert_false(find_is_postgres("/usr/bin/postgres-exporter (deleted)"));
	assert_false(find_is_postgres("/usr/bin/psql"));
	assert_false(find_is_postgres(" (deleted)"));
	assert_false(find_is_postgres(""));
}

static void libraries_are_recognised_by_name(void **state)
{
	(void)state;
	assert_true(library_matches("/usr/lib/x86_64-linux-gnu/libc.so.6", "libc"));
	assert_true(library_matches("/lib/x86_64-linux-gnu/libc-2.31.so", "libc"));
	assert_true(library_matches("/lib/libc-2.31.so (deleted)", "libc"));
	assert_true(library_matches("/lib/ld-musl-x86_64.so.1", "libc"));
	assert_true(library_matches("/lib/libldap-2.5.so.0.1.8", "libldap"));
	assert_true(library_matches("/lib/libldap_r-2.4.so.2.11.5", "libldap"));
	assert_true(library_matches("/lib/libldap.so.2", "libldap"));
	assert_true(library_matches("/lib/libpam.so.0.85.1", "libpam"));
	assert_false(library_matches("/lib/libcap.so.2", "libc"));
	assert_false(library_matches("/lib/libc-client.so.2007", "libc"));
	assert_false(library_matches("/lib/libcrypt.so.1", "libc"));
	assert_false(library_matches("/lib/libpam_misc.so.0", "libpam"));
	assert_false(library_matches("/lib/ld-musl-x86_64.so.1", "libldap"));
}

static struct resolver glibc(const char *conf, const char *nsswitch)
{
	struct resolver r = { .libc = "glibc" };

	resolver_parse_conf(conf, &r);
	resolver_parse_nsswitch(nsswitch, &r);
	return r;
}

static void nameservers_and_options_are_read_from_resolv_conf(void **state)
{
	struct resolver r =
		glibc("# a comment\n; another\nnameserver 10.0.0.2\n"
		      "nameserver\tfe80::1%eth0 \nsearch a.example b.example\n"
		      "options timeout:2 attempts:3 rotate\noptions single-request-reopen ndots:5",
		      "");

	(void)state;
	assert_int_equal(r.nameserver_count, 2);
	assert_string_equal(r.nameservers[0], "10.0.0.2");
	assert_string_equal(r.nameservers[1], "fe80::1%eth0");
	assert_int_equal(r.search_count, 2);
	assert_string_equal(r.search[1], "b.example");
	assert_int_equal(r.timeout_s, 2);
	assert_int_equal(r.attempts, 3);
	assert_true(r.rotate);
	assert_true(r.single_request);
}

static void without_resolv_conf_the_local_host_is_asked(void **state)
{
	struct resolver r = glibc("", "");

	(void)state;
	assert_int_equal(r.nameserver_count, 1);
	assert_string_equal(r.nameservers[0], "127.0.0.1");
	assert_int_equal(r.timeout_s, 5);
	assert_int_equal(r.attempts, 2);
	assert_false(r.rotate);
	assert_int_equal(r.host_count, 0);
}

static void the_librarys_own_limits_hold(void **state)
{
	static const char conf[] = "nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\n"
				   "nameserver 1.1.1.4\noptions timeout:90 attempts:9 rotate\n";
	struct resolver r = glibc(conf, ""), musl = { .libc = "musl" };

	(void)state;
	assert_int_equal(r.nameserver_count, 3);
	assert_int_equal(r.timeout_s, 30);
	assert_int_equal(r.attempts, 5);
	resolver_parse_conf(conf, &musl);
	assert_int_equal(musl.timeout_s, 60);
	assert_int_equal(musl.attempts, 9);
	assert_false(musl.rotate);
	assert_int_equal(glibc("options timeout:0", "").timeout_s, 1);
	assert_int_equal(glibc("options timeout:-3 attempts:x", "").timeout_s, 1);
}

static void the_last_of_search_and_domain_counts(void **state)
{
	struct resolver r = glibc("search a b c\ndomain d e\n", "");

	(void)state;
	assert_int_equal(r.search_count, 1);
	assert_string_equal(r.search[0], "d");
}

static void keywords_are_whole_words_at_the_start_of_a_line(void **state)
{
	struct resolver r = glibc("nameservers 1.1.1.1\n nameserver 1.1.1.2\nnameserver\n"
				  "#options timeout:1\n",
				  "");

	(void)state;
	assert_string_equal(r.nameservers[0], "127.0.0.1");
	assert_int_equal(r.timeout_s, 5);
}

static void hosts_are_read_with_their_actions(void **state)
{
	struct resolver r = glibc(
		"", "passwd: files\n"
		    "hosts:  files mdns4_minimal [NOTFOUND=return SUCCESS=continue] dns # x\n");

	(void)state;
	assert_int_equal(r.host_count, 4);
	assert_string_equal(r.hosts[0], "files");
	assert_string_equal(r.hosts[2], "[NOTFOUND=return SUCCESS=contin");
	assert_string_equal(r.hosts[3], "dns");
	assert_false(r.nss_resolve);
	r = glibc("", "hosts: resolve[!UNAVAIL=return] files\n");
	assert_int_equal(r.host_count, 3);
	assert_string_equal(r.hosts[1], "[!UNAVAIL=return]");
	assert_true(r.nss_resolve);
	r = glibc("", "#hosts: resolve\nhosts: [x");
	assert_int_equal(r.host_count, 1);
	assert_false(r.nss_resolve);
}

static void musl_reads_no_nsswitch_conf(void **state)
{
	struct resolver r = { .libc = "musl" };

	(void)state;
	resolver_parse_nsswitch("hosts: resolve\n", &r);
	assert_int_equal(r.host_count, 2);
	assert_string_equal(r.hosts[1], "dns");
	assert_false(r.nss_resolve);
}

static void more_words_than_there_is_room_for_are_left_out(void **state)
{
	struct resolver r =
		glibc("search a b c d e f g h i j k\n", "hosts: a b c d e f g h i j k\n");

	(void)state;
	assert_int_equal(r.search_count, RESOLVER_LIST);
	assert_int_equal(r.host_count, RESOLVER_LIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_read_through_its_pointer),
		cmocka_unit_test(a_null_pointer_is_an_empty_text),
		cmocka_unit_test(a_text_at_the_end_of_mapped_memory_is_read),
		cmocka_unit_test(a_wild_pointer_is_an_error),
		cmocka_unit_test(the_load_bias_is_run_time_address_minus_link_time_address),
		cmocka_unit_test(status_gives_the_last_number_of_a_line),
		cmocka_unit_test(containers_are_named_by_their_group),
		cmocka_unit_test(executables_are_recognised_by_name),
		cmocka_unit_test(libraries_are_recognised_by_name),
		cmocka_unit_test(nameservers_and_options_are_read_from_resolv_conf),
		cmocka_unit_test(without_resolv_conf_the_local_host_is_asked),
		cmocka_unit_test(the_librarys_own_limits_hold),
		cmocka_unit_test(the_last_of_search_and_domain_counts),
		cmocka_unit_test(keywords_are_whole_words_at_the_start_of_a_line),
		cmocka_unit_test(hosts_are_read_with_their_actions),
		cmocka_unit_test(musl_reads_no_nsswitch_conf),
		cmocka_unit_test(more_words_than_there_is_room_for_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
