/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/preflight.h"

/* A server of that version with every function in it. This process stands in for it. */
static struct target *server(int major)
{
	struct target *t = calloc(1, sizeof(*t));

	t->pid = getpid();
	t->symbols.major = major;
	snprintf(t->symbols.version, sizeof(t->symbols.version), "%d.4", major);
	snprintf(t->exe_name, sizeof(t->exe_name), "/opt/bin/postgres");
	for (enum function f = 0; f < FUNCTION_COUNT; f++)
		t->symbols.functions[f].value = function_expected(f, major);
	t->session.settings.has_log_hostname = t->session.settings.has_log_line_prefix = true;
	return t;
}

static struct preflight *examine(struct target *t)
{
	struct preflight *p = calloc(1, sizeof(*p));

	preflight_target(p, t);
	free(t);
	return p;
}

static int count(const struct preflight *p, enum check_state state)
{
	int found = 0;

	for (int i = 0; i < p->count; i++)
		found += p->checks[i].state == state;
	return found;
}

/* The first check that isn't ok. */
static const struct check *finding(const struct preflight *p)
{
	for (int i = 0; i < p->count; i++)
		if (p->checks[i].state != CHECK_OK)
			return &p->checks[i];
	fail_msg("no finding");
	return NULL;
}

static void a_whole_server_of_any_version_passes(void **state)
{
	(void)state;
	for (int major = 13; major <= 18; major++) {
		struct preflight *p = examine(server(major));
		struct problem problem;

		assert_int_equal(count(p, CHECK_OK), p->count);
		assert_int_equal(preflight_verdict(p, &problem), 0);
		free(p);
	}
}

static void without_pg_getnameinfo_all_it_cannot_trace(void **state)
{
	struct target *t = server(15);
	struct problem problem;
	struct preflight *p;

	(void)state;
	t->symbols.functions[FUNCTION_GETNAMEINFO].value = 0;
	p = examine(t);
	assert_int_equal(preflight_verdict(p, &problem), -ENOTSUP);
	assert_int_equal(problem.exit_code, EXIT_CANNOT_TRACE);
	assert_non_null(strstr(problem.text, "pg_getnameinfo_all"));
	assert_non_null(strstr(problem.text, "/opt/bin/postgres"));
	assert_non_null(strstr(problem.text, "hostname"));
	assert_non_null(strstr(problem.text, "--export-dynamic"));
	free(p);
}

static void a_missing_function_names_itself_its_file_and_its_phase(void **state)
{
	struct target *t = server(15);
	struct problem problem;
	struct preflight *p;

	(void)state;
	t->symbols.functions[FUNCTION_INIT_PROCESS].value = 0;
	p = examine(t);
	assert_int_equal(preflight_verdict(p, &problem), 0);
	assert_int_equal(finding(p)->state, CHECK_DEGRADED);
	assert_non_null(strstr(finding(p)->text, "InitProcess is not in /opt/bin/postgres"));
	assert_non_null(strstr(finding(p)->text, "join"));
	free(p);
}

static void without_the_accept_function_queue_and_fork_are_missing(void **state)
{
	struct target *t = server(17);
	struct preflight *p;

	(void)state;
	t->symbols.functions[FUNCTION_ACCEPT_CONNECTION].value = 0;
	p = examine(t);
	assert_non_null(strstr(finding(p)->text, "AcceptConnection"));
	assert_non_null(strstr(finding(p)->text, "queue and fork"));
	assert_int_equal(count(p, CHECK_DEGRADED), 1);
	free(p);
}

static void without_errcode_the_sqlstate_is_missing(void **state)
{
	struct target *t = server(13);
	struct preflight *p;

	(void)state;
	t->symbols.functions[FUNCTION_ERRCODE].value = 0;
	p = examine(t);
	assert_non_null(strstr(finding(p)->text, "SQLSTATE"));
	free(p);
}

static void without_any_ready_marker_it_cannot_trace(void **state)
{
	struct target *t = server(17);
	struct problem problem;
	struct preflight *p;

	(void)state;
	t->symbols.functions[FUNCTION_EVENT_TRIGGER_LOGIN].value = 0;
	p = examine(t);
	assert_int_equal(preflight_verdict(p, &problem), -ENOTSUP);
	assert_non_null(strstr(problem.text, "EventTriggerOnLogin"));
	free(p);
	t = server(17);
	t->symbols.functions[FUNCTION_EVENT_TRIGGER_LOGIN].value = 0;
	t->symbols.functions[FUNCTION_BEGIN_REPORTING].value = 1;
	p = examine(t);
	assert_int_equal(preflight_verdict(p, &problem), 0);
	assert_non_null(strstr(finding(p)->text, "login"));
	free(p);
}

