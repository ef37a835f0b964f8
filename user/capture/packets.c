// SPDX-License-Identifier: BSD-2-Clause
#include "capture/packets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/namespace.h"

#define LOOPBACK   1 /* its ifindex in every network namespace */
#define SNAP_LEN   640 /* headers with options, and the longest question */
#define BATCH	   64
#define QUEUE_BYTES (8 << 20)

struct packets {
	int fd;
	uint8_t data[BATCH][SNAP_LEN];
	struct sockaddr_ll from[BATCH];
	uint8_t control[BATCH][CMSG_SPACE(sizeof(struct timespec))];
	struct iovec iov[BATCH];
	struct mmsghdr messages[BATCH];
};

/*
 * On a packet without its link header. Loopback shows each packet twice, going out and coming in:
 * the first is dropped. Jumps count from the next line; the
 * numbers are lines, keep is 23 and drop 24.
 */
static const struct sock_filter filter[] = {
	/* 0 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_IFINDEX),
	/* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOOPBACK, 0, 2),
	/* 2 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
	/* 3 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 20, 0), /* drop */
	/* 4 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
	/* 5 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 8), /* 14 */
	/* IPv4: UDP or TCP, not a later fragment */
	/* 6 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	/* 7 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0),
	/* 8 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 15), /* drop */
	/* 9 */ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
	/* 10 */ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 13, 0), /* drop */
	/* 11 */ BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	/* 12 */ BPF_STMT(BPF_LD | BPF_H | BPF_IND, 0),
	/* 13 */ BPF_JUMP(BPF_JMP | BPF_JA, 6, 0, 0), /* 20 */
	/* IPv6: UDP or TCP right behind the header */
	/* 14 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 0, 9), /* drop */
	/* 15 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
	/* 16 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0),
	/* 17 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 6), /* drop */
	/* 18 */ BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 40),
	/* 19 */ BPF_STMT(BPF_LD | BPF_H | BPF_IND, 0),
	/* either port is 53 */
	/* 20 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DNS_PORT, 2, 0), /* keep */
	/* 21 */ BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
	/* 22 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, DNS_PORT, 0, 1), /* drop */
	/* 23 */ BPF_STMT(BPF_RET | BPF_K, SNAP_LEN),
	/* 24 */ BPF_STMT(BPF_RET | BPF_K, 0),
};

/* The filter is there before the first packet can be: a socket of protocol 0 gets none. */
static int socket_prepare(int fd)
{
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]),
				      (struct sock_filter *)filter };
	struct sockaddr_ll everywhere = { .sll_family = AF_PACKET,
					  .sll_protocol = htons(ETH_P_ALL) };
	int on = 1, bytes = QUEUE_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return bind(fd, (struct sockaddr *)&everywhere, sizeof(everywhere)) ? -errno : 0;
}

static int socket_open(int pid)
{
	int fd, back, err = namespace_enter(pid, "net", &back);

	if (err)
		return err;
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		fd = -errno;
	namespace_leave(back);
	return fd;
}

int packets_open(struct packets **out, int pid)
{
	struct packets *p = calloc(1, sizeof(*p));
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->fd = socket_open(pid);
	err = p->fd < 0 ? p->fd : socket_prepare(p->fd);
	if (err) {
		packets_close(p);
		return err;
	}
	*out = p;
	return 0;
}

void packets_close(struct packets *p)
{
	if (p && p->fd >= 0)
		close(p->fd);
	free(p);
}

static int64_t message_time(struct msghdr *m)
{
	struct timespec ts;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return ts.tv_sec * (int64_t)NS_PER_S + ts.tv_nsec;
	}
	return clock_real_ns();
}

/* Questions that leave this namespace and answers that come to it; others only pass through. */
static bool is_own(const struct sockaddr_ll *from, const struct dns_packet *packet)
{
	if (from->sll_ifindex == LOOPBACK)
		return true;
	return packet->answer ? from->sll_pkttype == PACKET_HOST :
				from->sll_pkttype == PACKET_OUTGOING;
}

static void take(struct packets *p, int i, struct dns_watch *w)
{
	struct dns_packet packet;

	if (!dns_parse(p->data[i], p->messages[i].msg_len, &packet) && is_own(&p->from[i], &packet))
		dns_watch_packet(w, &packet, message_time(&p->messages[i].msg_hdr));
}

static int receive(struct packets *p)
{
	for (int i = 0; i < BATCH; i++) {
		p->iov[i] = (struct iovec){ p->data[i], SNAP_LEN };
		p->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &p->from[i], .msg_namelen = sizeof(p->from[i]),
			.msg_iov = &p->iov[i], .msg_iovlen = 1,
			.msg_control = p->control[i], .msg_controllen = sizeof(p->control[i]),
		};
	}
	return recvmmsg(p->fd, p->messages, BATCH, MSG_DONTWAIT, NULL);
}

/* The kernel's counters begin anew with each reading. */
static void read_lost(struct packets *p, struct dns_watch *w)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);

	if (!getsockopt(p->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len))
		dns_watch_lost(w, stats.tp_drops);
}

/* A flood of packets cannot hold the caller: the rest waits for the next call, or is lost. */
void packets_read(struct packets *p, struct dns_watch *w)
{
	int count = BATCH;

	for (int batches = 0; count == BATCH && batches < QUEUE_BYTES / (BATCH * SNAP_LEN); batches++) {
		count = receive(p);
		for (int i = 0; i < count; i++)
			take(p, i, w);
	}
	read_lost(p, w);
}
