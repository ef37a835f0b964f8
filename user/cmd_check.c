/* SPDX-License-Identifier: BSD-2-Clause */
/* pgdnstrace check [TARGET] [--json] [--measure] [--sql] */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "check/report.h"
#include "cli_parse.h"
#include "commands.h"

enum { OPT_PORT = 256, OPT_JSON, OPT_MEASURE, OPT_SQL, OPT_BTF };

struct arguments {
	struct target_query query;
	const char *btf;
	bool json, measure, sql;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "The postmaster (default: the only one running)", 1 },
	{ "pgdata", 'D', "DIR", 0, "The postmaster of this data directory", 1 },
	{ "port", OPT_PORT, "PORT", 0, "The postmaster that listens there", 1 },
	{ "json", OPT_JSON, 0, 0, "One JSON object", 2 },
	{ "measure", OPT_MEASURE, 0, 0,
	  "Look up a few clients with the server's own resolver, beside the server (30 s at most)", 2 },
	{ "sql", OPT_SQL, 0, 0, "Only print queries for a server that is no process of this host", 2 },
	{ "btf", OPT_BTF, "FILE", 0, "Another BTF file than the kernel's", 2 },
	{ 0 },
};

static int number_of(const char *arg, int max, struct argp_state *state)
{
	char *end;
	long value = strtol(arg, &end, 10);

	if (end == arg || *end || value < 1 || value > max)
		argp_error(state, "a number from 1 to %d is needed, not '%s'", max, arg);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'p':
		a->query.pid = number_of(arg, 1 << 22, state);
		break;
	case 'D':
		a->query.pgdata = arg;
		break;
	case OPT_PORT:
		a->query.port = number_of(arg, 65535, state);
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case OPT_MEASURE:
		a->measure = true;
		break;
	case OPT_SQL:
		a->sql = true;
		break;
	case OPT_BTF:
		a->btf = arg;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option (a PID is given with -p)", arg);
		break;
	case ARGP_KEY_END:
		if (!!a->query.pid + !!a->query.pgdata + !!a->query.port > 1)
			argp_error(state, "one of --pid, --pgdata and --port names the server, not several");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* A server that is not there, or not named, is no matter of this host's abilities. */
static enum exit_code no_server(const struct problem *problem)
{
	log_error("%s", problem->text);
	if (problem->several)
		target_list(stderr);
	return problem->exit_code;
}

static enum exit_code written(int err)
{
	if (!err || err == -EPIPE)
		return EXIT_DONE;
	log_error("standard output: %s", strerror(-err));
	return EXIT_FAILURE;
}

static enum exit_code check(const struct arguments *a)
{
	static struct report report;
	static struct target target;
	struct problem problem = { .exit_code = EXIT_FAILURE };
	int opened = target_open(&a->query, &target, &problem);
	enum exit_code code;

	if (opened && problem.exit_code != EXIT_CANNOT_TRACE)
		return no_server(&problem);
	report_gather(&report, opened ? NULL : &target, &problem, a->btf);
	if (a->measure && report.target)
		report_measure(&report);
	code = written(a->json ? report_json(&report, stdout) : report_text(&report, stdout));
	if (!opened)
		target_close(&target);
	if (code == EXIT_DONE && !report_can_trace(&report))
		code = EXIT_CANNOT_TRACE;
	return code;
}

int cmd_check(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Says whether this host can trace the server, and what the server's settings make its "
		       "connections wait for. Changes nothing, attaches nothing."
		       "\v"
		       "Exit: 0 it can trace; 3 it cannot; 2 usage; 4 no such postmaster."
	};
	struct arguments a = { 0 };

	cli_parse(&argp, argc, argv, &a);
	signal(SIGPIPE, SIG_IGN);
	return a.sql ? written(report_sql(stdout)) : check(&a);
}
