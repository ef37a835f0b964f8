/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks and times as text. Wall clock times are ns since 1970. */
#ifndef PGDNSTRACE_CLOCK_H
#define PGDNSTRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

uint64_t clock_mono_ns(void); /* CLOCK_MONOTONIC, bpf_ktime_get_ns() */
int64_t clock_real_ns(void);
/* What to add to a monotonic time to get a wall clock time, as of now. */
int64_t clock_offset_ns(void);
/* The same for a time since boot, suspended time included (CLOCK_BOOTTIME, as /proc counts). */
int64_t clock_boot_offset_ns(void);

#define CLOCK_TEXT_LEN 32
/* "2026-10-02T10:06:26.730123Z". Returns buf, which holds CLOCK_TEXT_LEN. */
const char *clock_rfc3339(int64_t real_ns, char *buf);
/* "03:14:25 CEST" in the local zone. Returns buf, which holds CLOCK_TEXT_LEN. */
const char *clock_local(int64_t real_ns, char *buf);
/* Parses RFC 3339 (any offset, fraction optional); also "HH:MM:SS" when day_ns (a time in that UTC
 * day) is not 0. */
int clock_parse(const char *text, int64_t day_ns, int64_t *real_ns);

#endif
