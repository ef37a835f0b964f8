/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics as Prometheus metrics, text format 0.0.4. No label has a value that clients
 * choose: the number of series is bounded. What was not measured has no line.
 */
#ifndef PGDNSTRACE_PROMETHEUS_H
#define PGDNSTRACE_PROMETHEUS_H

#include <stddef.h>
#include <stdio.h>

#include "model/stats.h"

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* 0 or -errno of the stream. */
int prometheus_render(FILE *out, struct stats *s);
/* The same as a string that the caller frees; NULL: out of memory. */
char *prometheus_text(struct stats *s, size_t *len);
/* For --prometheus FILE: written beside it and renamed, mode 0644. 0 or -errno. */
int prometheus_write(const char *path, struct stats *s);

#endif
