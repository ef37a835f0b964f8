/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/metrics_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "export/prometheus.h"

#define CONNECTIONS    16
#define TIMEOUT_S      5
#define REQUEST_MEMORY 8192

struct metrics_http {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* guards current */
	struct MHD_Response *current; /* NULL: nothing was measured yet */
};

/* -- the address -- */

union endpoint {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || value > UINT16_MAX)
		return -EINVAL;
	*port = htons(value);
	return 0;
}

static int parse_address(const char *text, union endpoint *e)
{
	if (inet_pton(AF_INET, text, &e->v4.sin_addr) == 1)
		e->any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &e->v6.sin6_addr) == 1)
		e->any.sa_family = AF_INET6;
	else
		return -EINVAL;
	return 0;
}

/* Splits at the last colon; brackets go. address is "" when there is none. */
static int split(const char *where, char *address, size_t len, const char **port)
{
	const char *colon = strrchr(where, ':'), *start = where, *end = colon;

	*port = colon ? colon + 1 : where;
	address[0] = '\0';
	if (!colon || colon == where)
		return 0;
	if (start[0] == '[' && end[-1] == ']') {
		start++;
		end--;
	} else if (memchr(start, ':', end - start)) {
		return -EINVAL; /* IPv6 without brackets: which colon is the port's? */
	}
	if (end - start >= (ptrdiff_t)len)
		return -EINVAL;
	memcpy(address, start, end - start);
	address[end - start] = '\0';
	return 0;
}

static int parse_endpoint(const char *where, union endpoint *e)
{
	char address[INET6_ADDRSTRLEN];
	const char *port;
	int rc = split(where, address, sizeof(address), &port);

	memset(e, 0, sizeof(*e));
	if (rc < 0)
		return rc;
	rc = parse_address(address[0] ? address : "127.0.0.1", e);
	if (rc < 0)
		return rc;
	return parse_port(port, e->any.sa_family == AF_INET ? &e->v4.sin_port : &e->v6.sin6_port);
}

/* -- requests, in the daemon's thread -- */

static enum MHD_Result answer_plain(struct MHD_Connection *c, unsigned int status, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text,
						MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

/* The response is counted: one in flight outlives its replacement. */
static enum MHD_Result answer_metrics(struct metrics_http *h, struct MHD_Connection *c)
{
	enum MHD_Result result = MHD_NO;
	bool has;

	pthread_mutex_lock(&h->lock);
	has = h->current;
	if (has)
		result = MHD_queue_response(c, MHD_HTTP_OK, h->current);
	pthread_mutex_unlock(&h->lock);
	return has ? result : answer_plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "not measured yet\n");
}

static enum MHD_Result answer(void *state, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
	if (strcmp(url, "/metrics"))
		return answer_plain(c, MHD_HTTP_NOT_FOUND, "see /metrics\n");
	return answer_metrics(state, c);
}

/* -- life -- */

/* What a client sends wrong is no message of ours. */
__attribute__((format(printf, 2, 0))) static void ignore_log(void *state, const char *format,
							      va_list args)
{
	(void)state;
	(void)format;
	(void)args;
}

/* Signals are for the program's main thread: the daemon's inherits a mask that blocks them. */
static struct MHD_Daemon *start_daemon(struct metrics_http *h, const union endpoint *e)
{
	unsigned int flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG;
	sigset_t all, before;
	struct MHD_Daemon *daemon;

	if (e->any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = 0;
	daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, h, MHD_OPTION_EXTERNAL_LOGGER,
				  ignore_log, NULL, MHD_OPTION_SOCK_ADDR, &e->any,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
				  MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

int metrics_http_start(struct metrics_http **out, const char *where, char *err, size_t err_len)
{
	struct metrics_http *h;
	union endpoint e;
	int rc = parse_endpoint(where, &e);

	*out = NULL;
	if (rc < 0) {
		snprintf(err, err_len, "--listen %s: give ADDR:PORT, such as 127.0.0.1:9187", where);
		return rc;
	}
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	h->daemon = start_daemon(h, &e);
	if (!h->daemon) {
		rc = errno ? -errno : -EADDRINUSE;
		snprintf(err, err_len, "cannot listen on %s: %s", where, strerror(-rc));
		metrics_http_stop(h);
		return rc;
	}
	*out = h;
	return 0;
}

uint16_t metrics_http_port(const struct metrics_http *h)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}

int metrics_http_update(struct metrics_http *h, char *text, size_t len)
{
	struct MHD_Response *old, *fresh =
		MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (!fresh) {
		free(text);
		return -ENOMEM;
	}
	MHD_add_response_header(fresh, MHD_HTTP_HEADER_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE);
	pthread_mutex_lock(&h->lock);
	old = h->current;
	h->current = fresh;
	pthread_mutex_unlock(&h->lock);
	if (old)
		MHD_destroy_response(old);
	return 0;
}

void metrics_http_stop(struct metrics_http *h)
{
	if (!h)
		return;
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->current)
		MHD_destroy_response(h->current);
	pthread_mutex_destroy(&h->lock);
	free(h);
}
