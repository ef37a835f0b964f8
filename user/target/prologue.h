/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in a function's first bytes a uprobe is cheap. The kernel emulates some instructions and
 * single-steps all others, which costs 11 to 14 us instead of 0.6 to 0.9 us.
 */
#ifndef PGDNSTRACE_PROLOGUE_H
#define PGDNSTRACE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROLOGUE_LEN 24 /* bytes that are looked at */

/*
 * How many bytes behind the first one the probe goes: on an emulated instruction when only
 * instructions stand before it that leave arguments, stack pointer and return address alone, so
 * that entry and return probes see what they would see on the first byte. Else 0, with
 * *single_stepped set. machine: EM_X86_64 or EM_AARCH64; for others 0.
 */
size_t prologue_skip(int machine, const uint8_t *code, size_t len, bool *single_stepped);

#endif
