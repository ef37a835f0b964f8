/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/safe.h"

#define LOG_TEXT_LEN 4096

static enum log_level level_now = LOG_INFO;
static void (*sink_now)(enum log_level level, const char *line);

void log_set_level(enum log_level level)
{
	level_now = level;
}

enum log_level log_level(void)
{
	return level_now;
}

void log_set_sink(void (*sink)(enum log_level level, const char *line))
{
	sink_now = sink;
}

/* A further line is indented, so that no text can forge a message of its own. */
static void log_line(enum log_level level, const char *line, bool first)
{
	char safe[LOG_TEXT_LEN];

	safe_terminal(line, safe, sizeof(safe));
	if (sink_now)
		sink_now(level, safe);
	else
		fprintf(stderr, "%s%s\n", first ? "pgdnstrace: " : "            ", safe);
}

__attribute__((format(printf, 2, 0))) static void log_write(enum log_level level,
							    const char *format, va_list args)
{
	char text[LOG_TEXT_LEN], *line = text, *next;
	bool first = true;

	if (level > level_now)
		return;
	vsnprintf(text, sizeof(text), format, args);
	while ((next = strsep(&line, "\n"))) {
		if (first || *next)
			log_line(level, next, first);
		first = false;
	}
}

#define LOG_FUNCTION(name, level)                                                                  \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		log_write(level, format, args);                                                    \
		va_end(args);                                                                      \
	}

LOG_FUNCTION(log_error, LOG_ERROR)
LOG_FUNCTION(log_warn, LOG_WARN)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)
LOG_FUNCTION(log_trace, LOG_TRACE)
