/* SPDX-License-Identifier: BSD-2-Clause */
/* Who shows the name that log_hostname looks up: settings, and escapes in log_line_prefix. */
#ifndef PGDNSTRACE_PRINTERS_H
#define PGDNSTRACE_PRINTERS_H

#include <stdbool.h>
#include <stddef.h>

/* Settings by which the server shows a client's name, (CONSTANT, "name in files and in text"). */
#define PRINTERS(X)                                                                                \
	X(CONNECTIONS, "log_connections")                                                          \
	X(DISCONNECTIONS, "log_disconnections")                                                    \
	X(CSVLOG, "csvlog")                                                                        \
	X(JSONLOG, "jsonlog")                                                                      \
	X(TITLE, "process title")

#define PRINTERS_ENUM(name, text) PRINTER_##name,
enum printer { PRINTERS(PRINTERS_ENUM) PRINTER_COUNT };
#undef PRINTERS_ENUM
const char *printer_name(enum printer p);
int printer_parse(const char *name); /* or -ENOENT */

/*
 * Whether a session's log lines hold the value of an escape such as 'h', by PostgreSQL's own rules
 * (log_status_format() of 13 to 18): "%-10h" holds it, "%%h" and "% h" do not.
 */
bool log_prefix_uses(const char *prefix, char escape);

#endif
