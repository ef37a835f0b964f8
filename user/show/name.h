/* SPDX-License-Identifier: BSD-2-Clause */
/* Words and names as a person reads them, in the character set of LC_CTYPE. */
#ifndef PGDNSTRACE_SHOW_NAME_H
#define PGDNSTRACE_SHOW_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* UTF-8 as LC_CTYPE says; setlocale() was called by main. */
bool show_utf8(void);
/* safe_terminal(), and ASCII alone where utf8 is false. Returns buf. */
const char *show_name(const char *text, bool utf8, char *buf, size_t len);
/* Cuts a text that is valid for the terminal to so many columns, in place. Returns text. */
const char *show_cut(char *text, int columns);
/* A table's own name in words: "gave_up" is "gave up". buf holds 24. */
const char *show_words(const char *name, char *buf);
/* A span of time in whole seconds: "25s", "3m20s", "2h05m". buf holds DURATION_TEXT_LEN. */
const char *show_span(int64_t ns, char *buf);
/* "42%", "<1%", ">99%"; "" for a negative share. buf holds 8. */
const char *show_share(double share, char *buf);

#endif
