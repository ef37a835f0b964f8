// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution: pg_getnameinfo_all (reverse) and libc's getaddrinfo (forward), and who asked.
 * The first reverse call of a backend is also where its client's address is known and where the
 * phases hostname and startup begin. Beside it what else authentication waits for: libldap, libpam.
 */
#include "bpf/conn.bpf.h"

/* netdb.h (glibc and musl alike) */
#define NI_NUMERICHOST 1
#define NI_NUMERICSERV 2
#define NI_NAMEREQD    8

#define LITERAL_LEN  64 /* the longest address with its scope, and to spare */
#define ANSWERS_READ 12 /* entries of an answer; each address has three, one a socket type */

/* Set where pg_getnameinfo_all's return cannot be probed: no lookup is told rather than endless ones. */
__u32 no_lookup_end = 0;

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

/* Counts a lookup, and hands out the place of its detail; NULL: no more are told. */
static __always_inline struct record_lookup *lookup_open(struct state *st, int by, int direction,
							 __u64 answer)
{
	struct record *rec = &st->rec;
	__u32 n = rec->lookup_count;
	struct record_lookup *lookup;

	st->lookup_enter_ns = bpf_ktime_get_ns();
	st->lookup_answer = answer;
	st->lookup_direction = direction;
	rec->lookup_count = n + 1;
	if (n >= LOOKUPS_TOLD)
		return NULL;
	lookup = &rec->lookups[n];
	lookup->enter_ns = st->lookup_enter_ns;
	lookup->asker = by;
	lookup->direction = direction;
	return lookup;
}

/* The lookup under way returned; NULL: there is none of that direction, or it is not told. */
static __always_inline struct record_lookup *lookup_close(struct state *st, int direction, int code)
{
	struct record *rec = &st->rec;
	__u32 n = rec->lookup_count - 1;
	struct record_lookup *lookup;
	__u64 dur_ns;

	if (!st->lookup_enter_ns || st->lookup_direction != (__u32)direction)
		return NULL;
	dur_ns = bpf_ktime_get_ns() - st->lookup_enter_ns;
	st->lookup_enter_ns = 0;
	rec->dns_ns += dur_ns;
	if (n >= LOOKUPS_TOLD)
		return NULL;
	lookup = &rec->lookups[n];
	lookup->dur_ns = dur_ns;
	lookup->code = code;
	lookup->done = 1;
	return lookup;
}

SEC("uprobe")
int on_getnameinfo_enter(struct pt_regs *ctx)
{
	struct state *st = own_state();
	struct getnameinfo_call call = {};
	struct record_lookup *lookup;
	int by;

	if (!st)
		return 0;
	getnameinfo_call_read(ctx, &call);
	if (!st->rec.start[PHASE_HOSTNAME]) {
		meet_client(st, call.addr);
		mark(&st->rec, PHASE_HOSTNAME);
	}
	by = reverse_asker(&call, st->rec.client.family);
	if (by < 0 || no_lookup_end)
		return 0;
	lookup = lookup_open(st, by, DIRECTION_REVERSE, call.node);
	if (lookup)
		lookup->addr = st->rec.client;
	return 0;
}

SEC("uretprobe")
int on_getnameinfo_return(struct pt_regs *ctx)
{
	struct state *st = own_state();
	struct record_lookup *lookup;
	int code = PT_REGS_RC(ctx);

	if (!st)
		return 0;
	lookup = lookup_close(st, DIRECTION_REVERSE, code);
	if (lookup && !code)
		bpf_probe_read_user_str(lookup->name, DNS_NAME_LEN, (void *)st->lookup_answer);
	mark_after(&st->rec, PHASE_HOSTNAME, PHASE_STARTUP);
	return 0;
}

/* -- libc's getaddrinfo: probed in every process of the host that has this libc ------------------- */

#define AI_NUMERICHOST 4

/* "192.0.2.7", "fd00::1%eth0": no host name has a colon, none is all digits and dots. */
static __always_inline bool is_literal(const char *name)
{
	for (int i = 0; i < LITERAL_LEN; i++) {
		if (name[i] == ':')
			return true;
		if (!name[i])
			return i > 0;
		if (name[i] != '.' && (name[i] < '0' || name[i] > '9'))
			return false;
	}
	return false;
}

