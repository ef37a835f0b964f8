/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit codes: the table that the program, its help and its man page share. */
#ifndef PGDNSTRACE_EXIT_H
#define PGDNSTRACE_EXIT_H

/* stdlib's EXIT_FAILURE is a macro with the same meaning and value: ours takes its place. */
#include <stdlib.h>
#undef EXIT_FAILURE

#define EXIT_CODES(X)                                                                              \
	X(DONE, 0, "done")                                                                         \
	X(FAILURE, 1, "failure")                                                                   \
	X(USAGE, 2, "usage")                                                                       \
	X(CANNOT_TRACE, 3, "this host cannot trace (privilege, kernel, symbols)")                  \
	X(NO_POSTMASTER, 4, "no such postmaster, or a PID that is not one")                        \
	X(SERVER_ENDED, 5, "the traced server ended")

#define EXIT_ENUM(name, code, text) EXIT_##name = code,
enum exit_code { EXIT_CODES(EXIT_ENUM) };
#undef EXIT_ENUM

/* What a code means, NULL for a number that is none. */
const char *exit_text(int code);

#endif
