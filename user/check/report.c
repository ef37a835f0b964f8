/* SPDX-License-Identifier: BSD-2-Clause */
#include "check/report.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "capture/trial.h"
#include "model/timeouts.h"

__attribute__((format(printf, 2, 3))) static void advise(struct report *r, const char *format, ...)
{
	va_list args;

	if (r->advice_count == ADVICE_MAX)
		return;
	va_start(args, format);
	vsnprintf(r->advice[r->advice_count++], ADVICE_LEN, format, args);
	va_end(args);
}

bool report_can_trace(const struct report *r)
{
	struct problem ignored;

	return preflight_verdict(&r->preflight, &ignored) == 0;
}

bool report_log_shows_name(const struct report *r)
{
	const struct settings *s = &r->target->session.settings;

	return (s->printers & ~(1U << PRINTER_TITLE)) != 0 ||
	       log_prefix_uses(s->log_line_prefix, 'h') || log_prefix_uses(s->log_line_prefix, 'r');
}

/* -- can it trace -- */

static void return_probes_check(struct report *r)
{
	bool at_risk = trial_needed() && target_has_seccomp(r->target);
	struct check *check =
		preflight_add(&r->preflight, "return probes", at_risk ? CHECK_DEGRADED : CHECK_OK);

	snprintf(check->text, sizeof(check->text), "%s",
		 at_risk ? "on this kernel a return probe may end a process under a seccomp filter: they are "
			   "tried on a process of our own first, and return sites take their place"
			 : "safe on this kernel");
	if (at_risk)
		snprintf(check->remedy, sizeof(check->remedy), "--no-return-probes avoids even the trial");
}

static void server_missing(struct report *r, const struct problem *problem)
{
	struct check *check = preflight_add(&r->preflight, "server", CHECK_MISSING);

	snprintf(check->text, sizeof(check->text), "%.511s", problem->text);
}

/* -- what to change -- */

static void advise_off(struct report *r)
{
	const struct settings *s = &r->target->session.settings;

	if (report_log_shows_name(r))
		advise(r, "log_hostname makes each TCP connection wait for a reverse lookup; without it the log "
			  "shows the address in the name's place.");
	else
		advise(r, "log_hostname makes each TCP connection wait for a reverse lookup, and the log does "
			  "not even show the name.");
	advise(r, "ALTER SYSTEM SET log_hostname = off;");
	advise(r, "SELECT pg_reload_conf();");
	if (log_prefix_uses(s->log_line_prefix, 'h') || log_prefix_uses(s->log_line_prefix, 'r'))
		advise(r, "Who parses the log finds addresses behind %%h and %%r from then on.");
	advise(r, "Patroni: patronictl edit-config -p log_hostname=off");
	advise(r, "Managed services: log_hostname in the parameter group or flags; --sql looks at it there.");
}

static void advise_names(struct report *r)
{
	bool on = r->target->session.settings.log_hostname;

	advise(r, "Put addresses in the place of the host names in pg_hba.conf: each TCP connection that reaches "
		  "such a rule %s, whatever its user and database.",
	       on ? "adds a forward lookup, and a reverse one as well once log_hostname is off" :
		    "waits for a reverse lookup in auth, and for a forward one when the name matches");
	advise(r, "SELECT file_name, line_number, address FROM pg_hba_file_rules WHERE netmask IS NULL AND "
		  "address NOT IN ('all', 'samehost', 'samenet');");
}

/* Shorter waits for those who have to keep the name. */
static void advise_resolver(struct report *r)
{
	struct resolver shorter = r->target->session.resolver;
	char now[DURATION_TEXT_LEN], then[DURATION_TEXT_LEN];
	uint64_t then_ns;

	shorter.timeout_s = 1;
	shorter.attempts = 2;
	then_ns = timeouts_longest_ns(&shorter, DIRECTION_REVERSE);
	if (then_ns == 0 || then_ns >= r->longest_ns)
		return;
	advise(r, "While names are needed: 'options timeout:1 attempts:2' in the server's /etc/resolv.conf cuts "
		  "the longest wait from %s to %s, and a cache on the host spares most lookups.",
	       duration_format(r->longest_ns, now), duration_format(then_ns, then));
}

static void advise_all(struct report *r)
{
	const struct settings *s = &r->target->session.settings;
	bool names = r->hba.name_count > 0;

	if (!s->has_log_hostname)
		advise(r, "log_hostname cannot be read from here: SHOW log_hostname;");
	if (s->log_hostname)
		advise_off(r);
	if (names)
		advise_names(r);
	if (s->log_hostname || names)
		advise_resolver(r);
	else if (s->has_log_hostname && !r->hba_error && r->hba.problem_count == 0)
		advise(r, "Nothing to change: no connection waits for a name, except where LDAP, RADIUS or PAM "
			  "look one up.");
}

void report_gather(struct report *r, struct target *opened, const struct problem *problem,
		   const char *btf)
{
	memset(r, 0, sizeof(*r));
	preflight_host(&r->preflight, btf);
	if (!opened) {
		server_missing(r, problem);
		return;
	}
	r->target = opened;
	preflight_target(&r->preflight, opened);
	return_probes_check(r);
	target_hba_file(opened, r->hba_file, sizeof(r->hba_file));
	r->hba_error = hba_read(opened->pid, r->hba_file, opened->session.server_major, &r->hba);
	r->longest_ns = timeouts_longest_ns(&opened->session.resolver, DIRECTION_REVERSE);
	advise_all(r);
}

void report_measure(struct report *r)
{
	struct addr clients[MEASURE_MAX];

	r->measured = true;
	r->measurement_count = measure_clients(r->target, clients, MEASURE_MAX);
	r->measure_error =
		measure_lookups(r->target, clients, r->measurement_count, r->measurements);
}
