/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "export/metrics_http.h"

static struct metrics_http *http;
static char err[256], answer[4096];

static int setup(void **state)
{
	(void)state;
	return metrics_http_start(&http, "127.0.0.1:0", err, sizeof(err));
}

static int teardown(void **state)
{
	(void)state;
	metrics_http_stop(http);
	return 0;
}

static int dial(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(metrics_http_port(http)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* The status of a request; the whole answer is in answer. */
static int ask(const char *request)
{
	int fd = dial();
	size_t used = 0;
	ssize_t n;
	int status = 0;

	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	while ((n = read(fd, answer + used, sizeof(answer) - 1 - used)) > 0)
		used += n;
	answer[used] = '\0';
	close(fd);
	assert_int_equal(sscanf(answer, "HTTP/1.1 %d", &status), 1);
	return status;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static void update(const char *text)
{
	assert_int_equal(metrics_http_update(http, strdup(text), strlen(text)), 0);
}

TEST(metrics_are_those_handed_over_last)
{
	assert_int_equal(ask(GET("/metrics")), 503);
	update("first 1\n");
	update("second 2\n");
	assert_int_equal(ask(GET("/metrics")), 200);
	assert_non_null(strstr(answer, "text/plain; version=0.0.4"));
	assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "second 2\n");
}

TEST(nothing_but_get_metrics_is_answered)
{
	update("x 1\n");
	assert_int_equal(ask(GET("/")), 404);
	assert_int_equal(ask(GET("/metrics/../etc/passwd")), 404);
	assert_int_equal(ask("DELETE /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 405);
	assert_int_equal(ask("POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			     "Content-Length: 1\r\n\r\nx"), 405);
	assert_null(strstr(answer, "x 1"));
}

TEST(a_response_under_way_outlives_its_replacement)
{
	int fd = dial();
	char byte;

	update("first 1\n");
	assert_int_equal(write(fd, GET("/metrics"), strlen(GET("/metrics"))), strlen(GET("/metrics")));
	assert_int_equal(read(fd, &byte, 1), 1);
	for (int i = 0; i < 100; i++)
		update("next 2\n");
	assert_true(read(fd, answer, sizeof(answer)) > 0);
	close(fd);
}

TEST(idle_clients_take_no_more_than_their_share)
{
	int fds[40];

	update("x 1\n");
	for (int i = 0; i < 40; i++)
		fds[i] = dial();
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	assert_int_equal(ask(GET("/metrics")), 200);
}

TEST(an_address_that_is_none_is_refused_with_how_to_write_it)
{
	static const char *const wrong[] = { "",	    "http",	  "127.0.0.1:",	  "1.2.3:9187",
					     "db1:9187",    "::1:9187",	  "[::1]",	  "127.0.0.1:65536",
					     "127.0.0.1:-1", "127.0.0.1:91x", "[127.0.0.1]x:1" };
	struct metrics_http *h;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(metrics_http_start(&h, wrong[i], err, sizeof(err)), -EINVAL);
		assert_null(h);
		assert_non_null(strstr(err, "ADDR:PORT"));
	}
}

TEST(without_an_address_it_listens_on_loopback_alone_and_a_port_in_use_is_told)
{
	struct metrics_http *other;
	char where[16];

	snprintf(where, sizeof(where), ":%d", metrics_http_port(http));
	assert_int_equal(metrics_http_start(&other, where, err, sizeof(err)), -EADDRINUSE);
	assert_non_null(strstr(err, "in use"));
	assert_int_equal(metrics_http_start(&other, "[::1]:0", err, sizeof(err)), 0);
	metrics_http_stop(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(metrics_are_those_handed_over_last, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_but_get_metrics_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(a_response_under_way_outlives_its_replacement, setup,
						teardown),
		cmocka_unit_test_setup_teardown(idle_clients_take_no_more_than_their_share, setup,
						teardown),
		cmocka_unit_test(an_address_that_is_none_is_refused_with_how_to_write_it),
		cmocka_unit_test_setup_teardown(
			without_an_address_it_listens_on_loopback_alone_and_a_port_in_use_is_told,
			setup, teardown),
	};

	return cmocka_run_group_tests_name("metrics_http", tests, NULL, NULL);
}
