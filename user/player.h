/* SPDX-License-Identifier: BSD-2-Clause */
/* Plays a trace on the screen: at real time or faster, paused, from any instant. */
#ifndef PGDNSTRACE_PLAYER_H
#define PGDNSTRACE_PLAYER_H

#include "pipeline.h"

/*
 * Plays p->options->file until the person leaves; p->stats then is what was on view last, and the
 * terminal is given back. -ENOTTY: no terminal for it. 0, or -errno with a sentence in message.
 */
int player_run(struct pipeline *p, char *message, size_t len);

#endif
