// SPDX-License-Identifier: BSD-2-Clause
#include "capture/live_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/decode.h"

/* -- open and close ------------------------------------------------------------------------------ */

static int on_record(void *ctx, void *data, size_t size)
{
	struct live *l = ctx;
	struct event ev = { .type = EVENT_CONN };

	(void)size;
	ev.at_ns = clock_real_ns();
	decode_conn(data, 0, l->offset_ns, &ev.conn);
	if (l->watch)
		dns_watch_tie(l->watch, &ev.conn);
	sweep_ended(&l->sweep, &ev.conn);
	compare_add(&l->compare, &ev.conn);
	l->silent |= silence_take(&l->silence, &l->plan, data);
	return l->sink(l->ctx, &ev);
}

static int open_ring(struct live *l, struct problem *problem)
{
	l->ring = ring_buffer__new(bpf_map__fd(l->skel->maps.ring), on_record, l, NULL);
	if (!l->ring)
		return live_problem(problem, EXIT_FAILURE, "cannot map the ring buffer: %s",
				   strerror(errno));
	return 0;
}

static void open_listen(struct live *l)
{
	struct listen_queue queue;

	if (listen_reader_open(l->target, &l->listen)) {
		log_debug("the accept queue cannot be read");
		l->listen = NULL;
	} else if (!listen_reader_read(l->listen, &queue)) {
		l->listen_drops_before = queue.drops;
	}
}

static int open_packets(struct live *l, struct problem *problem)
{
	int err = packets_open(&l->packets, l->target->pid);

	if (err)
		return live_problem(problem, EXIT_CANNOT_TRACE,
				   "cannot watch DNS packets in the server's network namespace: %s. It needs "
				   "CAP_NET_RAW and CAP_SYS_ADMIN there; do without --dns-packets, or use sudo.",
				   strerror(-err));
	l->watch = dns_watch_new(&l->target->session.resolver);
	return l->watch ? 0 : live_problem(problem, EXIT_FAILURE, "out of memory");
}

int live_open(struct live **out, struct target *t, const struct live_options *o,
	      struct problem *problem)
{
	struct live *l = calloc(1, sizeof(*l));
	int err;

	*out = NULL;
	if (!l)
		return live_problem(problem, EXIT_FAILURE, "out of memory");
	l->target = t;
	err = live_load(l, o, problem);
	if (!err)
		err = live_plan(l, o, problem);
	if (!err)
		err = open_ring(l, problem);
	if (!err && o->dns_packets)
		err = open_packets(l, problem);
	if (!err)
		err = live_attach(l, o, problem);
	if (err) {
		live_close(l);
		return err;
	}
	open_listen(l);
	earlier_begin(&l->earlier, t);
	*out = l;
	return 0;
}

/*
 * The kernel removes a probe when its last holder lets go, which takes it an RCU grace period each:
 * three seconds in all. A child holds on until we are gone, so that it is the one to wait.
 */
