/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts held against files in tests/unit/golden. UPDATE_GOLDEN=1 writes what came out instead:
 * read the difference before it is committed.
 */
#ifndef PGDNSTRACE_GOLDEN_H
#define PGDNSTRACE_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *golden_read(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (in) {
		text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
		fclose(in);
	}
	return text;
}

static inline void golden_write(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* name without folder and ending; make unit runs from the top of the tree. */
static inline void assert_golden(const char *text, const char *name)
{
	char path[256];
	char *want;

	snprintf(path, sizeof(path), "tests/unit/golden/%s.txt", name);
	if (getenv("UPDATE_GOLDEN"))
		golden_write(path, text);
	want = golden_read(path);
	if (strcmp(want, text) != 0)
		printf("--- %s\n%s--- came out\n%s---\n", path, want, text);
	assert_string_equal(want, text);
	free(want);
}

#endif
