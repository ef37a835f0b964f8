// SPDX-License-Identifier: BSD-2-Clause
/* From the BPF object to attached probes. */
#include "capture/live_private.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/trial.h"

#define WAKEUP_BYTES (128 << 10)

int live_problem(struct problem *problem, enum exit_code code, const char *format, ...)
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
		return live_problem(problem, EXIT_CANNOT_TRACE,
				   "the kernel refuses BPF programs (%s). Tracing needs root, or CAP_BPF, CAP_PERFMON "
				   "and CAP_SYS_PTRACE; kernel lockdown forbids it: run it with sudo on the host.",
				   strerror(-err));
	if (err == -ESRCH || err == -ENOENT || err == -EINVAL)
		return live_problem(problem, EXIT_CANNOT_TRACE,
				   "the kernel's type information (%s) cannot be used (%s). It takes a kernel with "
				   "CONFIG_DEBUG_INFO_BTF, 5.10 or newer, or a BTF file for it named by --btf.",
				   btf ? btf : "/sys/kernel/btf/vmlinux", strerror(-err));
	return live_problem(problem, EXIT_CANNOT_TRACE, "cannot load the BPF programs: %s (see -v)",
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

int live_load(struct live *l, const struct live_options *o, struct problem *problem)
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

int live_attach_probe(struct live *l, enum probe p)
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

	for (int p = 0; p < LIBRARY_PROBE_COUNT; p++) {
		if (library_matters(p, library_place_find(l->target, p, &place, err, sizeof(err))))
			library_mark_missing(&l->target->session, p);
		library_place_close(&place);
	}
	log_warn("forward lookups, LDAP and PAM are not told: %s", refusal);
}

static int try_library(struct live *l, enum library_probe p)
{
	struct library_place place;
	char err[256];
	int found = library_place_find(l->target, p, &place, err, sizeof(err)), attached = -1, error;

	if (found == 1)
		attached = attach_library_probe(l, p, &place);
	error = errno;
	library_place_close(&place);
	errno = error;
	if (!library_matters(p, found))
		return 0;
	if (!attached) {
		log_debug("probe %s in the server's %s at offset 0x%llx%s", library_probe_symbol(p),
			  library_probe_library(p), (unsigned long long)place.symbol.probe_offset,
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
int live_attach(struct live *l, const struct live_options *o, struct problem *problem)
{
	struct bpf_program *traces[] = { l->skel->progs.on_exit, l->skel->progs.on_sock_state,
					 l->skel->progs.on_fork };

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (keep_link(l, bpf_program__attach_trace(traces[i])))
			return live_problem(problem, EXIT_CANNOT_TRACE,
					   "cannot attach to the kernel's tracepoint (%s): %s",
					   bpf_program__name(traces[i]), strerror(errno));
	attach_libraries(l, o);
	for (int p = 0; p < PROBE_COUNT; p++)
		if (l->plan.use[p] && live_attach_probe(l, p))
			return live_problem(problem, EXIT_CANNOT_TRACE,
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

int live_plan(struct live *l, const struct live_options *o, struct problem *problem)
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