int live_detach_behind(const struct live *l)
{
	int gone[2];
	char byte;

	if (!l->link_count || pipe2(gone, O_CLOEXEC))
		return -1;
	if (fork() == 0) {
		prctl(PR_SET_NAME, "pgdns-detach");
		close_range(STDIN_FILENO, STDERR_FILENO, 0); /* nobody shall wait for us behind a pipe */
		close(gone[1]);
		while (read(gone[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(gone[0]);
	return gone[1];
}

void live_close(struct live *l)
{
	if (!l)
		return;
	while (l->link_count)
		bpf_link__destroy(l->links[--l->link_count]);
	ring_buffer__free(l->ring);
	pgdnstrace__destroy(l->skel);
	listen_reader_close(l->listen);
	packets_close(l->packets);
	dns_watch_free(l->watch);
	sweep_free(&l->sweep);
	free(l);
}

int live_fd(const struct live *l)
{
	return ring_buffer__epoll_fd(l->ring);
}

int live_start(struct live *l, event_sink sink, void *ctx)
{
	struct event ev = { .type = EVENT_START, .at_ns = clock_real_ns() };

	ev.start = l->target->session;
	return sink(ctx, &ev);
}

int live_drain(struct live *l, event_sink sink, void *ctx)
{
	int err;

	l->sink = sink;
	l->ctx = ctx;
	l->offset_ns = clock_offset_ns();
	if (l->packets)
		packets_read(l->packets, l->watch); /* first: a lookup that ended has its answers */
	err = ring_buffer__consume(l->ring);
	return err < 0 ? err : 0;
}

/* -- sweep --------------------------------------------------------------------------------------- */

static bool passed_ready_unseen(const struct conn *c)
{
	return c->phase != PHASE_UNKNOWN && c->phase >= PHASE_PREPARE && c->in_phase_ns > NS_PER_S &&
	       target_session_idle(c->host_pid);
}

/* Sessions in their life's second act that still count as in setup: the ready marker is silent. */
static void listen_for_ready(struct live *l)
{
	enum probe ready = plan_ready(&l->plan);
	unsigned int unseen = 0;

	if (l->silence.settled >> ready & 1)
		return;
	for (size_t i = 0; i < l->sweep.count; i++)
		unseen += passed_ready_unseen(&l->sweep.list[i]);
	if (unseen >= SILENCE_CONNECTIONS)
		l->silent |= silence_count(&l->silence, &l->plan, ready, unseen);
}

static void listen_for_clients(struct live *l)
{
	unsigned int unmet = __atomic_load_n(&l->skel->bss->unmet_clients, __ATOMIC_RELAXED);

	if (unmet >= SILENCE_CONNECTIONS)
		l->silent |= silence_count(&l->silence, &l->plan, PROBE_GETNAMEINFO_ENTER, unmet);
}

/* From now on such connections are told without their client; those until now were not told at all. */
static void give_up_clients(struct live *l)
{
	__atomic_store_n(&l->skel->bss->keep_unmet, 1, __ATOMIC_SEQ_CST);
	l->skel->bss->lost[LOSS_UNMET] = __atomic_load_n(&l->skel->bss->unmet_clients, __ATOMIC_SEQ_CST);
}

/* Told once it is in place: what became ready before has no end that was seen. */
static void replace_ready(struct live *l)
{
	enum probe ready = plan_ready(&l->plan);

	if (live_attach_probe(l, ready))
		log_warn("cannot probe the function that is tried instead: %s", strerror(errno));
	else
		log_info("from now on %s tells when a connection is ready",
			 function_symbol(probe_function(ready)));
}

static void name_silent(struct live *l)
{
	if (!l->silent)
		return;
	l->ready_was_silent |= l->silent >> plan_ready(&l->plan) & 1;
	if (l->silent >> PROBE_GETNAMEINFO_ENTER & 1)
		give_up_clients(l);
	if (plan_silence(&l->plan, l->target, l->silent))
		replace_ready(l);
	l->silent = 0;
}

/* Told as ready, as decode_ready_unseen() does it for those that have ended. */
static int tell_unseen(struct live *l, event_sink sink, void *ctx)
{
	int err = 0;

	for (size_t i = 0; l->ready_was_silent && i < l->sweep.count && !err; i++) {
		struct conn *c = &l->sweep.list[i];
		struct event ev = { .type = EVENT_CONN, .at_ns = clock_real_ns() };
		__u32 pid = (__u32)c->host_pid;

		if (!passed_ready_unseen(c) ||
		    bpf_map_delete_elem(bpf_map__fd(l->skel->maps.states), &pid))
			continue;
		decode_as_ready_unseen(c);
		ev.conn = *c;
		err = sink(ctx, &ev);
	}
	return err;
}

/* What is new since the last time; false: nothing. */
static bool settings_changed(struct live *l, struct settings *changed)
{
	struct session *session = &l->target->session;
	struct settings *known = &session->settings, now;

	changed->missing_phases = l->plan.missing_phases & ~session->missing_phases;
	session->missing_phases = l->plan.missing_phases;
	if (target_settings(l->target, &now))
		return changed->missing_phases;
	changed->has_log_hostname = now.has_log_hostname &&
				    now.log_hostname != known->log_hostname;
	changed->has_log_line_prefix = now.has_log_line_prefix &&
				       strcmp(now.log_line_prefix, known->log_line_prefix);
	changed->has_printers = now.has_printers && now.printers != known->printers;
	changed->printers = now.printers;
	changed->log_hostname = now.log_hostname;
	memcpy(changed->log_line_prefix, now.log_line_prefix, TEXT_LEN);
	*known = now;
	return changed->has_log_hostname || changed->has_log_line_prefix || changed->has_printers ||
	       changed->missing_phases;
}

/* A reload, or a function found silent, is told once, with what it changed. */
static int settings_event(struct live *l, event_sink sink, void *ctx)
{
	struct event ev = { .type = EVENT_SETTINGS, .at_ns = clock_real_ns() };

	return settings_changed(l, &ev.settings) ? sink(ctx, &ev) : 0;
}

static int tick_event(struct live *l, event_sink sink, void *ctx)
{
	struct event ev = { .type = EVENT_TICK, .at_ns = clock_real_ns() };
	struct listen_queue queue;

	ev.tick.in_setup = l->sweep.traced;
	ev.tick.before_start = l->earlier.seen;
	for (int i = 0; i < LOSS_COUNT; i++)
		ev.tick.lost[i] = __atomic_load_n(&l->skel->bss->lost[i], __ATOMIC_RELAXED);
	if (l->listen && !listen_reader_read(l->listen, &queue)) {
		ev.tick.has_accept_queue = true;
		ev.tick.accept_queue = queue.length;
		ev.tick.accept_queue_limit = queue.limit;
		ev.tick.listen_drops = queue.drops - l->listen_drops_before;
	}
	return sink(ctx, &ev);
}

static int dns_event(struct live *l, event_sink sink, void *ctx)
{
	struct event ev = { .type = EVENT_DNS, .at_ns = clock_real_ns() };

	if (!l->watch)
		return 0;
	dns_watch_report(l->watch, ev.at_ns, &ev.dns);
	return sink(ctx, &ev);
}

static int sweep_event(struct live *l, event_sink sink, void *ctx)
{
	struct event ev = { .type = EVENT_SWEEP, .at_ns = clock_real_ns() };

	sweep_sort(&l->sweep);
	for (size_t i = 0; l->watch && i < l->sweep.count; i++)
		dns_watch_tie(l->watch, &l->sweep.list[i]);
	ev.sweep.list = l->sweep.list;
	ev.sweep.count = l->sweep.count;
	return sink(ctx, &ev);
}

int live_sweep(struct live *l, event_sink sink, void *ctx)
{
	int err;

	l->offset_ns = clock_offset_ns();
	err = sweep_states(&l->sweep, bpf_map__fd(l->skel->maps.states), l->offset_ns);
	if (!err)
		err = live_drain(l, sink, ctx);
	if (!err)
		err = tell_unseen(l, sink, ctx);
	sweep_drop_ended(&l->sweep);
	listen_for_ready(l);
	listen_for_clients(l);
	name_silent(l);
	if (!err)
		err = settings_event(l, sink, ctx);
	if (!err)
		err = earlier_list(&l->earlier, l->target, &l->sweep);
	if (!err)
		err = sweep_event(l, sink, ctx);
	if (!err)
		err = dns_event(l, sink, ctx);
	if (!err)
		err = tick_event(l, sink, ctx);
	l->sweep.count = 0;
	return err;
}

int live_freeze(struct live *l, event_sink sink, void *ctx)
{
	int err;

	__atomic_store_n(&l->skel->bss->frozen, 1, __ATOMIC_SEQ_CST);
	usleep(1000); /* programs that were past the check */
	err = live_sweep(l, sink, ctx);
	compare_log(&l->compare);
	return err;
}
