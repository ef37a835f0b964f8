// SPDX-License-Identifier: BSD-2-Clause
#include "capture/live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/attach.h"
#include "capture/compare.h"
#include "capture/decode.h"
#include "capture/library.h"
#include "capture/packets.h"
#include "capture/silence.h"
#include "capture/sweep.h"
#include "capture/trial.h"
#include "pgdnstrace.skel.h"

#define WAKEUP_BYTES	(128 << 10)
#define LINKS_MAX	(PROBE_COUNT + 2 * LIBRARY_PROBE_COUNT + 6 * RETURN_SITES_MAX + 4)

struct live {
	struct target *target;
	struct pgdnstrace *skel;
	struct plan plan;
	struct bpf_link *links[LINKS_MAX];
	int link_count;
	int return_probes_safe; /* 1, 0, -errno: what trial_return_probe() said */
	struct ring_buffer *ring;
	struct listen_reader *listen;
	uint64_t listen_drops_before;
	struct packets *packets; /* NULL: not watched */
	struct dns_watch *watch;
	struct earlier earlier;
	struct sweep sweep;
	struct compare compare; /* with PostgreSQL 18's own timings */
	struct silence silence;
	unsigned int silent; /* probes found silent and not told yet */
	bool ready_was_silent; /* connections that passed the first marker unseen may still be listed */
	/* during a drain */
	event_sink sink;
	void *ctx;
	int64_t offset_ns;
};

static int problem_set(struct problem *problem, enum exit_code code, const char *format, ...)
{
	va_list args;

	problem->exit_code = code;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return -EIO;
}

static int on_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = '\0';
	if (level == LIBBPF_DEBUG)
		log_trace("%s", line);
	else
		log_debug("%s", line);
	return 0;
}

/* -- load ---------------------------------------------------------------------------------------- */

static int load_problem(struct problem *problem, const char *btf, int err)
{
	if (err == -EPERM || err == -EACCES)
		return problem_set(problem, EXIT_CANNOT_TRACE,
				   "the kernel refuses BPF programs (%s). Tracing needs root, or CAP_BPF, CAP_PERFMON "
				   "and CAP_SYS_PTRACE; kernel lockdown forbids it: run it with sudo on the host.",
				   strerror(-err));
	if (err == -ESRCH || err == -ENOENT || err == -EINVAL)
		return problem_set(problem, EXIT_CANNOT_TRACE,
				   "the kernel's type information (%s) cannot be used (%s). It takes a kernel with "
				   "CONFIG_DEBUG_INFO_BTF, 5.10 or newer, or a BTF file for it named by --btf.",
				   btf ? btf : "/sys/kernel/btf/vmlinux", strerror(-err));
	return problem_set(problem, EXIT_CANNOT_TRACE, "cannot load the BPF programs: %s (see -v)",
			   strerror(-err));
}

static uint64_t run_time_address(const struct target *t, enum variable v)
{
	uint64_t value = t->symbols.variables[v].value;

	return value ? value + t->load_bias : 0;
}

static void configure(struct live *l, const struct live_options *o)
{
	struct target *t = l->target;
	struct config *config = &l->skel->rodata->config;

	config->postmaster = (uint32_t)t->pid;
	config->netns = t->netns;
	config->port = (uint32_t)t->session.port;
	config->application_name = run_time_address(t, VARIABLE_APPLICATION_NAME);
	config->backend_start = run_time_address(t, VARIABLE_START_TIME);
	config->conn_timing = run_time_address(t, VARIABLE_CONN_TIMING);
	config->wakeup_bytes = o->ring_bytes / 2 < WAKEUP_BYTES ? o->ring_bytes / 2 : WAKEUP_BYTES;
}

static int load(struct live *l, const struct live_options *o, struct problem *problem)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = o->btf);
	int err;

	if (access(o->btf ? o->btf : "/sys/kernel/btf/vmlinux", R_OK))
		return load_problem(problem, o->btf, -ENOENT);
	libbpf_set_print(on_libbpf);
	l->skel = pgdnstrace__open_opts(&opts);
	if (!l->skel)
		return load_problem(problem, o->btf, -errno);
	configure(l, o);
	err = bpf_map__set_max_entries(l->skel->maps.ring, o->ring_bytes);
	if (!err)
		err = pgdnstrace__load(l->skel);
	return err ? load_problem(problem, o->btf, err) : 0;
}

/* -- attach -------------------------------------------------------------------------------------- */

