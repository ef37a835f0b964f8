/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "keep/trace.h"

/* What of the trace is asked for, and the totals of that part. */
struct span {
	bool whole;             /* neither from nor to was given */
	int64_t from_ns, to_ns; /* to_ns itself is outside */
	struct end totals;
	bool has_lost;
	uint64_t lost_before; /* as of the first tick: what was lost earlier is not of the span */
};

static int parse_bound(const char *option, const char *text, int64_t day_ns, int64_t *ns,
		       char *message, size_t len)
{
	int err = text ? clock_parse(text, day_ns, ns) : 0;

	if (err)
		snprintf(message, len,
			 "%s %s is no time: give HH:MM:SS (UTC, of the trace's first day) or a "
			 "whole one, 2026-10-02T03:14:00Z",
			 option, text);
	return err;
}

static int span_set(struct span *s, const char *from, const char *to, int64_t day_ns, char *message,
		    size_t len)
{
	int err;

	s->whole = !from && !to;
	s->from_ns = INT64_MIN;
	s->to_ns = INT64_MAX;
	err = parse_bound("--from", from, day_ns, &s->from_ns, message, len);
	if (!err)
		err = parse_bound("--to", to, day_ns, &s->to_ns, message, len);
	if (!err && s->from_ns >= s->to_ns) {
		snprintf(message, len, "--to %s does not lie behind --from %s", to, from);
		err = -EINVAL;
	}
	return err;
}

static bool span_holds(const struct span *s, int64_t at_ns)
{
	return at_ns >= s->from_ns && at_ns < s->to_ns;
}

static void span_count(struct span *s, const struct event *ev)
{
	struct end *totals = &s->totals;

	if (ev->type == EVENT_CONN && ev->conn.outcome < OUTCOME_COUNT)
		totals->outcomes[ev->conn.outcome]++;
	if (ev->type == EVENT_IN_SETUP)
		totals->in_setup += ev->conn.phase != PHASE_UNKNOWN;
	if (ev->type != EVENT_TICK)
		return;
	if (!s->has_lost)
		s->lost_before = tick_lost(&ev->tick);
	s->has_lost = true;
	totals->lost = tick_lost(&ev->tick) - s->lost_before;
	totals->before_start = ev->tick.before_start;
}

/* The end of the span: its own totals, and no verdict, since the file's own is of the whole. */
static void span_end(const struct span *s, struct event *ev)
{
	char reason[sizeof(ev->end.reason)];

	memcpy(reason, ev->end.reason, sizeof(reason));
	ev->end = s->totals;
	memcpy(ev->end.reason, reason, sizeof(reason));
	end_sum(&ev->end);
}

/*
 * Connections belong to the span they were accepted in, so that spans side by side hold each
 * once. What was true before the span (start, settings) is told as of its beginning.
 */
static bool span_take(struct span *s, struct event *ev)
{
	bool is_conn = ev->type == EVENT_CONN || ev->type == EVENT_IN_SETUP;
	bool is_state = ev->type == EVENT_START || ev->type == EVENT_SETTINGS;

	if (s->whole)
		return true;
	if (ev->type == EVENT_END)
		span_end(s, ev);
	if (ev->at_ns < s->from_ns && is_state)
		ev->at_ns = s->from_ns;
	if (ev->type == EVENT_END && ev->at_ns > s->to_ns)
		ev->at_ns = s->to_ns;
	if (ev->type != EVENT_END && !span_holds(s, is_conn ? ev->conn.at_ns : ev->at_ns))
		return false;
	span_count(s, ev);
	return true;
}

struct replay {
	struct trace_reader *reader;
	const char *from, *to;
	struct span span;
	bool set; /* the span is known: it takes the day of the first event */
};

int replay_open(struct replay **out, const char *path, const char *from, const char *to,
		char *message, size_t len)
{
	struct replay *r = calloc(1, sizeof(*r));
	int err;

	*message = '\0';
	if (!r)
		return -ENOMEM;
	r->from = from;
	r->to = to;
	err = trace_open(&r->reader, path, message, len);
	if (err) {
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

int replay_next(struct replay *r, struct event *ev, char *message, size_t len)
{
	int ret;

	while ((ret = trace_next(r->reader, ev, message, len)) > 0) {
		ret = r->set ? 0 : span_set(&r->span, r->from, r->to, ev->at_ns, message, len);
		r->set = true;
		if (ret)
			return ret;
		if (span_take(&r->span, ev))
			return 1;
	}
	return ret;
}

bool replay_complete(const struct replay *r)
{
	return trace_complete(r->reader);
}

bool replay_filtered(const struct replay *r)
{
	return trace_filtered(r->reader);
}

void replay_close(struct replay *r)
{
	if (!r)
		return;
	trace_close(r->reader);
	free(r);
}

int replay_file(const char *path, const char *from, const char *to, event_sink sink, void *ctx,
		char *message, size_t len)
{
	struct replay *r;
	struct event ev;
	int ret;

	ret = replay_open(&r, path, from, to, message, len);
	if (ret)
		return ret;
	while ((ret = replay_next(r, &ev, message, len)) > 0) {
		ret = sink(ctx, &ev);
		if (ret)
			break;
	}
	if (!ret && !replay_complete(r))
		snprintf(message, len, "%s was cut off: it has no end, and may lack connections",
			 trace_name(r->reader));
	replay_close(r);
	return ret;
}
