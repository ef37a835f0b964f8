/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/safe.h"
#include "keep/file.h"
#include "keep/trace.h"
#include "model/verdict.h"

#define OUTPUT_MODE     0600
#define OUTPUT_BUFFER   65536
#define OUTPUT_FLUSH_NS NS_PER_S
#define OUTPUT_TICK_NS  (10 * (int64_t)NS_PER_S)

struct output {
	FILE *out; /* NULL: given up */
	char *path;
	const struct filter *filter;
	bool to_stdout, failed;
	uint64_t flushed_ns; /* CLOCK_MONOTONIC */
	int64_t ticked_ns;   /* of the stream */
	struct event start;  /* the last one, for a new file */
	struct tick tick;    /* the last one */
	struct event dns;    /* the last one; EVENT_START: none, or written already */
	int64_t dns_told_ns; /* of the stream */
	bool reopened;       /* or a part ended: then the end counts this part, not the run */
	struct end totals;
	uint64_t lost_before; /* this file */
};

/* A closed pipe ends the program; any other trouble ends this file alone, and is told once. */
static int output_result(struct output *o, int err)
{
	char path[1024];

	if (!err || (o->to_stdout && err == -EPIPE))
		return err;
	log_error("cannot write %s: %s; tracing goes on without it",
		  o->to_stdout ? "standard output" : safe_terminal(o->path, path, sizeof(path)),
		  strerror(-err));
	o->failed = true;
	if (!o->to_stdout)
		fclose(o->out);
	o->out = NULL;
	return 0;
}

static int output_flush(struct output *o)
{
	o->flushed_ns = clock_mono_ns();
	errno = EIO;
	return output_result(o, fflush(o->out) ? -errno : 0);
}

static int output_write(struct output *o, const struct event *ev)
{
	return o->out ? output_result(o, trace_write(o->out, ev)) : 0;
}

static int output_make(const char *path, FILE **out)
{
	int err = file_create(out, path, OUTPUT_MODE);

	if (!err)
		setvbuf(*out, NULL, _IOFBF, OUTPUT_BUFFER);
	return err;
}

static void say_open_error(const char *path, int problem, char *err, size_t err_len)
{
	char safe[1024];

	safe_terminal(path, safe, sizeof(safe));
	if (problem == -EEXIST)
		snprintf(err, err_len, "%s exists already: choose another name, or move it away",
			 safe);
	else
		snprintf(err, err_len, "cannot create %s: %s", safe, strerror(-problem));
}

int output_open(struct output **out, const char *path, const struct filter *f, char *err,
		size_t err_len)
{
	struct output *o = calloc(1, sizeof(*o));
	int ret = -ENOMEM;

	if (o)
		o->path = strdup(path);
	if (!o || !o->path)
		goto fail;
	o->filter = f;
	o->to_stdout = !strcmp(path, "-");
	o->out = stdout;
	ret = o->to_stdout ? 0 : output_make(path, &o->out);
	if (ret)
		goto fail;
	*out = o;
	return 0;
fail:
	say_open_error(path, ret, err, err_len);
	if (o)
		free(o->path);
	free(o);
	return ret;
}

static int output_conn(struct output *o, const struct event *ev)
{
	if (ev->conn.outcome < OUTCOME_COUNT)
		o->totals.outcomes[ev->conn.outcome]++;
	if (filter_tell(o->filter, &ev->conn))
		return output_write(o, ev);
	o->totals.filtered++;
	return 0;
}

static int output_gauges(struct output *o, const struct event *ev)
{
	o->tick = ev->tick;
	if (ev->at_ns - o->ticked_ns < OUTPUT_TICK_NS)
		return 0;
	o->ticked_ns = ev->at_ns;
	return output_write(o, ev);
}

/* Cumulative, so only the newest counts: the end writes what the last ten seconds held back. */
static int output_dns(struct output *o, const struct event *ev)
{
	o->dns = *ev;
	if (ev->at_ns - o->dns_told_ns < OUTPUT_TICK_NS)
		return 0;
	o->dns_told_ns = ev->at_ns;
	o->dns.type = EVENT_START;
	return output_write(o, ev);
}

static int output_last_dns(struct output *o)
{
	if (o->dns.type != EVENT_DNS)
		return 0;
	o->dns_told_ns = 0;
	return output_write(o, &o->dns);
}

