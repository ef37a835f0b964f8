/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages for people, on standard error. A function either logs or returns an error, never both.
 */
#ifndef PGDNSTRACE_LOG_H
#define PGDNSTRACE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

void log_set_level(enum log_level level); /* LOG_INFO at start; -v is LOG_DEBUG, -vv LOG_TRACE (libbpf's own messages) */
enum log_level log_level(void);
/* Where lines go instead of standard error while a screen owns the terminal; NULL: back. */
void log_set_sink(void (*sink)(enum log_level level, const char *line));

/* "pgdnstrace: " + text + newline; control bytes in the text are made harmless. */
__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_debug(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_trace(const char *format, ...);

#endif
