// SPDX-License-Identifier: BSD-2-Clause
/* pgdnstrace: where new PostgreSQL connections wait. Picks the command; without one it traces. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND_ROW(name, text) { #name, cmd_##name },
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

/* Runs a command with argv[0] "pgdnstrace replay", which its messages and help begin with. */
static int run_command(int (*run)(int, char **), int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "pgdnstrace %s", argv[1]);
	argv[1] = name;
	return run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* never LC_NUMERIC: it would put commas into JSON */
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run_command(commands[i].run, argc, argv);
	return cmd_trace(argc, argv);
}
