/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --listen: GET /metrics over HTTP, in a thread of its own. The thread never sees the statistics:
 * it serves the last text that was handed over. Bounded: 16 connections, 5 s, 8 KiB a request.
 */
#ifndef PGDNSTRACE_METRICS_HTTP_H
#define PGDNSTRACE_METRICS_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct metrics_http;

/*
 * where: "PORT", ":PORT", "ADDR:PORT" or "[ADDR]:PORT"; loopback without an address; port 0 takes a
 * free one. 0 or -errno with a sentence for the user in err. Answers 503 until the first update.
 */
int metrics_http_start(struct metrics_http **h, const char *where, char *err, size_t err_len);
uint16_t metrics_http_port(const struct metrics_http *h);
/* Takes over text (malloc'ed), also when it fails: 0 or -ENOMEM. */
int metrics_http_update(struct metrics_http *h, char *text, size_t len);
void metrics_http_stop(struct metrics_http *h); /* accepts NULL */

#endif
