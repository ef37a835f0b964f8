/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the frame share. Nobody else includes this. */
#ifndef PGDNSTRACE_FRAME_PRIVATE_H
#define PGDNSTRACE_FRAME_PRIVATE_H

#include "show/frame.h"

/* Each draws into an area, from its top, and keeps inside. */
void frame_header(const struct area *a, const struct frame_input *in);
/* As much of it as there is room for. */
void frame_verdict(const struct area *a, const struct frame_input *in);
void frame_phases(const struct area *a, const struct frame_input *in);
void frame_chart(const struct area *a, const struct frame_input *in);
void frame_time(const struct area *a, const struct frame_input *in);
void frame_panel(const struct area *a, const struct frame_input *in, enum panel panel);

void frame_help(const struct area *a, const struct desk *d);
/* One row each: the keys, or what is being typed; and what differs from the plain view. */
void frame_keys(const struct area *a, const struct desk *d);
bool frame_has_status(const struct frame_input *in);
void frame_status(const struct area *a, const struct frame_input *in);

/* Pieces of text side by side that flow over the rows of an area. */
struct flow {
	struct area area;
	int x, y;
};
void flow_put(struct flow *f, enum style style, const char *text);

/* "12345", "1.2M": at most 7 characters. buf holds 16. */
const char *frame_count(uint64_t count, char *buf);
/* "0.2", "12.3", "450": per second. buf holds 16. */
const char *frame_rate(double per_s, char *buf);
/* A percentile, "-" where there is none to show. buf holds DURATION_TEXT_LEN. */
const char *frame_percentile(const struct frame_input *in, const struct hist *h, double p,
			     char *buf);
/* A time as of the last sweep, and what has passed since. */
uint64_t frame_ticking(const struct frame_input *in, uint64_t ns);
/* Seconds that the figures on view cover. */
double frame_span_s(const struct frame_input *in);

#endif
