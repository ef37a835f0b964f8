/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands, one a file (cmd_*.c). argv[0] is the program's name with the command's. Each returns an exit code. */
#ifndef PGDNSTRACE_COMMANDS_H
#define PGDNSTRACE_COMMANDS_H

/* (name, what it does in a line); trace is the one without a name */
#define COMMANDS(X)                                                                                \
	X(replay, "the same views from a trace file")                                              \
	X(check, "can it trace here, and what do this server's settings cost?")                    \
	X(export, "a trace as csv, perfetto or otlp")                                              \
	X(report, "a trace as one self-contained HTML page")                                       \
	X(merge, "several traces as one, in order of time")

#define COMMAND_PROTOTYPE(name, text) int cmd_##name(int argc, char **argv);
COMMANDS(COMMAND_PROTOTYPE)
#undef COMMAND_PROTOTYPE

int cmd_trace(int argc, char **argv);

#endif
