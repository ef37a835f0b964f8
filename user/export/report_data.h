/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report shows, gathered from the stream in memory that does not grow with it: the
 * statistics, a timeline, a fair sample of the connections, the slowest ones whole, and what
 * happened to the server meanwhile.
 */
#ifndef PGDNSTRACE_REPORT_DATA_H
#define PGDNSTRACE_REPORT_DATA_H

#include "export/hide.h"
#include "export/timeline.h"
#include "model/stats.h"

#define REPORT_DOTS	4000
#define REPORT_SLOWEST	50
#define REPORT_SESSIONS 16
#define REPORT_CHANGES	64
#define REPORT_TRIGGERS 16

/* A connection as a dot: when, how long, how it ended. */
struct dot {
	int64_t at_ns;
	uint64_t wait_ns;
	enum outcome outcome;
};

/* Thresholds of "waited longer than", in ms. */
#define REPORT_WAITS(X) X(100) X(1000) X(5000)
enum { REPORT_WAIT_COUNT = 3 };

struct report_data {
	struct hide hide;
	struct stats *stats;
	struct timeline timeline;
	int64_t from_ns, to_ns; /* first and last instant told; 0: nothing yet */

	uint64_t dots_seen; /* of these, dot_count are kept: a uniform sample */
	unsigned int dot_count;
	struct dot dots[REPORT_DOTS];
	uint64_t waited[REPORT_WAIT_COUNT]; /* connections of all outcomes */

	unsigned int slowest_count; /* in no order until report_data_sort() */
	struct conn slowest[REPORT_SLOWEST];

	unsigned int session_count, change_count, trigger_count; /* told; further ones are not */
	struct report_session {
		int64_t at_ns;
		struct session session;
	} sessions[REPORT_SESSIONS];
	struct report_change {
		int64_t at_ns;
		struct settings settings;
	} changes[REPORT_CHANGES];
	struct report_trigger {
		int64_t at_ns;
		struct trigger trigger;
	} triggers[REPORT_TRIGGERS];
	uint64_t random; /* state of the sample's generator: the same trace gives the same page */
};

struct report_data *report_data_new(const struct hide *hide); /* NULL: out of memory */
void report_data_free(struct report_data *d); /* accepts NULL */
int report_data_event(void *data, const struct event *ev); /* an event_sink */
void report_data_sort(struct report_data *d); /* slowest first */

/* wait, or total where wait was not seen; false when neither is known. */
bool report_wait(const struct conn *c, uint64_t *ns);

#endif
