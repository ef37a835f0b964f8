/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the text view share. Nobody else includes this. */
#ifndef PGDNSTRACE_TEXT_PRIVATE_H
#define PGDNSTRACE_TEXT_PRIVATE_H

#include "show/text.h"

#define TEXT_COLUMNS 80

struct text {
	FILE *out;
	struct stats *s;
	const struct view_options *o;
	bool utf8;
};

/* Writes words from column `used` on (0: a new line), other lines behind `indent` spaces. */
void text_wrap(const struct text *t, const char *words, int used, int indent);
/* A name cut or padded to so many columns. */
void text_name(const struct text *t, const char *name, int columns);
/* "11.9ms", or "-" where there is no value or percentiles may not be shown. buf: DURATION_TEXT_LEN
 */
const char *text_percentile(const struct text *t, const struct hist *h, double p, char *buf);
const char *text_max(const struct hist *h, char *buf);

void text_by(const struct text *t, enum key key);
void text_lookups(const struct text *t);
void text_reverse(const struct text *t);
void text_resolver(const struct text *t);
void text_nameservers(const struct text *t);
void text_failures(const struct text *t);

#endif
