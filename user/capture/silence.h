/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that never fire: their symbol is there, but link time optimization has put their body
 * into the caller. Known from connections that went past them without a word.
 */
#ifndef PGDNSTRACE_SILENCE_H
#define PGDNSTRACE_SILENCE_H

#include "bpf/record.h"
#include "capture/attach.h"

#define SILENCE_CONNECTIONS 20 /* that went past a probe before it is called silent */

struct silence {
	unsigned int passed[PROBE_COUNT]; /* connections so far */
	unsigned int settled; /* bit per enum probe: it fired once, or was called silent */
};

/*
 * Takes a connection that ended. Bits of the probes that are silent by now, each told only once;
 * a probe that is not in the plan is never one.
 */
unsigned int silence_take(struct silence *s, const struct plan *plan, const struct record *rec);
/* The same, told by other means (a map's sweep, a counter): count connections went past the probe. */
unsigned int silence_count(struct silence *s, const struct plan *plan, enum probe p,
			   unsigned int count);

#endif
