// SPDX-License-Identifier: BSD-2-Clause
#include "capture/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

static const struct {
	enum function function;
	bool at_return;
} probes[PROBE_COUNT] = {
#define PROBE_ROW(name, program, fn, at_ret) [PROBE_##name] = { FUNCTION_##fn, at_ret },
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

/* The version's own ready marker; else BeginReportingGUCOptions, which every version runs once, a little earlier. */
static void plan_ready(struct plan *plan, const struct target *t)
{
	bool at_return;
	enum function ready = function_ready(t->symbols.major, &at_return);

	plan->use[PROBE_LOGIN_ENTER] = plan->use[PROBE_READY_LOGIN] =
		ready == FUNCTION_EVENT_TRIGGER_LOGIN && present(t, ready);
	plan->use[PROBE_READY_REPORT] = ready == FUNCTION_REPORT_CONNECT && present(t, ready);
	plan->use[PROBE_READY_BEGIN] = !plan->use[PROBE_READY_LOGIN] &&
				       !plan->use[PROBE_READY_REPORT] &&
				       present(t, FUNCTION_BEGIN_REPORTING);
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

int plan_make(struct plan *plan, const struct target *t, bool sqlstate, struct problem *problem)
{
	memset(plan, 0, sizeof(*plan));
	if (!present(t, FUNCTION_GETNAMEINFO))
		return plan_refuse(t, function_symbol(FUNCTION_GETNAMEINFO), problem);
	for (int p = 0; p < PROBE_COUNT; p++) {
		enum function f = probe_function(p);

		plan->use[p] = of_this_version(t, f) && present(t, f);
	}
	for (int f = 0; f < FUNCTION_COUNT; f++)
		if (of_this_version(t, f) && !present(t, f))
			plan_missing(plan, t, f);
	plan_ready(plan, t);
	if (!plan->use[PROBE_READY_LOGIN] && !plan->use[PROBE_READY_REPORT] &&
	    !plan->use[PROBE_READY_BEGIN])
		return plan_refuse(t, function_symbol(FUNCTION_BEGIN_REPORTING), problem);
	plan->use[PROBE_ERRCODE] = plan->use[PROBE_ERRCODE] && sqlstate;
	plan->has_accept = plan->use[PROBE_ACCEPT] || plan->use[PROBE_ACCEPT_STREAM];
	return 0;
}
