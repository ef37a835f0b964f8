/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state map and the few steps every program is made of: find the own state, mark an instant,
 * finish. A program whose process has no state returns after one map look-up.
 */
#ifndef PGDNSTRACE_CONN_BPF_H
#define PGDNSTRACE_CONN_BPF_H

#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "bpf/record.h"

#define AF_UNIX	 1
#define AF_INET	 2
#define AF_INET6 10

#define STATES_MAX     4096 /* connections in setup at a time */
#define HANDSHAKES_MAX 16384 /* and those still in the accept queue */

/* Weak: each object of the set defines them, the linker keeps one. */
const volatile struct config config __weak = {};
__u64 lost[LOSS_COUNT] __weak = {};
/* Set at the end of a trace: nothing opens or finishes any more, so that what is left can be counted. */
__u32 frozen __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STATES_MAX);
	__type(key, __u32); /* host PID of the backend */
	__type(value, struct state);
} states SEC(".maps") __weak;

/* LRU: a connection that was reset in the queue and never accepted has nobody to remove it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HANDSHAKES_MAX);
	__type(key, struct handshake_key);
	__type(value, struct handshake);
} handshakes SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps") __weak;

static __always_inline __u32 own_pid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* The calling process's state, NULL when it is no connection in setup. */
static __always_inline struct state *own_state(void)
{
	__u32 pid = own_pid();

	return bpf_map_lookup_elem(&states, &pid);
}

static __always_inline void mark(struct record *rec, int instant)
{
	if (!rec->start[instant])
		rec->start[instant] = bpf_ktime_get_ns();
}

/* Where return sites stand in for return probes, another path of the caller may lead there too. */
static __always_inline void mark_after(struct record *rec, int before, int instant)
{
	if (rec->start[before])
		mark(rec, instant);
}

/* The outermost call counts: libraries call their own entry points. */
static __always_inline void span_enter(struct record_span *span)
{
	if (!span->open)
		span->enter_ns = bpf_ktime_get_ns();
	span->open++;
}

static __always_inline void span_exit(struct record_span *span)
{
	if (!span->open || --span->open)
		return;
	span->sum_ns += bpf_ktime_get_ns() - span->enter_ns;
	span->calls++;
}

static __always_inline int span_begins(int within)
{
	struct state *st = own_state();

	if (st)
		span_enter(&st->rec.within[within]);
	return 0;
}

static __always_inline int span_ends(int within)
{
	struct state *st = own_state();

	if (st)
		span_exit(&st->rec.within[within]);
	return 0;
}

static __always_inline __u64 sock_bytes_received(const void *sk)
{
	__u64 bytes = 0;

	bpf_probe_read_kernel(&bytes, sizeof(bytes),
			      sk + bpf_core_field_offset(struct tcp_sock, bytes_received));
	return bytes;
}

/* Takes what the socket's side has seen into the record, and lets the handshake go. */
static __always_inline void join_socket(struct state *st)
{
	struct record *rec = &st->rec;
	struct handshake *hs;

	if (!st->key.client.family)
		return;
	hs = bpf_map_lookup_elem(&handshakes, &st->key);
	if (!hs)
		return;
	rec->gone_ns = hs->gone_ns;
	rec->bytes_received = hs->gone_ns ? hs->bytes_at_gone :
					    sock_bytes_received((const void *)hs->sock);
	bpf_map_delete_elem(&handshakes, &st->key);
}

/* Records wait in the ring for a timer; a wake-up costs the backend 19 us, so only a full ring makes one. */
static __always_inline void send(const struct record *rec)
{
	__u64 told = rec->lookup_count, flags = BPF_RB_NO_WAKEUP;

	if (told > LOOKUPS_TOLD)
		told = LOOKUPS_TOLD;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wakeup_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&ring, (void *)rec,
			       __builtin_offsetof(struct record, lookups) +
				       told * sizeof(struct record_lookup), flags))
		__sync_fetch_and_add(&lost[LOSS_RING], 1);
}

/* The connection's setup is over: tell it once and forget it. */
static __always_inline void finish(struct state *st, __u32 pid)
{
	if (frozen)
		return;
	st->rec.end_ns = bpf_ktime_get_ns();
	join_socket(st);
	send(&st->rec);
	bpf_map_delete_elem(&states, &pid);
}

#endif