static int output_in_setup(struct output *o, const struct event *ev)
{
	o->totals.in_setup += ev->conn.phase != PHASE_UNKNOWN;
	return output_write(o, ev);
}

/* What this file holds, as its end says it. */
static void count_totals(struct output *o, struct end *end)
{
	struct end *t = &o->totals;

	memcpy(end->outcomes, t->outcomes, sizeof(end->outcomes));
	end->in_setup = t->in_setup;
	end->filtered = t->filtered;
	end->before_start = o->tick.before_start;
	end->lost = tick_lost(&o->tick) - o->lost_before;
	end_sum(end);
}

static int output_end(struct output *o, const struct event *ev)
{
	struct event own;
	int err = output_last_dns(o);

	if (err)
		return err;
	if (!o->reopened) {
		err = output_write(o, ev);
	} else {
		own = *ev;
		count_totals(o, &own.end);
		err = output_write(o, &own);
	}
	return err || !o->out ? err : output_flush(o);
}

int output_event(struct output *o, const struct event *ev)
{
	switch (ev->type) {
	case EVENT_CONN:
		return output_conn(o, ev);
	case EVENT_TICK:
		return output_gauges(o, ev);
	case EVENT_DNS:
		return output_dns(o, ev);
	case EVENT_IN_SETUP:
		return output_in_setup(o, ev);
	case EVENT_END:
		return output_end(o, ev);
	case EVENT_START:
		o->start = *ev;
		break;
	case EVENT_SETTINGS:
	case EVENT_TRIGGER:
	case EVENT_SWEEP:
		break;
	}
	return output_write(o, ev);
}

int output_tick(struct output *o)
{
	if (!o->out || clock_mono_ns() - o->flushed_ns < OUTPUT_FLUSH_NS)
		return 0;
	return output_flush(o);
}

static void tell_in_setup(struct output *o, struct stats *s)
{
	size_t count;
	const struct conn *list = stats_in_setup_list(s, &count);
	struct event ev = { .type = EVENT_IN_SETUP };

	for (size_t i = 0; i < count; i++) {
		ev.conn = list[i];
		if (ev.conn.phase != PHASE_UNKNOWN)
			output_in_setup(o, &ev);
	}
}

static void tell_reopened(struct output *o, struct stats *s, int64_t at_ns)
{
	struct event ev = { .type = EVENT_END, .at_ns = at_ns };
	struct verdict verdict;

	strcpy(ev.end.reason, "reopened");
	verdict_build(s, &verdict);
	for (unsigned int i = 0; i < verdict.count && i < VERDICT_MAX; i++)
		verdict_line(&verdict.findings[i], ev.end.verdict[ev.end.verdict_count++],
			     TEXT_LEN);
	tell_in_setup(o, s);
	count_totals(o, &ev.end);
	if (!output_write(o, &ev) && o->out)
		output_flush(o);
}

static void begin_totals(struct output *o, uint64_t lost_before)
{
	o->reopened = true;
	o->totals = (struct end){ 0 };
	o->lost_before = lost_before;
	o->ticked_ns = 0;
}

/* The new file is made first: when that fails the old one goes on, and nothing is lost. */
int output_reopen(struct output *o, struct stats *s)
{
	int64_t now_ns = clock_real_ns();
	FILE *next = NULL;
	char message[1200];
	int err;

	if (o->to_stdout)
		return 0;
	err = output_make(o->path, &next);
	if (err) {
		say_open_error(o->path, err, message, sizeof(message));
		log_warn("not reopened: %s", message);
		return 0;
	}
	if (o->out)
		tell_reopened(o, s, now_ns);
	if (o->out)
		fclose(o->out);
	o->out = next;
	begin_totals(o, tick_lost(&o->tick));
	o->start.at_ns = now_ns;
	o->start.start.settings = *stats_settings(s); /* as they are by now */
	o->start.start.missing_phases = stats_session(s)->missing_phases;
	return output_write(o, &o->start);
}

int output_part(struct output *o, const struct event *ev)
{
	int err = output_end(o, ev);

	o->tick = (struct tick){ 0 };
	begin_totals(o, 0);
	return err;
}

bool output_failed(const struct output *o)
{
	return o->failed;
}

void output_close(struct output *o)
{
	if (!o)
		return;
	if (o->out && (o->to_stdout ? fflush(o->out) : fclose(o->out)))
		o->failed = true;
	free(o->path);
	free(o);
}
