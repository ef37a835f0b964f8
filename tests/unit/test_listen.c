/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/target.h"

/* A listening socket on a free port of the loopback interface. */
static int listen_on(int backlog, uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void the_accept_queue_of_the_port_is_counted(void **state)
{
	struct target *t = calloc(1, sizeof(*t));
	struct listen_reader *r;
	struct listen_queue q;
	uint16_t port;
	int server = listen_on(7, &port), client[2];

	(void)state;
	t->pid = getpid();
	t->session.port = port;
	assert_int_equal(listen_reader_open(t, &r), 0);
	assert_int_equal(listen_reader_read(r, &q), 0);
	assert_int_equal(q.length, 0);
	assert_int_equal(q.limit, 7);
	assert_int_equal(q.drops, 0);
	client[0] = connect_to(port);
	client[1] = connect_to(port);
	assert_int_equal(listen_reader_read(r, &q), 0);
	assert_int_equal(q.length, 2);
	close(client[0]);
	close(client[1]);
	close(server);
	assert_int_equal(listen_reader_read(r, &q), -ENOENT);
	listen_reader_close(r);
	free(t);
}

static void what_a_full_queue_drops_is_counted(void **state)
{
	struct target *t = calloc(1, sizeof(*t));
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct listen_reader *r;
	struct listen_queue q = { 0 };
	uint16_t port;
	int server = listen_on(1, &port), clients[8];

	(void)state;
	t->pid = getpid();
	t->session.port = port;
	address.sin_port = htons(port);
	assert_int_equal(listen_reader_open(t, &r), 0);
	for (int i = 0; i < 8; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(clients[i], (struct sockaddr *)&address, sizeof(address));
	}
	/* over loopback the kernel is done with a SYN when connect returns */
	assert_int_equal(listen_reader_read(r, &q), 0);
	assert_int_equal(q.length, 2);
	assert_true(q.drops > 0);
	for (int i = 0; i < 8; i++)
		close(clients[i]);
	close(server);
	listen_reader_close(r);
	free(t);
}

static void closing_nothing_is_harmless(void **state)
{
	(void)state;
	listen_reader_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_accept_queue_of_the_port_is_counted),
		cmocka_unit_test(what_a_full_queue_drops_is_counted),
		cmocka_unit_test(closing_nothing_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
