// SPDX-License-Identifier: BSD-2-Clause
#include "cli_parse.h"

#include <stdio.h>

#include "base/exit.h"
#include "base/log.h"

enum { OPT_USAGE = 0x10000 };

static const struct argp_option common_options[] = {
	{ "verbose", 'v', 0, 0, "Say more (twice: libbpf's messages too)", -1 },
	{ "version", 'V', 0, 0, "Print the version", -1 },
	{ "help", 'h', 0, 0, "This help", -1 },
	{ "usage", OPT_USAGE, 0, OPTION_HIDDEN, 0, -1 },
	{ 0 },
};

/* The command is this parser's first child and gets the input. */
static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		break;
	case 'v':
		log_set_level(log_level() < LOG_DEBUG ? LOG_DEBUG : LOG_TRACE);
		break;
	case 'V':
		puts("pgdnstrace " PGDNSTRACE_VERSION);
		exit(EXIT_DONE);
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case OPT_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void cli_parse(const struct argp *command, int argc, char **argv, void *input)
{
	const struct argp_child children[] = { { command, 0, NULL, 0 }, { 0 } };
	const struct argp argp = {
		.options = common_options,
		.parser = parse_common,
		.children = children,
	};

	argp_err_exit_status = EXIT_USAGE;
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, input);
}
