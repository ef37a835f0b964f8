/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile text made safe, one function for each place it is shown in. User, database, application
 * and DNS names may hold any byte; nothing of them reaches an output by another way.
 */
#ifndef PGDNSTRACE_SAFE_H
#define PGDNSTRACE_SAFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at text: its length in bytes (1 to 4), or 0 for a broken byte or the end. */
int safe_utf8_decode(const char *text, uint32_t *code_point);

/*
 * C0, DEL, C1, and what is not seen itself but changes the order or the look of what stands
 * beside it (bidirectional overrides, zero-width characters).
 */
bool safe_is_control(uint32_t code_point);

/* Each writes at most len bytes with a NUL and returns buf; what does not fit ends in "...". */

/* Terminal and log: control bytes (C0, C1, DEL, bidirectional overrides) and broken UTF-8 as \xNN.
 */
const char *safe_terminal(const char *text, char *buf, size_t len);
/* Valid UTF-8; broken bytes as U+FFFD. The JSON writer escapes the rest. */
const char *safe_utf8(const char *text, char *buf, size_t len);
/* A CSV field (RFC 4180), quoted where needed; a leading = + - @ TAB CR is defused by an
 * apostrophe. */
const char *safe_csv(const char *text, char *buf, size_t len);
/* HTML text or double-quoted attribute. */
const char *safe_html(const char *text, char *buf, size_t len);
/* Prometheus label value, without the quotes. */
const char *safe_prometheus(const char *text, char *buf, size_t len);

/* Columns a UTF-8 string takes on a terminal (wcwidth); broken bytes count one. */
int safe_columns(const char *text);

#endif
