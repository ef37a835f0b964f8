/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trace's writer and reader share besides the tables of the model. */
#ifndef PGDNSTRACE_TRACE_KEYS_H
#define PGDNSTRACE_TRACE_KEYS_H

#include <string.h>

#include "bpf/record.h"

#define LOSS_KEY_LEN 32

/* "ring full" is the key "ring_full". */
static inline const char *loss_key(enum loss l, char *buf)
{
#define LOSS_TEXT(name, text) text,
	static const char *const texts[] = { LOSSES(LOSS_TEXT) };
#undef LOSS_TEXT

	strncpy(buf, texts[l], LOSS_KEY_LEN - 1);
	buf[LOSS_KEY_LEN - 1] = '\0';
	for (char *p = buf; (p = strchr(p, ' '));)
		*p = '_';
	return buf;
}

#endif
