// SPDX-License-Identifier: BSD-2-Clause
#include "capture/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "target/return_sites.h"

static const struct {
	enum function function;
	bool at_return;
	enum phase phase;
} probes[PROBE_COUNT] = {
#define PROBE_ROW(name, program, fn, at_ret, phase) [PROBE_##name] = { FUNCTION_##fn, at_ret, phase },
	PROBES(PROBE_ROW)
#undef PROBE_ROW
};

enum function probe_function(enum probe p)
{
	return probes[p].function;
}

bool probe_at_return(enum probe p)
{
	return probes[p].at_return;
}

unsigned int probe_missing_phases(enum probe p)
{
	enum phase phase = probes[p].phase;

	if (phase == PHASE_UNKNOWN)
		return 0;
	return 1u << phase | (phase == PHASE_FORK ? 1u << PHASE_QUEUE : 0);
}

enum probe plan_ready(const struct plan *plan)
{
	for (int p = PROBE_READY_LOGIN; p <= PROBE_READY_BEGIN; p++)
		if (plan->use[p])
			return p;
	return PROBE_COUNT;
}

static bool of_this_version(const struct target *t, enum function f)
{
	int major = t->symbols.major;

	/* an unknown version is tried with everything it has */
	return !major || (major >= function_first_version(f) && major <= function_last_version(f));
}

static bool present(const struct target *t, enum function f)
{
	return t->symbols.functions[f].value != 0;
}

/* What goes missing with a function, in words; "" : no more than what it alone tells. */
static const char *missing_words(enum function f, char *buf, size_t len)
{
	enum phase phase = function_phase(f);

	/* another ready marker stands in */
	if (f == FUNCTION_REPORT_CONNECT || f == FUNCTION_BEGIN_REPORTING)
		snprintf(buf, len, "the end of %s is told a little early", phase_name(phase));
	else if (phase == PHASE_UNKNOWN)
		snprintf(buf, len, "what it tells is missing");
	else if (phase == PHASE_FORK)
		snprintf(buf, len, "the phases queue and fork are missing");
	else
		snprintf(buf, len, "the phase %s is missing, its time stands in the phase before",
			 phase_name(phase));
	return buf;
}

static unsigned int missing_bits(enum function f)
{
	enum phase phase = function_phase(f);

	if (phase == PHASE_UNKNOWN || f == FUNCTION_REPORT_CONNECT || f == FUNCTION_BEGIN_REPORTING)
		return 0;
	return 1u << phase | (phase == PHASE_FORK ? 1u << PHASE_QUEUE : 0);
}

static void plan_missing(struct plan *plan, const struct target *t, enum function f)
{
	char words[128];

	plan->missing_phases |= missing_bits(f);
	log_warn("%s has no function %s: %s", t->exe_name, function_symbol(f),
		 missing_words(f, words, sizeof(words)));
}

static int plan_refuse(const struct target *t, const char *symbol, struct problem *problem)
{
	problem->exit_code = EXIT_CANNOT_TRACE;
	snprintf(problem->text, sizeof(problem->text),
		 "%.500s has no function %s, without which no connection can be told.\n"
		 "It was built without exported symbols: install a build that keeps them "
		 "(Debian's and the PGDG's do).",
		 t->exe_name, symbol);
	return -ENOENT;
}

static void plan_drop_site(struct plan *plan, const struct target *t, enum probe p)
{
	plan->use[p] = false;
	plan->missing_phases |= probe_missing_phases(p);
	log_warn("%s: where %s returns to cannot be told for sure: %s", t->exe_name,
		 function_symbol(probe_function(p)),
		 probe_missing_phases(p) ? "the phase that begins there is missing" :
					   "what it tells is missing");
}

/* A span or a login without its end would never end; a lookup likewise, see config.has_lookup_end. */
static void plan_drop_entries(struct plan *plan)
{
	plan->use[PROBE_TLS_ENTER] = plan->use[PROBE_TLS_RETURN];
	plan->use[PROBE_GSS_ENTER] = plan->use[PROBE_GSS_RETURN];
	plan->use[PROBE_LOGIN_ENTER] = plan->use[PROBE_READY_LOGIN];
}

static void plan_return_sites(struct plan *plan, const struct target *t)
{
	plan->return_sites = true;
	for (int p = 0; p < PROBE_COUNT; p++) {
		struct return_sites *sites = &plan->sites[p];

		if (!plan->use[p] || !probe_at_return(p))
			continue;
		sites->count = return_sites_find(t->exe_fd, function_symbol(probe_function(p)),
						 sites->offsets, RETURN_SITES_MAX);
		if (sites->count <= 0)
			plan_drop_site(plan, t, p);
	}
	plan_drop_entries(plan);
}

/* One ready marker is enough: the version's own; else a function that every version runs once, a little earlier. */
static void plan_one_ready(struct plan *plan, const struct target *t)
{
	plan->use[PROBE_READY_REPORT] = plan->use[PROBE_READY_REPORT] &&
					!plan->use[PROBE_READY_LOGIN];
	plan->use[PROBE_READY_BEGIN] = present(t, FUNCTION_BEGIN_REPORTING) &&
				       !plan->use[PROBE_READY_LOGIN] &&
				       !plan->use[PROBE_READY_REPORT];
}

int plan_make(struct plan *plan, const struct target *t, const struct plan_options *o,
	      struct problem *problem)
{
	memset(plan, 0, sizeof(*plan));
	if (!present(t, FUNCTION_GETNAMEINFO))
		return plan_refuse(t, function_symbol(FUNCTION_GETNAMEINFO), problem);
	for (int p = 0; p < PROBE_COUNT; p++) {
		enum function f = probe_function(p);

		plan->use[p] = of_this_version(t, f) && present(t, f);
	}
	plan->use[PROBE_ERRCODE] = plan->use[PROBE_ERRCODE] && o->sqlstate;
	for (int f = 0; f < FUNCTION_COUNT; f++)
		if (of_this_version(t, f) && !present(t, f))
			plan_missing(plan, t, f);
	if (!o->return_probes)
		plan_return_sites(plan, t);
	plan_one_ready(plan, t);
	if (plan_ready(plan) == PROBE_COUNT)
		return plan_refuse(t, function_symbol(FUNCTION_BEGIN_REPORTING), problem);
	return 0;
}
