/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command lines of all commands have in common: -h, -V, -v, and exit code 2 for mistakes. */
#ifndef PGDNSTRACE_CLI_PARSE_H
#define PGDNSTRACE_CLI_PARSE_H

#include <argp.h>

/* Parses argv for a command; argp's state->input is input. On a mistake it says so and exits. */
void cli_parse(const struct argp *command, int argc, char **argv, void *input);

#endif