static struct bpf_program *probe_program(const struct live *l, enum probe p)
{
	switch (p) {
#define ATTACH_CASE(name, program, ...)                                                            \
	case PROBE_##name:                                                                         \
		return l->skel->progs.program;
		PROBES(ATTACH_CASE)
#undef ATTACH_CASE
	default:
		return NULL;
	}
}

static int keep_link(struct live *l, struct bpf_link *link)
{
	if (!link)
		return -errno;
	l->links[l->link_count++] = link;
	return 0;
}

static int attach_at(struct live *l, enum probe p, size_t offset, bool return_probe)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = return_probe);

	return keep_link(l, bpf_program__attach_uprobe_opts(probe_program(l, p), -1,
							    l->target->exe_path, offset, &opts));
}

static int attach_return_sites(struct live *l, enum probe p)
{
	const struct return_sites *sites = &l->plan.sites[p];
	int err = 0;

	log_debug("probe %s (%d return sites)", function_symbol(probe_function(p)), sites->count);
	for (int i = 0; i < sites->count && !err; i++)
		err = attach_at(l, p, sites->offsets[i], false);
	return err;
}

static int attach_probe(struct live *l, enum probe p)
{
	const struct symbol *symbol = &l->target->symbols.functions[probe_function(p)];

	if (probe_at_return(p) && l->plan.return_sites)
		return attach_return_sites(l, p);
	log_debug("probe %s%s at offset 0x%llx%s", function_symbol(probe_function(p)),
		  probe_at_return(p) ? " (return)" : "", (unsigned long long)symbol->probe_offset,
		  symbol->single_stepped ? ", single-stepped" : "");
	return attach_at(l, p, symbol->probe_offset, probe_at_return(p));
}

static void library_programs(const struct live *l, enum library_probe p,
			     struct bpf_program *programs[2])
{
	switch (p) {
#define LIBRARY_CASE(name, library, function, kind)                                                \
	case LIBRARY_##name:                                                                       \
		programs[0] = l->skel->progs.on_##kind##_enter;                                    \
		programs[1] = l->skel->progs.on_##kind##_return;                                   \
		break;
		LIBRARY_PROBES(LIBRARY_CASE)
#undef LIBRARY_CASE
	default:
		break;
	}
}

/* Both or none: a lookup whose end is not seen would be told as one that never ended. */
static int attach_library_probe(struct live *l, enum library_probe p,
				const struct library_place *place)
{
	struct bpf_program *programs[2] = { 0 };
	struct bpf_link *links[2] = { 0 };

	library_programs(l, p, programs);
	for (int i = 0; i < 2; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = i == 1);

		links[i] = bpf_program__attach_uprobe_opts(programs[i], -1, place->path,
							   place->symbol.probe_offset, &opts);
	}
	if (links[0] && links[1]) {
		keep_link(l, links[0]);
		return keep_link(l, links[1]);
	}
	bpf_link__destroy(links[0]);
	bpf_link__destroy(links[1]);
	return -EIO;
}

/* Other processes of the host call these too, under filters of their own: see trial.h. */
static const char *library_refusal(const struct live *l, const struct live_options *o)
{
	if (!o->return_probes)
		return "no return probes were wanted (--no-return-probes)";
	if (l->return_probes_safe != 1)
		return "on this kernel a return probe in it can kill processes that run under a seccomp filter";
	return NULL;
}

/* What a library that is not mapped would do is not missing; forward lookups of a static libc are. */
static bool library_matters(enum library_probe p, int found)
{
	return found || p == LIBRARY_GETADDRINFO;
}

static void refuse_libraries(struct live *l, const char *refusal)
{
	struct library_place place;
	char err[256];

	for (int p = 0; p < LIBRARY_PROBE_COUNT; p++)
		if (library_matters(p, library_place_find(l->target, p, &place, err, sizeof(err))))
			library_mark_missing(&l->target->session, p);
	log_warn("forward lookups, LDAP and PAM are not told: %s", refusal);
}

static int try_library(struct live *l, enum library_probe p)
{
	struct library_place place;
	char err[256];
	int found = library_place_find(l->target, p, &place, err, sizeof(err));

	if (!library_matters(p, found))
		return 0;
	if (found == 1 && !attach_library_probe(l, p, &place)) {
		log_debug("probe %s in %s at offset 0x%llx%s", library_probe_symbol(p), place.path,
			  (unsigned long long)place.symbol.probe_offset,
			  place.symbol.single_stepped ? ", single-stepped" : "");
		return 0;
	}
	log_warn("calls of %s are not told: %s", library_probe_symbol(p),
		 found < 0 ? err : found ? strerror(errno) : "no C library is mapped");
	return -ENOENT;
}

