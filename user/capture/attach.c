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

static bool present(const struct target *t, enum function f)
{
	return t->symbols.functions[f].value != 0;
}

static void plan_missing(struct plan *plan, const struct target *t, enum function f)
{
	char loss[FUNCTION_LOSS_LEN];

	plan->missing_phases |= function_missing_phases(f);
	log_warn("%s has no function %s: %s", t->exe_name, function_symbol(f),
		 function_loss(f, loss, sizeof(loss)));
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

/* "queue and fork". */
static const char *phases_text(unsigned int phases, char *buf, size_t len)
{
	buf[0] = '\0';
	for (int p = 0; p < PHASE_COUNT; p++)
		if (phases >> p & 1)
			snprintf(buf + strlen(buf), len - strlen(buf), "%s%s", buf[0] ? " and " : "",
				 phase_name(p));
	return buf;
}

static unsigned int silent_phases(enum probe p)
{
	unsigned int phases = probe_missing_phases(p);

	/* the client's address comes with it, and with that the handshake */
	if (p == PROBE_GETNAMEINFO_ENTER)
		phases |= 1u << PHASE_STARTUP | 1u << PHASE_QUEUE;
	return phases;
}

static void silence_function(struct plan *plan, enum function f, unsigned int bits)
{
	unsigned int phases = 0;
	bool silent = false;
	char text[128];

	for (int p = 0; p < PROBE_COUNT; p++) {
		if (!(bits >> p & 1) || probe_function(p) != f)
			continue;
		silent = true;
		phases |= silent_phases(p);
	}
	if (!silent)
		return;
	plan->missing_phases |= phases;
	log_warn("the function %s never runs, as if the build had put it into its caller: %s%s",
		 function_symbol(f), phases ? "missing from now on: " : "what it tells is missing",
		 phases_text(phases, text, sizeof(text)));
}

bool plan_silence(struct plan *plan, const struct target *t, unsigned int bits)
{
	enum probe ready = plan_ready(plan);

	for (int f = 0; f < FUNCTION_COUNT; f++)
		silence_function(plan, f, bits);
	if (!(bits >> ready & 1) || ready == PROBE_READY_BEGIN || !present(t, FUNCTION_BEGIN_REPORTING))
		return false;
	plan->use[ready] = false;
	plan->use[PROBE_READY_BEGIN] = true;
	return true;
}

int plan_make(struct plan *plan, const struct target *t, const struct plan_options *o,
	      struct problem *problem)
{
	memset(plan, 0, sizeof(*plan));
	if (!present(t, FUNCTION_GETNAMEINFO))
		return plan_refuse(t, function_symbol(FUNCTION_GETNAMEINFO), problem);
	for (int p = 0; p < PROBE_COUNT; p++) {
		enum function f = probe_function(p);

		plan->use[p] = function_expected(f, t->symbols.major) && present(t, f);
	}
	plan->use[PROBE_ERRCODE] = plan->use[PROBE_ERRCODE] && o->sqlstate;
	for (int f = 0; f < FUNCTION_COUNT; f++)
		if (function_expected(f, t->symbols.major) && !present(t, f))
			plan_missing(plan, t, f);
	if (!o->return_probes)
		plan_return_sites(plan, t);
	plan_one_ready(plan, t);
	if (plan_ready(plan) == PROBE_COUNT)
		return plan_refuse(t, function_symbol(FUNCTION_BEGIN_REPORTING), problem);
	return 0;
}
