/* SPDX-License-Identifier: BSD-2-Clause */
/* The report for people: 80 columns. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"
#include "check/report.h"
#include "show/name.h"

#define COLUMNS	 80
#define INDENT	 19
#define LINE_LEN 4096

/* Words behind what stands on the line already; further lines are indented. */
static void wrap(FILE *out, const char *words, int used, int indent)
{
	char word[LINE_LEN];
	const char *gap = "";

	while (*words) {
		int len = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s", len, words);
		if (*gap && used + 1 + safe_columns(word) > COLUMNS) {
			used = fprintf(out, "\n%*s", indent, "") - 1;
			gap = "";
		}
		used += fprintf(out, "%s", gap);
		fputs(word, out);
		used += safe_columns(word);
		gap = " ";
		words += len + strspn(words + len, " ");
	}
	fputc('\n', out);
}

/* "  LABEL          text", made safe. */
static void row(FILE *out, const char *label, const char *text)
{
	char safe[LINE_LEN];

	fprintf(out, "  %-*s", INDENT - 2, label);
	wrap(out, show_name(text, show_utf8(), safe, sizeof(safe)), INDENT, INDENT);
}

/* -- can it trace -- */

static void put_checks(const struct report *r, FILE *out)
{
	char label[64], text[LINE_LEN];

	fputs("Can it trace here?\n", out);
	for (int i = 0; i < r->preflight.count; i++) {
		const struct check *c = &r->preflight.checks[i];

		snprintf(label, sizeof(label), "%s", c->name);
		snprintf(text, sizeof(text), "%s: %s", check_state_name(c->state), c->text);
		row(out, label, text);
		if (*c->remedy) {
			snprintf(text, sizeof(text), "-> %s", c->remedy);
			row(out, "", text);
		}
	}
}

static bool lacks_privileges(const struct report *r)
{
	for (int i = 0; i < r->preflight.count; i++)
		if (r->preflight.checks[i].state != CHECK_OK && !strcmp(r->preflight.checks[i].name, "privileges"))
			return true;
	return false;
}

static void put_kubernetes(const struct report *r, FILE *out)
{
	if (!lacks_privileges(r))
		return;
	fputs("\nIn Kubernetes, for a debug container on the server's node:\n"
	      "  hostPID: true\n"
	      "  containers:\n"
	      "    - securityContext:\n"
	      "        runAsUser: 0\n"
	      "        capabilities:\n"
	      "          add: [BPF, PERFMON, SYS_PTRACE, SYS_ADMIN]\n",
	      out);
}

/* -- the server's settings -- */

static void put_printers(const struct report *r, FILE *out)
{
	const struct settings *s = &r->target->session.settings;
	char text[LINE_LEN] = "";
	size_t used = 0;

	for (const char *escape = "hr"; *escape && s->has_log_line_prefix; escape++)
		if (log_prefix_uses(s->log_line_prefix, *escape))
			used += snprintf(text + used, sizeof(text) - used, "%s%%%c in log_line_prefix",
					 used ? ", " : "", *escape);
	for (enum printer p = 0; p < PRINTER_COUNT; p++)
		if (s->printers >> p & 1)
			used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					 printer_name(p));
	if (!s->has_log_line_prefix || !s->has_printers)
		row(out, "name shown by", "cannot be read from here");
	else
		row(out, "name shown by", used ? text : "nothing that can be seen from here");
	row(out, "not seen here", "readers of pg_stat_activity.client_hostname; programs that parse the log");
}

static void put_names(const struct report *r, FILE *out)
{
	char text[LINE_LEN];

	if (r->hba_error) {
		snprintf(text, sizeof(text), "%s cannot be read: %s", r->hba_file, strerror(-r->hba_error));
		row(out, "host name rules", text);
		return;
	}
	if (r->hba.name_count == 0) {
		snprintf(text, sizeof(text), "none among %d rules of %s", r->hba.rule_count, r->hba_file);
		row(out, "host name rules", text);
	}
	for (int i = 0; i < r->hba.name_count && i < HBA_RULES; i++) {
		const struct hba_rule *rule = &r->hba.names[i];

		snprintf(text, sizeof(text), "%s (%s:%d)", rule->name, rule->file, rule->line);
		row(out, i == 0 ? "host name rules" : "", text);
	}
	for (int i = 0; i < r->hba.problem_count; i++)
		row(out, "not read", r->hba.problems[i]);
}

