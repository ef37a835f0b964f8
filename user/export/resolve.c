/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/resolve.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "export/arpa.h"

#define AT_A_TIME  8
#define PACE_NS	   (20 * NS_PER_MS)
#define TIMEOUT_MS 2000 /* c-ares doubles it for the second try */
#define TRIES	   2
#define TOTAL_NS   (30 * NS_PER_S)
#define POLL_MS	   20

struct resolving {
	ares_channel channel;
	unsigned int under_way;
};

/* One question; lives in an array, since c-ares hands a pointer back. */
struct asking {
	struct resolving *all;
	struct resolved *of;
};

static const char *const state_names[] = {
#define RESOLVE_TEXT(name, text) [RESOLVE_##name] = text,
	RESOLVE_STATES(RESOLVE_TEXT)
};

const char *resolve_state_name(enum resolve_state s)
{
	return s < RESOLVE_STATE_COUNT ? state_names[s] : NULL;
}

static enum resolve_state failure_state(int status)
{
	return status == ARES_ENOTFOUND || status == ARES_ENODATA ? RESOLVE_NO_NAME :
								     RESOLVE_NO_ANSWER;
}

static int family_of(const struct addr *a)
{
	return a->family == ADDR_V6 ? AF_INET6 : AF_INET;
}

static size_t size_of(const struct addr *a)
{
	return a->family == ADDR_V6 ? 16 : 4;
}

static const void *bytes_of(const struct sockaddr *any)
{
	if (any->sa_family == AF_INET)
		return &((const struct sockaddr_in *)any)->sin_addr;
	return &((const struct sockaddr_in6 *)any)->sin6_addr;
}

static bool leads_back(const struct addr *a, const struct ares_addrinfo *answer)
{
	for (const struct ares_addrinfo_node *n = answer->nodes; n; n = n->ai_next)
		if (n->ai_family == family_of(a) &&
		    !memcmp(bytes_of(n->ai_addr), a->bytes, size_of(a)))
			return true;
	return false;
}

static void forward_done(void *arg, int status, int timeouts, struct ares_addrinfo *answer)
{
	struct asking *q = arg;

	(void)timeouts;
	q->all->under_way--;
	if (status == ARES_SUCCESS)
		q->of->state = leads_back(&q->of->addr, answer) ? RESOLVE_VERIFIED : RESOLVE_MISMATCH;
	else /* a name without an address does not lead back; silence tells nothing */
		q->of->state = failure_state(status) == RESOLVE_NO_NAME ? RESOLVE_MISMATCH :
									   RESOLVE_NO_ANSWER;
	if (answer)
		ares_freeaddrinfo(answer);
}

static void reverse_done(void *arg, int status, int timeouts, unsigned char *answer, int len)
{
	struct asking *q = arg;
	struct ares_addrinfo_hints hints = { .ai_family = family_of(&q->of->addr) };
	struct hostent *host = NULL;

	(void)timeouts;
	if (status == ARES_SUCCESS)
		status = ares_parse_ptr_reply(answer, len, q->of->addr.bytes, size_of(&q->of->addr),
					      hints.ai_family, &host);
	if (status != ARES_SUCCESS) {
		q->all->under_way--;
		q->of->state = failure_state(status);
		return;
	}
	snprintf(q->of->name, sizeof(q->of->name), "%s", host->h_name);
	ares_free_hostent(host);
	ares_getaddrinfo(q->all->channel, q->of->name, NULL, &hints, forward_done, q);
}

/* Not ares_gethostbyaddr(), which calls silence ARES_ENOTFOUND as well (c-ares 1.18). */
static void ask(struct asking *q)
{
	char name[ARPA_LEN];

	q->all->under_way++;
	ares_query(q->all->channel, arpa_name(&q->of->addr, name), ns_c_in, ns_t_ptr, reverse_done, q);
}

/* Waits a little for answers and takes them; also lets c-ares see its timeouts. */
static void take_answers(ares_channel channel)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	struct pollfd polls[ARES_GETSOCK_MAXNUM];
	int mask = ares_getsock(channel, sockets, ARES_GETSOCK_MAXNUM), count = 0;

	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++)
		if (ARES_GETSOCK_READABLE(mask, i) || ARES_GETSOCK_WRITABLE(mask, i))
			polls[count++] = (struct pollfd){
				.fd = sockets[i],
				.events = (ARES_GETSOCK_READABLE(mask, i) ? POLLIN : 0) |
					  (ARES_GETSOCK_WRITABLE(mask, i) ? POLLOUT : 0),
			};
	poll(polls, count, POLL_MS);
	for (int i = 0; i < count; i++)
		ares_process_fd(channel,
				polls[i].revents & (POLLIN | POLLERR | POLLHUP) ? polls[i].fd :
										  ARES_SOCKET_BAD,
				polls[i].revents & POLLOUT ? polls[i].fd : ARES_SOCKET_BAD);
	ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void ask_all(struct resolving *all, struct asking *questions, size_t count)
{
	uint64_t end = clock_mono_ns() + TOTAL_NS, next_ns = 0;
	size_t asked = 0;

	while ((asked < count || all->under_way) && clock_mono_ns() < end) {
		if (asked < count && all->under_way < AT_A_TIME && clock_mono_ns() >= next_ns) {
			next_ns = clock_mono_ns() + PACE_NS;
			ask(&questions[asked++]);
		}
		take_answers(all->channel);
	}
}

/* No /etc/hosts: it is what DNS says that a name has to prove itself by. */
static int open_channel(ares_channel *channel)
{
	static char dns_only[] = "b";
	struct ares_options o = { .timeout = TIMEOUT_MS, .tries = TRIES, .lookups = dns_only };
	int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS;

	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return -EIO;
	if (ares_init_options(channel, &o, mask) == ARES_SUCCESS)
		return 0;
	ares_library_cleanup();
	return -EIO;
}

int resolve_all(struct resolved *list, size_t count)
{
	struct asking questions[RESOLVE_MAX];
	struct resolving all = { 0 };
	int rc = open_channel(&all.channel);

	if (rc < 0)
		return rc;
	if (count > RESOLVE_MAX)
		count = RESOLVE_MAX;
	for (size_t i = 0; i < count; i++)
		questions[i] = (struct asking){ &all, &list[i] };
	ask_all(&all, questions, count);
	ares_destroy(all.channel); /* what is still open calls back now */
	ares_library_cleanup();
	return 0;
}
