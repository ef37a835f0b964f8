// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution: pg_getnameinfo_all (reverse) and what asked it. The first call of a backend is
 * also where its client's address is known and where the phases hostname and startup begin.
 */
#include "bpf/conn.bpf.h"

/* netdb.h (glibc and musl alike) */
#define NI_NUMERICHOST 1
#define NI_NUMERICSERV 2
#define NI_NAMEREQD    8

struct getnameinfo_call {
	const void *addr; /* struct sockaddr_storage * */
	__u64 node;
	__u64 service;
	__u32 flags;
};

/* Seven arguments: the last one is on the stack on x86-64, in x6 on arm64. */
static __always_inline void getnameinfo_call_read(struct pt_regs *ctx, struct getnameinfo_call *call)
{
	call->addr = (const void *)PT_REGS_PARM1(ctx);
	call->node = PT_REGS_PARM3(ctx);
	call->service = PT_REGS_PARM5(ctx);
#if defined(__TARGET_ARCH_arm64)
	call->flags = ((struct user_pt_regs *)ctx)->regs[6];
#else
	bpf_probe_read_user(&call->flags, sizeof(call->flags), (void *)(PT_REGS_SP(ctx) + 8));
#endif
}

/* struct sockaddr_in and sockaddr_in6: family, port, then the address at 4 or 8. */
static __always_inline void sockaddr_read(struct record_addr *out, const void *addr)
{
	struct {
		__u16 family;
		__be16 port;
	} head = {};

	bpf_probe_read_user(&head, sizeof(head), addr);
	out->family = head.family;
	if (head.family == AF_INET)
		bpf_probe_read_user(out->bytes, 4, addr + 4);
	else if (head.family == AF_INET6)
		bpf_probe_read_user(out->bytes, 16, addr + 8);
	else
		return;
	out->port = __builtin_bswap16(head.port);
}

/* The backend learned who its client is: find the handshake of that socket. */
static __always_inline void meet_client(struct state *st, const void *addr)
{
	struct record *rec = &st->rec;
	struct handshake *hs;

	sockaddr_read(&rec->client, addr);
	if (config.backend_start)
		bpf_probe_read_user(&rec->backend_start, sizeof(rec->backend_start),
				    (void *)config.backend_start);
	if (rec->client.family == AF_UNIX)
		return;
	st->key.client = rec->client;
	st->key.netns = config.netns;
	st->key.server_port = config.port;
	hs = bpf_map_lookup_elem(&handshakes, &st->key);
	if (!hs)
		return;
	rec->socket_seen = 1;
	/* a handshake after the accept would be another connection's */
	if (rec->start[PHASE_FORK] && hs->established_ns <= rec->start[PHASE_FORK])
		rec->start[PHASE_QUEUE] = hs->established_ns;
}

/* Who asks, from the arguments alone; -1: no lookup (numeric, or a unix socket). */
static __always_inline int reverse_asker(const struct getnameinfo_call *call, __u16 family)
{
	if ((call->flags & NI_NUMERICHOST) || family == AF_UNIX)
		return -1;
	if (call->flags & NI_NAMEREQD)
		return ASKER_HBA;
	return call->service ? ASKER_LOG_HOSTNAME : ASKER_PAM;
}

static __always_inline void lookup_open(struct state *st, const struct getnameinfo_call *call, int by)
{
	struct record *rec = &st->rec;
	__u32 n = rec->lookup_count;
	struct record_lookup *lookup;

	st->lookup_enter_ns = bpf_ktime_get_ns();
	st->lookup_node = call->node;
	rec->lookup_count = n + 1;
	if (n >= LOOKUPS_TOLD)
		return;
	lookup = &rec->lookups[n];
	lookup->enter_ns = st->lookup_enter_ns;
	lookup->asker = by;
	lookup->direction = DIRECTION_REVERSE;
	lookup->addr = rec->client;
}

static __always_inline void lookup_close(struct state *st, int code)
{
	struct record *rec = &st->rec;
	__u32 n = rec->lookup_count - 1;
	struct record_lookup *lookup;
	__u64 dur_ns;

	if (!st->lookup_enter_ns)
		return;
	dur_ns = bpf_ktime_get_ns() - st->lookup_enter_ns;
	st->lookup_enter_ns = 0;
	rec->dns_ns += dur_ns;
	if (n >= LOOKUPS_TOLD)
		return;
	lookup = &rec->lookups[n];
	lookup->dur_ns = dur_ns;
	lookup->code = code;
	lookup->done = 1;
	if (!code && st->lookup_node)
		bpf_probe_read_user_str(lookup->name, DNS_NAME_LEN, (void *)st->lookup_node);
}

SEC("uprobe")
int on_getnameinfo_enter(struct pt_regs *ctx)
{
	struct state *st = own_state();
	struct getnameinfo_call call = {};
	int by;

	if (!st)
		return 0;
	getnameinfo_call_read(ctx, &call);
	if (!st->rec.start[PHASE_HOSTNAME]) {
		meet_client(st, call.addr);
		mark(&st->rec, PHASE_HOSTNAME);
	}
	by = reverse_asker(&call, st->rec.client.family);
	if (by >= 0)
		lookup_open(st, &call, by);
	return 0;
}

SEC("uretprobe")
int on_getnameinfo_return(struct pt_regs *ctx)
{
	struct state *st = own_state();

	if (!st)
		return 0;
	lookup_close(st, (int)PT_REGS_RC(ctx));
	mark(&st->rec, PHASE_STARTUP);
	return 0;
}
