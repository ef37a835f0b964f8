/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "target/preflight.h"

#define VERSION_FIRST  13
#define VERSION_TESTED 18 /* the last one that was run */

#define EXPORTS                                                                                    \
	"use a build that exports its functions (linked with --export-dynamic, as Debian's and "   \
	"PGDG's "                                                                                  \
	"packages are)"

static void executable_check(struct preflight *p, const struct target *t)
{
	struct check *check = preflight_add(p, "executable", CHECK_OK);
	bool deleted = strstr(t->exe_name, " (deleted)");

	snprintf(check->text, sizeof(check->text), "%.256s%s", t->exe_name,
		 deleted ? ": replaced on disk, the file that runs is traced" : "");
}

static void version_check(struct preflight *p, const struct target *t)
{
	const struct symbols *s = &t->symbols;
	struct check *check;

	if (!s->version[0]) {
		check = preflight_add(p, "version", CHECK_DEGRADED);
		snprintf(check->text, sizeof(check->text),
			 "the executable names no PostgreSQL version; going by its functions it is "
			 "%d or later",
			 s->major);
		snprintf(check->remedy, sizeof(check->remedy),
			 "see that what it tells is plausible");
	} else if (s->major < VERSION_FIRST) {
		check = preflight_add(p, "version", CHECK_MISSING);
		snprintf(check->text, sizeof(check->text), "PostgreSQL %s is too old", s->version);
		snprintf(check->remedy, sizeof(check->remedy), "PostgreSQL %d or later is needed",
			 VERSION_FIRST);
	} else if (s->major > VERSION_TESTED) {
		check = preflight_add(p, "version", CHECK_DEGRADED);
		snprintf(check->text, sizeof(check->text),
			 "PostgreSQL %s is later than any that this program was tested with (%d)",
			 s->version, VERSION_TESTED);
		snprintf(check->remedy, sizeof(check->remedy),
			 "see that what it tells is plausible");
	} else {
		check = preflight_add(p, "version", CHECK_OK);
		snprintf(check->text, sizeof(check->text), "PostgreSQL %s", s->version);
	}
}

static void function_missing(struct preflight *p, const struct target *t, enum function f)
{
	bool fatal = f == FUNCTION_GETNAMEINFO;
	struct check *check = preflight_add(p, "symbols", fatal ? CHECK_MISSING : CHECK_DEGRADED);
	char loss[FUNCTION_LOSS_LEN];

	snprintf(check->text, sizeof(check->text), "function %s is not in %.256s: %s",
		 function_symbol(f), t->exe_name, function_loss(f, loss, sizeof(loss)));
	snprintf(check->remedy, sizeof(check->remedy), EXPORTS);
}

static void ready_missing(struct preflight *p, const struct target *t)
{
	struct check *check = preflight_add(p, "symbols", CHECK_MISSING);

	snprintf(check->text, sizeof(check->text),
		 "no function that marks a connection as ready (%s) is in %.256s",
		 function_symbol(function_ready(t->symbols.major, &(bool){ false })), t->exe_name);
	snprintf(check->remedy, sizeof(check->remedy), EXPORTS);
}

static void functions_check(struct preflight *p, const struct target *t)
{
	const struct symbols *s = &t->symbols;
	int before = p->count;
	bool at_return;

	for (enum function f = 0; f < FUNCTION_COUNT; f++)
		if (!s->functions[f].value && function_expected(f, s->major))
			function_missing(p, t, f);
	if (symbols_ready(s, &at_return) == FUNCTION_COUNT)
		ready_missing(p, t);
	if (p->count == before)
		snprintf(preflight_add(p, "symbols", CHECK_OK)->text, sizeof(p->checks[0].text),
			 "every function that marks a phase is there");
}

static void settings_check(struct preflight *p, const struct target *t)
{
	const struct settings *s = &t->session.settings;
	bool all = s->has_log_hostname && s->has_log_line_prefix;
	struct check *check = preflight_add(p, "settings", all ? CHECK_OK : CHECK_DEGRADED);

	if (all) {
		snprintf(check->text, sizeof(check->text), "log_hostname is %s",
			 s->log_hostname ? "on" : "off");
		return;
	}
	snprintf(check->text, sizeof(check->text),
		 "%s%s%s cannot be read from the server's memory: the verdict does without",
		 s->has_log_hostname ? "" : "log_hostname",
		 s->has_log_hostname || s->has_log_line_prefix ? "" : " and ",
		 s->has_log_line_prefix ? "" : "log_line_prefix");
	snprintf(check->remedy, sizeof(check->remedy), EXPORTS);
}

/* Single-stepping is no fault, but it costs; where it happens, say how much. */
static void cost_check(struct preflight *p, const struct target *t)
{
	int probes = 0, stepped = 0;
	struct check *check;

	for (enum function f = 0; f < FUNCTION_COUNT; f++) {
		if (!t->symbols.functions[f].value || !function_expected(f, t->symbols.major))
			continue;
		probes++;
		stepped += t->symbols.functions[f].single_stepped;
	}
	check = preflight_add(p, "cost", CHECK_OK);
	snprintf(check->text, sizeof(check->text),
		 stepped ? "%d of %d probed functions begin with an instruction that the kernel "
			   "single-steps (about 12 us each)"
			 : "%d of %d probed functions are single-stepped",
		 stepped, probes);
}

static void libc_check(struct preflight *p, const struct target *t)
{
	char path[64];
	bool found = !target_library(t, "libc", path, sizeof(path));
	struct check *check = preflight_add(p, "libc", found ? CHECK_OK : CHECK_DEGRADED);

	snprintf(check->text, sizeof(check->text), "%s",
		 found ? t->session.resolver.libc
		       : "the server has no C library mapped: forward lookups (pg_hba host names, "
			 "LDAP) "
			 "are not told");
	if (!found)
		snprintf(check->remedy, sizeof(check->remedy),
			 "use a build that links libc dynamically");
}

static void seccomp_check(struct preflight *p, const struct target *t)
{
	bool filtered = target_has_seccomp(t);
	struct check *check = preflight_add(p, "seccomp", CHECK_OK);

	snprintf(
		check->text, sizeof(check->text), "%s",
		filtered
			? "the server runs under a filter; return probes are tried on a process of "
			  "our own before they are used"
			: "the server runs without a filter");
}

void preflight_target(struct preflight *p, const struct target *t)
{
	executable_check(p, t);
	version_check(p, t);
	functions_check(p, t);
	settings_check(p, t);
	cost_check(p, t);
	libc_check(p, t);
	seccomp_check(p, t);
}
