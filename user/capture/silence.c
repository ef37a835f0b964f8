// SPDX-License-Identifier: BSD-2-Clause
#include "capture/silence.h"

#include <sys/wait.h>

#include "capture/decode.h"

/* An instant later than the mark was seen. child is always there: it is the fork itself. */
static bool went_past(const struct record *rec, int mark)
{
	for (int m = mark < PHASE_HOSTNAME ? PHASE_HOSTNAME : mark + 1; m < MARK_COUNT; m++)
		if (rec->start[m])
			return true;
	return false;
}

/* The instant that a probe marks, -1: it marks none. */
static int probe_mark(enum probe p)
{
	switch (p) {
	case PROBE_ACCEPT:
	case PROBE_ACCEPT_STREAM:
		return PHASE_FORK;
	case PROBE_GETNAMEINFO_RETURN:
		return PHASE_STARTUP;
	case PROBE_INIT_PROCESS:
		return PHASE_JOIN;
	case PROBE_AUTH_ENTER:
		return PHASE_AUTH;
	case PROBE_AUTH_RETURN:
		return PHASE_PREPARE;
	default:
		return -1;
	}
}

static bool is_ready_marker(enum probe p)
{
	return p >= PROBE_READY_LOGIN && p <= PROBE_READY_BEGIN;
}

static bool fired(const struct record *rec, enum probe p)
{
	if (probe_mark(p) >= 0)
		return rec->start[probe_mark(p)];
	if (p == PROBE_INIT_POSTGRES)
		return rec->has_user;
	if (p == PROBE_ERRCODE)
		return rec->errcode_ns;
	return is_ready_marker(p) && rec->ready;
}

/* From authentication on a FATAL has an SQLSTATE (13 to 18); before, timeouts and signals have none. */
static bool failed_in_words(const struct record *rec)
{
	return rec->exited && WIFEXITED(rec->exit_code) && WEXITSTATUS(rec->exit_code) == 1 &&
	       rec->start[PHASE_AUTH];
}

static bool passed(const struct record *rec, enum probe p)
{
	if (probe_mark(p) >= 0)
		return went_past(rec, probe_mark(p));
	if (p == PROBE_INIT_POSTGRES)
		return rec->ready;
	if (p == PROBE_ERRCODE)
		return failed_in_words(rec);
	return is_ready_marker(p) && decode_ready_unseen(rec);
}

unsigned int silence_count(struct silence *s, const struct plan *plan, enum probe p,
			   unsigned int count)
{
	if (!plan->use[p] || s->settled >> p & 1)
		return 0;
	s->passed[p] += count;
	if (s->passed[p] < SILENCE_CONNECTIONS)
		return 0;
	s->settled |= 1u << p;
	return 1u << p;
}

unsigned int silence_take(struct silence *s, const struct plan *plan, const struct record *rec)
{
	unsigned int silent = 0;

	if (rec->start[PHASE_HOSTNAME])
		s->settled |= 1u << PROBE_GETNAMEINFO_ENTER;
	for (int p = 0; p < PROBE_COUNT; p++) {
		if (fired(rec, p))
			s->settled |= 1u << p;
		else if (passed(rec, p))
			silent |= silence_count(s, plan, p, 1);
	}
	return silent;
}