static void put_resolver(const struct report *r, FILE *out)
{
	const struct resolver *res = &r->target->session.resolver;
	char text[LINE_LEN] = "", longest[DURATION_TEXT_LEN];
	size_t used = 0;

	if (!res->has) {
		row(out, "resolver", "its files cannot be read");
		return;
	}
	for (unsigned int i = 0; i < res->host_count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s ", res->hosts[i]);
	for (unsigned int i = 0; i < res->nameserver_count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "by ",
				 res->nameservers[i]);
	snprintf(text + used, sizeof(text) - used, "; timeout %ds, %d attempts (%s%s)", res->timeout_s,
		 res->attempts, *res->libc ? res->libc : "C library unknown", res->nscd ? ", nscd" : "");
	row(out, "resolver", text);
	if (r->longest_ns == 0)
		row(out, "longest wait", "not known: another service than the C library asks");
	else
		row(out, "longest wait", duration_format(r->longest_ns, longest));
}

static void put_settings(const struct report *r, FILE *out)
{
	const struct session *s = &r->target->session;
	char text[LINE_LEN];

	snprintf(text, sizeof(text), "PostgreSQL %s port %d pid %d, %s", s->server_version, s->port,
		 s->postmaster, s->data_directory);
	fputs("\nWhat do this server's settings cost?\n", out);
	row(out, "server", text);
	row(out, "log_hostname",
	    !s->settings.has_log_hostname ? "cannot be read from here" :
	    s->settings.log_hostname	  ? "on: each new TCP connection waits for a reverse lookup" :
					    "off");
	put_printers(r, out);
	put_names(r, out);
	put_resolver(r, out);
}

/* -- measured -- */

static void put_measurement(const struct measurement *m, FILE *out)
{
	char text[LINE_LEN], took[DURATION_TEXT_LEN], address[ADDR_TEXT_LEN], code[24];

	duration_format(m->dur_ns, took);
	if (m->result == RESULT_PENDING)
		snprintf(text, sizeof(text), "no answer within %s", took);
	else if (m->result == RESULT_FAILED)
		snprintf(text, sizeof(text), "%s, failed (%s)", took, eai_name(m->code, code));
	else
		snprintf(text, sizeof(text), "%s, %s", took, m->result == RESULT_NAME ? m->name : "no name");
	row(out, addr_format(&m->address, address), text);
}

static void put_measurements(const struct report *r, FILE *out)
{
	if (!r->measured)
		return;
	fputs("\nReverse lookups of clients connected now or lately, by the server's resolver:\n", out);
	if (r->measure_error) {
		fprintf(out, "  not measured: %s\n", strerror(-r->measure_error));
		return;
	}
	if (r->measurement_count == 0)
		fputs("  there is none\n", out);
	for (int i = 0; i < r->measurement_count; i++)
		put_measurement(&r->measurements[i], out);
}

/* -- the whole -- */

static void put_advice(const struct report *r, FILE *out)
{
	char safe[LINE_LEN];

	fputs("\nWhat to change:\n", out);
	for (int i = 0; i < r->advice_count; i++) {
		int used = fprintf(out, "  ");

		wrap(out, show_name(r->advice[i], show_utf8(), safe, sizeof(safe)), used, 4);
	}
}

int report_text(const struct report *r, FILE *out)
{
	put_checks(r, out);
	put_kubernetes(r, out);
	if (r->target) {
		put_settings(r, out);
		put_measurements(r, out);
		put_advice(r, out);
	}
	errno = EIO;
	return fflush(out) || ferror(out) ? -errno : 0;
}