static __always_inline bool in_auth(const struct record *rec)
{
	return rec->start[PHASE_AUTH] && !rec->start[PHASE_PREPARE];
}

/*
 * Who asks, from getaddrinfo(node, service, hints, ...) alone; -1: no name to resolve. Host name
 * rules of pg_hba are the only ones that give neither service nor hints (13 to 19).
 */
static __always_inline int forward_asker(struct pt_regs *ctx)
{
	const void *node = (const void *)PT_REGS_PARM1(ctx);
	const void *hints = (const void *)PT_REGS_PARM3(ctx);
	char head[LITERAL_LEN] = {};
	int flags = 0;

	if (bpf_probe_read_user_str(head, sizeof(head), node) < 0 || is_literal(head))
		return -1;
	if (!hints)
		return PT_REGS_PARM2(ctx) ? ASKER_AUTH : ASKER_HBA;
	bpf_probe_read_user(&flags, sizeof(flags), hints); /* struct addrinfo begins with ai_flags */
	return flags & AI_NUMERICHOST ? -1 : ASKER_AUTH;
}

/* struct addrinfo, glibc's and musl's: family 4, addr 24, next 40. */
struct addrinfo_head {
	__s32 flags, family, socktype, protocol;
	__u64 addrlen;
	__u64 addr, canonname, next;
};

/* Of the addresses found the first one of the client's family, which is the one compared; else the first. */
static __always_inline void answer_read(struct record_addr *out, __u64 result, __u16 family)
{
	struct addrinfo_head info = {};
	__u64 at = 0, addr = 0;

	bpf_probe_read_user(&at, sizeof(at), (void *)result);
	for (int i = 0; i < ANSWERS_READ && at; i++) {
		if (bpf_probe_read_user(&info, sizeof(info), (void *)at))
			break;
		if (!addr || info.family == family)
			addr = info.addr;
		if (info.family == family)
			break;
		at = info.next;
	}
	if (addr)
		sockaddr_read(out, (void *)addr);
	out->port = 0;
}

/* A call within another one (a name service that asks a directory) is part of it. */
SEC("uprobe")
int on_getaddrinfo_enter(struct pt_regs *ctx)
{
	struct state *st = own_state();
	struct record_lookup *lookup;
	int by;

	if (!st || !in_auth(&st->rec))
		return 0;
	if (st->forward_depth++ || st->lookup_enter_ns)
		return 0;
	by = forward_asker(ctx);
	if (by < 0)
		return 0;
	lookup = lookup_open(st, by, DIRECTION_FORWARD, PT_REGS_PARM4(ctx));
	if (lookup)
		bpf_probe_read_user_str(lookup->name, DNS_NAME_LEN, (void *)PT_REGS_PARM1(ctx));
	return 0;
}

SEC("uretprobe")
int on_getaddrinfo_return(struct pt_regs *ctx)
{
	struct state *st = own_state();
	struct record_lookup *lookup;
	int code = PT_REGS_RC(ctx);

	if (!st || !st->forward_depth || --st->forward_depth)
		return 0;
	lookup = lookup_close(st, DIRECTION_FORWARD, code);
	if (lookup && !code)
		answer_read(&lookup->addr, st->lookup_answer, st->rec.client.family);
	return 0;
}

/* -- what waits in auth without being a lookup ----------------------------------------------------- */

SEC("uprobe")
int on_ldap_enter(struct pt_regs *ctx)
{
	return span_begins(WITHIN_LDAP);
}

SEC("uretprobe")
int on_ldap_return(struct pt_regs *ctx)
{
	return span_ends(WITHIN_LDAP);
}

SEC("uprobe")
int on_pam_enter(struct pt_regs *ctx)
{
	return span_begins(WITHIN_PAM);
}

SEC("uretprobe")
int on_pam_return(struct pt_regs *ctx)
{
	return span_ends(WITHIN_PAM);
}
