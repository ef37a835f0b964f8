// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Where connections begin and end: handshake and close of the socket, accept, fork, exit. */
#include "bpf/conn.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* An accept that returned 0 and whose fork has not come yet. The postmaster has one thread. */
static __u64 pending_accept_ns;
static bool accept_seen;

/*
 * Set once everything is attached: a fork without an accept opens a candidate, which becomes a
 * record when it asks for its client's address. Only until the first accept is seen: where the
 * probe is missing or silent that is the only way to see connections at all.
 */
__u32 open_candidates = 0;
/* Set before that where errcode() is not probed. */
__u32 no_errcode = 0;

static const struct state no_state;

/* Not skc_num: a RST unbinds the socket (5.10 to 6.18: inet_put_port()) before its state is set. */
static __always_inline __u32 server_port(struct sock *sk)
{
	return __builtin_bswap16(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
}

static __always_inline void handshake_key_read(struct handshake_key *key, struct sock *sk)
{
	key->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	key->server_port = server_port(sk);
	key->client.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	key->client.port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (key->client.family == AF_INET)
		BPF_CORE_READ_INTO((__u32 *)key->client.bytes, sk, __sk_common.skc_daddr);
	else
		BPF_CORE_READ_INTO(&key->client.bytes, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
}

static __always_inline void handshake_open(const struct handshake_key *key, struct sock *sk)
{
	struct handshake hs = {
		.established_ns = bpf_ktime_get_ns(),
		.sock = (__u64)sk,
	};

	bpf_map_update_elem(&handshakes, key, &hs, BPF_ANY);
}

static __always_inline void handshake_gone(const struct handshake_key *key, struct sock *sk)
{
	struct handshake *hs = bpf_map_lookup_elem(&handshakes, key);

	if (!hs || hs->gone_ns || hs->sock != (__u64)sk)
		return;
	hs->bytes_at_gone = sock_bytes_received(sk);
	hs->gone_ns = bpf_ktime_get_ns();
}

/* A FIN is ESTABLISHED to CLOSE_WAIT, a RST is ESTABLISHED to CLOSE; the server's own close is neither. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_sock_state, struct sock *sk, int oldstate, int newstate)
{
	bool established = oldstate == TCP_SYN_RECV && newstate == TCP_ESTABLISHED;
	bool gone = oldstate == TCP_ESTABLISHED &&
		    (newstate == TCP_CLOSE_WAIT || newstate == TCP_CLOSE);
	struct handshake_key key = {};

	if (!established && !gone)
		return 0;
	if (server_port(sk) != config.port)
		return 0;
	handshake_key_read(&key, sk);
	if (key.netns != config.netns)
		return 0;
	if (established)
		handshake_open(&key, sk);
	else
		handshake_gone(&key, sk);
	return 0;
}

/*
 * StreamConnection (13-16), AcceptConnection (17+) return STATUS_OK, 0. An accept that finds the
 * last one untaken replaces it: that fork had failed.
 */
SEC("uretprobe")
int on_accept_return(struct pt_regs *ctx)
{
	if (own_pid() != config.postmaster)
		return 0;
	accept_seen = true;
	pending_accept_ns = (int)PT_REGS_RC(ctx) ? 0 : bpf_ktime_get_ns();
	return 0;
}

/* The PID as the task's innermost namespace has it. */
static __always_inline __u32 task_inner_pid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	int nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 accept_ns = pending_accept_ns;
	__u32 pid = child->tgid;
	struct state *st;

	if ((__u32)parent->tgid != config.postmaster || child->pid != child->tgid)
		return 0;
	if (frozen || (!accept_ns && (accept_seen || !open_candidates)))
		return 0;
	pending_accept_ns = 0;
	if (bpf_map_update_elem(&states, &pid, &no_state, BPF_ANY)) {
		__sync_fetch_and_add(&lost[LOSS_MAP], 1);
		return 0;
	}
	st = bpf_map_lookup_elem(&states, &pid);
	if (!st)
		return 0;
	st->rec.start[PHASE_FORK] = accept_ns;
	mark(&st->rec, PHASE_CHILD);
	st->rec.no_errcode = no_errcode;
	st->rec.host_pid = pid;
	st->rec.pid = task_inner_pid(child);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct state *st;

	if (task->pid != task->tgid)
		return 0;
	st = bpf_map_lookup_elem(&states, &pid);
	if (!st)
		return 0;
	if (!record_is_connection(&st->rec)) {
		bpf_map_delete_elem(&states, &pid);
		return 0;
	}
	st->rec.exit_code = task->exit_code;
	st->rec.exited = 1;
	finish(st, pid);
	return 0;
}
