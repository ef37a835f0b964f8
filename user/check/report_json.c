/* SPDX-License-Identifier: BSD-2-Clause */
/* The report for programs: one JSON object. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "check/report.h"

#define JSON_LEN (1 << 20)

static void put_checks(struct json_out *j, const struct preflight *p)
{
	json_put_open(j, "checks", '[');
	for (int i = 0; i < p->count; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "name", p->checks[i].name);
		json_put_text(j, "state", check_state_name(p->checks[i].state));
		json_put_text(j, "text", p->checks[i].text);
		if (*p->checks[i].remedy)
			json_put_text(j, "remedy", p->checks[i].remedy);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

/* As "start" of a trace has them; what could not be read is absent. */
static void put_settings(struct json_out *j, const struct settings *s)
{
	json_put_open(j, "settings", '{');
	if (s->has_log_hostname)
		json_put_bool(j, "log_hostname", s->log_hostname);
	if (s->has_log_line_prefix) {
		json_put_text(j, "log_line_prefix", s->log_line_prefix);
		json_put_open(j, "prefix_uses", '[');
		if (log_prefix_uses(s->log_line_prefix, 'h'))
			json_put_text(j, NULL, "%h");
		if (log_prefix_uses(s->log_line_prefix, 'r'))
			json_put_text(j, NULL, "%r");
		json_put_close(j, ']');
	}
	if (s->has_printers) {
		json_put_open(j, "name_shown_by", '[');
		for (enum printer p = 0; p < PRINTER_COUNT; p++)
			if (s->printers >> p & 1)
				json_put_text(j, NULL, printer_name(p));
		json_put_close(j, ']');
	}
	json_put_close(j, '}');
}

static void put_hba(struct json_out *j, const struct report *r)
{
	json_put_open(j, "pg_hba", '{');
	json_put_text(j, "file", r->hba_file);
	if (r->hba_error) {
		json_put_text(j, "error", strerror(-r->hba_error));
		json_put_close(j, '}');
		return;
	}
	json_put_int(j, "rules", r->hba.rule_count);
	json_put_int(j, "host_name_rule_count", r->hba.name_count);
	json_put_open(j, "host_name_rules", '[');
	for (int i = 0; i < r->hba.name_count && i < HBA_RULES; i++) {
		json_put_open(j, NULL, '{');
		json_put_text(j, "name", r->hba.names[i].name);
		json_put_text(j, "file", r->hba.names[i].file);
		json_put_int(j, "line", r->hba.names[i].line);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
	json_put_open(j, "not_read", '[');
	for (int i = 0; i < r->hba.problem_count; i++)
		json_put_text(j, NULL, r->hba.problems[i]);
	json_put_close(j, ']');
	json_put_close(j, '}');
}

static void put_resolver(struct json_out *j, const struct report *r)
{
	const struct resolver *res = &r->target->session.resolver;

	if (!res->has)
		return;
	json_put_open(j, "resolver", '{');
	json_put_open(j, "hosts", '[');
	for (unsigned int i = 0; i < res->host_count; i++)
		json_put_text(j, NULL, res->hosts[i]);
	json_put_close(j, ']');
	json_put_open(j, "nameservers", '[');
	for (unsigned int i = 0; i < res->nameserver_count; i++)
		json_put_text(j, NULL, res->nameservers[i]);
	json_put_close(j, ']');
	json_put_int(j, "timeout_s", res->timeout_s);
	json_put_int(j, "attempts", res->attempts);
	if (r->longest_ns)
		json_put_us(j, "longest_wait_us", r->longest_ns);
	json_put_close(j, '}');
}

static void put_measurements(struct json_out *j, const struct report *r)
{
	char address[ADDR_TEXT_LEN];

	if (!r->measured)
		return;
	if (r->measure_error)
		json_put_text(j, "measure_error", strerror(-r->measure_error));
	json_put_open(j, "measured", '[');
	for (int i = 0; i < r->measurement_count && !r->measure_error; i++) {
		const struct measurement *m = &r->measurements[i];

		json_put_open(j, NULL, '{');
		json_put_text(j, "address", addr_format(&m->address, address));
		json_put_us(j, "dur_us", m->dur_ns);
		json_put_text(j, "result", result_name(m->result));
		if (m->result != RESULT_PENDING)
			json_put_int(j, "code", m->code);
		if (m->result == RESULT_NAME)
			json_put_text(j, "name", m->name);
		json_put_close(j, '}');
	}
	json_put_close(j, ']');
}

static void put_server(struct json_out *j, const struct report *r)
{
	const struct session *s = &r->target->session;

	json_put_open(j, "server", '{');
	json_put_int(j, "postmaster", s->postmaster);
	json_put_text(j, "server_version", s->server_version);
	json_put_int(j, "port", s->port);
	json_put_text(j, "data_directory", s->data_directory);
	json_put_open(j, "missing_phases", '[');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		if (s->missing_phases >> p & 1)
			json_put_text(j, NULL, phase_name(p));
	json_put_close(j, ']');
	put_settings(j, &s->settings);
	put_hba(j, r);
	put_resolver(j, r);
	put_measurements(j, r);
	json_put_close(j, '}');
	json_put_open(j, "advice", '[');
	for (int i = 0; i < r->advice_count; i++)
		json_put_text(j, NULL, r->advice[i]);
	json_put_close(j, ']');
}

int report_json(const struct report *r, FILE *out)
{
	char *buf = malloc(JSON_LEN);
	struct json_out j;
	int ret = 0;

	if (!buf)
		return -ENOMEM;
	json_put_start(&j, buf, JSON_LEN);
	json_put_open(&j, NULL, '{');
	json_put_bool(&j, "can_trace", report_can_trace(r));
	put_checks(&j, &r->preflight);
	if (r->target)
		put_server(&j, r);
	json_put_close(&j, '}');
	json_put_raw(&j, "\n", 1);
	errno = EIO;
	if (j.full)
		ret = -ENOBUFS;
	else if (fwrite(buf, 1, j.used, out) != j.used || fflush(out))
		ret = -errno;
	free(buf);
	return ret;
}
