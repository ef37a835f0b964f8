/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files of the live capture share: the skeleton, and the state of a trace. Nobody else includes this. */
#ifndef PGDNSTRACE_LIVE_PRIVATE_H
#define PGDNSTRACE_LIVE_PRIVATE_H

#include "capture/attach.h"
#include "capture/compare.h"
#include "capture/library.h"
#include "capture/live.h"
#include "capture/packets.h"
#include "capture/silence.h"
#include "capture/sweep.h"
#include "pgdnstrace.skel.h"

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

/* Fills problem; returns -EIO. */
__attribute__((format(printf, 3, 4))) int live_problem(struct problem *problem, enum exit_code code,
						       const char *format, ...);

/* Opens, configures and loads the BPF object. */
int live_load(struct live *l, const struct live_options *o, struct problem *problem);
/* Decides which probes to use (l->plan), after trying whether return probes are safe. */
int live_plan(struct live *l, const struct live_options *o, struct problem *problem);
/* Attaches everything. The links of what was attached before an error are kept for live_close(). */
int live_attach(struct live *l, const struct live_options *o, struct problem *problem);
/* One more probe of the plan. 0 or -errno. */
int live_attach_probe(struct live *l, enum probe p);

#endif