static void versions_too_old_or_untested_are_told(void **state)
{
	struct preflight *p = examine(server(12));
	struct problem problem;

	(void)state;
	assert_int_equal(preflight_verdict(p, &problem), -ENOTSUP);
	assert_non_null(strstr(problem.text, "12.4 is too old"));
	free(p);
	p = examine(server(21));
	assert_int_equal(finding(p)->state, CHECK_DEGRADED);
	assert_non_null(strstr(finding(p)->text, "21.4"));
	free(p);
}

static void settings_that_cannot_be_read_are_named(void **state)
{
	struct target *t = server(15);
	struct preflight *p;

	(void)state;
	t->session.settings.has_log_line_prefix = false;
	p = examine(t);
	assert_string_equal(finding(p)->name, "settings");
	assert_non_null(strstr(finding(p)->text, "log_line_prefix cannot be read"));
	free(p);
}

static void a_missing_btf_file_is_named_with_its_remedy(void **state)
{
	struct preflight *p = calloc(1, sizeof(*p));
	bool told = false;

	(void)state;
	preflight_host(p, "/nonexistent/btf");
	for (int i = 0; i < p->count; i++)
		if (!strcmp(p->checks[i].name, "btf") && p->checks[i].state == CHECK_MISSING)
			told = strstr(p->checks[i].text, "/nonexistent/btf") &&
			       p->checks[i].remedy[0];
	assert_true(told);
	free(p);
}

static void a_file_without_btf_is_told_from_a_missing_one(void **state)
{
	struct preflight *p = calloc(1, sizeof(*p));
	bool told = false;

	(void)state;
	preflight_host(p, "/etc/passwd");
	for (int i = 0; i < p->count; i++)
		told |= strstr(p->checks[i].text, "no BTF in it") != NULL;
	assert_true(told);
	free(p);
}

static void every_finding_has_a_remedy_and_ends_without_a_full_stop(void **state)
{
	struct target *t = server(15);
	struct preflight *p;

	(void)state;
	memset(t->symbols.functions, 0, sizeof(t->symbols.functions));
	memset(&t->session.settings, 0, sizeof(t->session.settings));
	t->symbols.version[0] = '\0';
	p = examine(t);
	preflight_host(p, "/nonexistent/btf");
	for (int i = 0; i < p->count; i++) {
		assert_true(p->checks[i].state == CHECK_OK || p->checks[i].remedy[0]);
		assert_true(p->checks[i].text[strlen(p->checks[i].text) - 1] != '.');
	}
	assert_true(count(p, CHECK_MISSING) >= 3);
	free(p);
}

static void confidentiality_lockdown_is_recognised(void **state)
{
	(void)state;
	assert_true(preflight_locked_down("none integrity [confidentiality]\n"));
	assert_false(preflight_locked_down("none [integrity] confidentiality\n"));
	assert_false(preflight_locked_down("[none] integrity confidentiality\n"));
	assert_false(preflight_locked_down(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_server_of_any_version_passes),
		cmocka_unit_test(without_pg_getnameinfo_all_it_cannot_trace),
		cmocka_unit_test(a_missing_function_names_itself_its_file_and_its_phase),
		cmocka_unit_test(without_the_accept_function_queue_and_fork_are_missing),
		cmocka_unit_test(without_errcode_the_sqlstate_is_missing),
		cmocka_unit_test(without_any_ready_marker_it_cannot_trace),
		cmocka_unit_test(versions_too_old_or_untested_are_told),
		cmocka_unit_test(settings_that_cannot_be_read_are_named),
		cmocka_unit_test(a_missing_btf_file_is_named_with_its_remedy),
		cmocka_unit_test(a_file_without_btf_is_told_from_a_missing_one),
		cmocka_unit_test(every_finding_has_a_remedy_and_ends_without_a_full_stop),
		cmocka_unit_test(confidentiality_lockdown_is_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
