/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of a trace, already parsed as JSON, to an event. Used by trace_read.c alone. */
#ifndef PGDNSTRACE_TRACE_DECODE_H
#define PGDNSTRACE_TRACE_DECODE_H

#include "base/json_in.h"
#include "model/event.h"

/*
 * 1: ev is filled; 0: a type we do not know, to be skipped; -EINVAL: *field names what is wrong.
 * *field and ev->server point into the line.
 */
int trace_decode(struct json_value *line, struct event *ev, const char **field);

#endif
