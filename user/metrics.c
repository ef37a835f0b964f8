// SPDX-License-Identifier: BSD-2-Clause
#include "metrics.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "export/metrics_http.h"
#include "export/prometheus.h"

int metrics_open(struct metrics *m, const char *file, const char *listen, char *err, size_t err_len)
{
	int ret;

	m->file = file;
	if (!listen)
		return 0;
	ret = metrics_http_start(&m->http, listen, err, err_len);
	if (!ret)
		log_info("metrics at port %u, path /metrics", metrics_http_port(m->http));
	return ret;
}

static void metrics_fail(struct metrics *m, const char *where, int err)
{
	if (!m->failed)
		log_error("cannot write the metrics (%s): %s; the trace goes on", where, strerror(-err));
	m->failed = true;
}

void metrics_update(struct metrics *m, struct stats *s)
{
	size_t len;
	char *text;
	int err;

	if (m->file) {
		err = prometheus_write(m->file, s);
		if (err)
			metrics_fail(m, m->file, err);
	}
	if (!m->http)
		return;
	text = prometheus_text(s, &len);
	err = text ? metrics_http_update(m->http, text, len) : -ENOMEM;
	if (err)
		metrics_fail(m, "HTTP", err);
}

void metrics_close(struct metrics *m)
{
	metrics_http_stop(m->http);
	m->http = NULL;
}
