/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "target/namespace.h"
#include "target/target.h"

struct listen_reader {
	int fd;
	uint16_t port;
};

/* The sum so far, and how many sockets it holds. */
struct listen_sum {
	struct listen_queue queue;
	int sockets;
};

int listen_reader_open(const struct target *t, struct listen_reader **out)
{
	/* the kernel answers at once; a lost answer must not stop the sweep for good */
	static const struct timeval patience = { .tv_sec = 1 };
	struct listen_reader *r = calloc(1, sizeof(*r));
	int back, ret;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->port = t->session.port;
	ret = namespace_enter(t->pid, "net", &back);
	if (ret)
		goto out;
	/* a socket stays in the namespace that it was made in */
	r->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ret = r->fd < 0 ? -errno : 0;
	namespace_leave(back);
	if (ret)
		goto out;
	setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	*out = r;
	return 0;
out:
	free(r);
	return ret;
}

void listen_reader_close(struct listen_reader *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

static int request_send(const struct listen_reader *r, int family)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = family,
			     .sdiag_protocol = IPPROTO_TCP,
			     .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
			     .idiag_states = 1 << TCP_LISTEN,
			     .id.idiag_sport = htons(r->port) },
	};

	return send(r->fd, &message, sizeof(message), 0) < 0 ? -errno : 0;
}

static uint32_t socket_drops(const struct nlmsghdr *header, const struct inet_diag_msg *message)
{
	int len = header->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	const struct rtattr *attribute = (const struct rtattr *)(message + 1);
	uint32_t info[SK_MEMINFO_VARS] = { 0 };

	for (; RTA_OK(attribute, len); attribute = RTA_NEXT(attribute, len))
		if (attribute->rta_type == INET_DIAG_SKMEMINFO &&
		    RTA_PAYLOAD(attribute) >= sizeof(info))
			memcpy(info, RTA_DATA(attribute), sizeof(info));
	return info[SK_MEMINFO_DROPS];
}

/* For a listening socket rqueue is the accept queue's length, wqueue its limit. */
static void socket_add(const struct listen_reader *r, const struct nlmsghdr *header,
		       struct listen_sum *sum)
{
	const struct inet_diag_msg *message = NLMSG_DATA(header);

	if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*message)) ||
	    message->idiag_state != TCP_LISTEN || message->id.idiag_sport != htons(r->port))
		return;
	sum->sockets++;
	sum->queue.length += message->idiag_rqueue;
	sum->queue.limit += message->idiag_wqueue;
	sum->queue.drops += socket_drops(header, message);
}

/* 1: more is to come, 0: that was the end. */
static int answer_read(const struct listen_reader *r, struct listen_sum *sum)
{
	union {
		char bytes[16384];
		struct nlmsghdr header;
	} buf;
	ssize_t len = recv(r->fd, &buf, sizeof(buf), 0);
	const struct nlmsghdr *header = &buf.header;

	if (len < 0)
		return -errno;
	for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
		if (header->nlmsg_type == NLMSG_DONE)
			return 0;
		if (header->nlmsg_type == NLMSG_ERROR)
			return ((const struct nlmsgerr *)NLMSG_DATA(header))->error ?: -EPROTO;
		if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			socket_add(r, header, sum);
	}
	return 1;
}

static int family_read(const struct listen_reader *r, int family, struct listen_sum *sum)
{
	int ret = request_send(r, family);

	if (!ret)
		do
			ret = answer_read(r, sum);
		while (ret > 0);
	return ret;
}

int listen_reader_read(struct listen_reader *r, struct listen_queue *q)
{
	struct listen_sum sum = { .sockets = 0 };
	int ret = family_read(r, AF_INET, &sum);

	if (!ret)
		ret = family_read(r, AF_INET6, &sum);
	*q = sum.queue;
	if (!ret && !sum.sockets)
		ret = -ENOENT;
	return ret;
}