/* What cannot be probed goes untold, and is named; the rest of the trace does not depend on it. */
static void attach_libraries(struct live *l, const struct live_options *o)
{
	const char *refusal = library_refusal(l, o);

	if (refusal) {
		refuse_libraries(l, refusal);
		return;
	}
	for (int p = 0; p < LIBRARY_PROBE_COUNT; p++)
		if (try_library(l, p))
			library_mark_missing(&l->target->session, p);
}

/* The accept probe comes last: no record is opened before everything else is there. */
static int attach(struct live *l, const struct live_options *o, struct problem *problem)
{
	struct bpf_program *traces[] = { l->skel->progs.on_exit, l->skel->progs.on_sock_state,
					 l->skel->progs.on_fork };

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (keep_link(l, bpf_program__attach_trace(traces[i])))
			return problem_set(problem, EXIT_CANNOT_TRACE,
					   "cannot attach to the kernel's tracepoint (%s): %s",
					   bpf_program__name(traces[i]), strerror(errno));
	attach_libraries(l, o);
	for (int p = 0; p < PROBE_COUNT; p++)
		if (l->plan.use[p] && attach_probe(l, p))
			return problem_set(problem, EXIT_CANNOT_TRACE,
					   "cannot probe %s in %s: %s",
					   function_symbol(probe_function(p)), l->target->exe_name,
					   strerror(errno));
	__atomic_store_n(&l->skel->bss->open_candidates, 1, __ATOMIC_SEQ_CST);
	return 0;
}

/*
 * Return probes can make a seccomp filter kill the traced process on some kernels: tried on a child
 * of our own, before the server is touched.
 */
static bool want_return_probes(struct live *l, const struct live_options *o)
{
	struct bpf_link *link = NULL;

	l->return_probes_safe = 1;
	if (trial_needed())
		l->return_probes_safe = trial_return_probe(l->skel->progs.on_tls_return, &link);
	if (link)
		keep_link(l, link);
	log_debug("return probes %s under a seccomp filter here",
		  l->return_probes_safe == 1 ? "are safe" : "are not safe");
	if (!o->return_probes || l->return_probes_safe == 1 || !target_has_seccomp(l->target))
		return o->return_probes;
	log_warn("process %d runs under a seccomp filter, which on this kernel could kill it for a "
		 "return probe: return sites are used instead",
		 l->target->pid);
	return false;
}

static int plan(struct live *l, const struct live_options *o, struct problem *problem)
{
	struct plan_options wanted = {
		.sqlstate = o->sqlstate,
		.return_probes = want_return_probes(l, o),
	};
	int err = plan_make(&l->plan, l->target, &wanted, problem);

	l->target->session.missing_phases = l->plan.missing_phases;
	l->skel->bss->no_errcode = !l->plan.use[PROBE_ERRCODE];
	l->skel->bss->no_lookup_end = !l->plan.use[PROBE_GETNAMEINFO_RETURN];
	return err;
}

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
		return problem_set(problem, EXIT_FAILURE, "cannot map the ring buffer: %s",
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
		return problem_set(problem, EXIT_CANNOT_TRACE,
				   "cannot watch DNS packets in the server's network namespace: %s. It needs "
				   "CAP_NET_RAW and CAP_SYS_ADMIN there; do without --dns-packets, or use sudo.",
				   strerror(-err));
	l->watch = dns_watch_new(&l->target->session.resolver);
	return l->watch ? 0 : problem_set(problem, EXIT_FAILURE, "out of memory");
}

int live_open(struct live **out, struct target *t, const struct live_options *o,
	      struct problem *problem)
{
	struct live *l = calloc(1, sizeof(*l));
	int err;

	*out = NULL;
	if (!l)
		return problem_set(problem, EXIT_FAILURE, "out of memory");
	l->target = t;
	err = load(l, o, problem);
	if (!err)
		err = plan(l, o, problem);
	if (!err)
		err = open_ring(l, problem);
	if (!err && o->dns_packets)
		err = open_packets(l, problem);
	if (!err)
		err = attach(l, o, problem);
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

static void name_silent(struct live *l)
{
	if (!l->silent)
		return;
	l->ready_was_silent |= l->silent >> plan_ready(&l->plan) & 1;
	if (l->silent >> PROBE_GETNAMEINFO_ENTER & 1)
		give_up_clients(l);
	if (plan_silence(&l->plan, l->target, l->silent) && attach_probe(l, plan_ready(&l->plan)))
		log_warn("cannot probe the function that is tried instead: %s", strerror(errno));
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
