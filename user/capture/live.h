/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live half of capture: BPF programs on a running server, records from the ring, a sweep of
 * what is still in setup, and the server's settings and accept queue as they change. Only
 * live_private.h includes the skeleton.
 */
#ifndef PGDNSTRACE_LIVE_H
#define PGDNSTRACE_LIVE_H

#include "target/target.h"

#define LIVE_RING_MIN	  4096
#define LIVE_RING_DEFAULT (1 << 20) /* libbpf maps it twice: resident memory counts it so */

struct live_options {
	bool sqlstate; /* probe errcode() */
	bool return_probes; /* false: return sites */
	bool dns_packets; /* watch DNS packets in the server's network namespace */
	size_t ring_bytes; /* a power of two, at least LIVE_RING_MIN */
	const char *btf; /* NULL: the running kernel's */
};

struct live;

/*
 * Loads and attaches everything; on success the server is traced. t stays the caller's, must
 * outlive it, and gets session.missing_phases. 0, or -errno with problem filled.
 */
int live_open(struct live **out, struct target *t, const struct live_options *o,
	      struct problem *problem);
/* Becomes readable when the ring asks for it; between, drain on a timer (100 ms). */
int live_fd(const struct live *l);
/* Yields EVENT_START. */
int live_start(struct live *l, event_sink sink, void *ctx);
/* Yields EVENT_CONN for each record that waits. The sink's error ends it and is returned. */
int live_drain(struct live *l, event_sink sink, void *ctx);
/* Yields EVENT_SETTINGS when a reload was seen, EVENT_CONN as above, EVENT_SWEEP, EVENT_DNS when
 * packets are watched, and EVENT_TICK. */
int live_sweep(struct live *l, event_sink sink, void *ctx);
/*
 * The end: nothing opens or ends any more, then a last drain and sweep, so that connections =
 * outcomes + in setup + lost exactly. Probes stay attached until live_close().
 */
int live_freeze(struct live *l, event_sink sink, void *ctx);
/*
 * Before a live_close() that must not take its time: leaves the removal of the probes, which takes
 * 0.1 s each, to a child process. That begins when the file descriptor returned is closed, at the
 * latest with the end of the program; -1: there is no child.
 */
int live_detach_behind(const struct live *l);
void live_close(struct live *l); /* accepts NULL; takes 0.1 s a probe */

#endif
