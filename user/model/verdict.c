/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/verdict.h"

#include <stdio.h>

#include "base/duration.h"

static struct finding *finding_new(struct verdict *v, const char *title)
{
	struct finding *f = &v->findings[v->count++];

	snprintf(f->title, sizeof(f->title), "%s", title);
	return f;
}

static void find_lookups(struct stats *s, struct verdict *v)
{
	uint64_t failed = 0, all = 0, pending = 0;
	const struct lookup_row *rows;
	size_t count;

	rows = stats_lookups(s, &count);
	for (size_t i = 0; i < count; i++) {
		all += rows[i].dur.count;
		failed += rows[i].result == RESULT_FAILED ? rows[i].dur.count : 0;
	}
	for (int by = 0; by < ASKER_COUNT; by++)
		pending += stats_in_setup_pending(s, by);
	if (failed + pending == 0)
		return;
	snprintf(finding_new(v, "NAME LOOKUPS")->text, sizeof(v->findings[0].text),
		 "%llu of %llu lookups failed; %llu wait now.", (unsigned long long)failed,
		 (unsigned long long)all, (unsigned long long)pending);
}

static void find_slowest(struct stats *s, struct verdict *v)
{
	char p50[DURATION_TEXT_LEN], p99[DURATION_TEXT_LEN];
	const struct hist *h;
	int worst = -1;

	for (int p = PHASE_FORK; p < PHASE_COUNT; p++)
		if (worst < 0 || stats_share(s, METRIC_PHASE(p), STATS_ALL) >
					 stats_share(s, METRIC_PHASE(worst), STATS_ALL))
			worst = p;
	h = stats_hist(s, METRIC_PHASE(worst), STATS_ALL, NULL);
	if (h->count == 0)
		return;
	snprintf(finding_new(v, "SLOWEST PHASE")->text, sizeof(v->findings[0].text),
		 "%s has %.0f%% of the time: p50 %s, p99 %s.", phase_name(worst),
		 100 * stats_share(s, METRIC_PHASE(worst), STATS_ALL),
		 duration_format(hist_percentile(h, 50), p50),
		 duration_format(hist_percentile(h, 99), p99));
}

static void find_silence(struct stats *s, struct verdict *v)
{
	const struct tick *t = stats_tick(s);
	struct finding *f;
	int used;

	if (stats_connections(s) != 0)
		return;
	f = finding_new(v, "NO CONNECTION YET");
	used = snprintf(f->text, sizeof(f->text), "Nobody has connected since tracing began.");
	if (t->has_accept_queue)
		snprintf(f->text + used, sizeof(f->text) - used, " Accept queue %u of %u.",
			 t->accept_queue, t->accept_queue_limit);
}

void verdict_build(struct stats *s, struct verdict *v)
{
	*v = (struct verdict){ 0 };
	find_lookups(s, v);
	find_slowest(s, v);
	find_silence(s, v);
}

const char *verdict_line(const struct finding *f, char *buf, size_t len)
{
	snprintf(buf, len, "%s: %s", f->title, f->text);
	return buf;
}
