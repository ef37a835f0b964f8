/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A grid of styled characters, drawn to by pure functions and put on a terminal, or into a test,
 * by somebody else. What does not fit is clipped; a character of two columns is never halved.
 */
#ifndef PGDNSTRACE_CANVAS_H
#define PGDNSTRACE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a cell means; the terminal decides how that looks. */
enum style {
	STYLE_NORMAL,
	STYLE_DIM, /* labels, rules */
	STYLE_TITLE,
	STYLE_GOOD,
	STYLE_BAR,  /* fast */
	STYLE_WARN, /* slow: 100 ms and more; and settings that cost */
	STYLE_BAD,  /* 1 s and more; gave up, lost */
	STYLE_SELECTED,
	STYLE_KEY, /* in the footer */
	STYLE_COUNT,
};

struct cell {
	uint32_t character; /* 0: the right half of the one before */
	enum style style;
};

struct canvas {
	int width, height;
	bool utf8; /* bars and rules may use block characters */
	struct cell *cells;
};

/* A part of the canvas; coordinates in it count from its own corner. */
struct area {
	struct canvas *canvas;
	int x, y, width, height;
};

/* Blank, of that size (at least 1 x 1). 0 or -ENOMEM. The canvas begins zeroed. */
int canvas_resize(struct canvas *c, int width, int height);
void canvas_free(struct canvas *c);
struct area canvas_area(struct canvas *c);
/* A part of an area, clipped to it; its width and height are never below 0. */
struct area area_part(const struct area *a, int x, int y, int width, int height);

/* Writes UTF-8 that is safe for the terminal. Returns the column behind it. */
int area_put(const struct area *a, int x, int y, enum style style, const char *text);
__attribute__((format(printf, 5, 6))) int area_printf(const struct area *a, int x, int y,
						      enum style style, const char *format, ...);
/* Hostile text: made safe, cut to so many columns, the rest left blank. */
void area_name(const struct area *a, int x, int y, int columns, enum style style, const char *name);
/* Text that ends left of column x. */
void area_put_right(const struct area *a, int x, int y, enum style style, const char *text);
void area_char(const struct area *a, int x, int y, enum style style, uint32_t character);
/* Changes the look of what stands there already. */
void area_style(const struct area *a, int x, int y, int columns, enum style style);
/* "in setup 12 ------": a title and a rule to the area's right end, in its first row. */
void area_title(const struct area *a, const char *title, const char *more);

/* Bars: level 0 (empty) to 8 (full); in ASCII fewer are told apart. */
uint32_t canvas_bar_up(const struct canvas *c, int level);
uint32_t canvas_bar_right(const struct canvas *c, int level);
uint32_t canvas_shade(const struct canvas *c, int level); /* 0 to 4 */

/* The canvas as lines of text; trailing blanks are dropped. */
void canvas_print(const struct canvas *c, FILE *out);
/* One line a row with a letter a cell for its style: for tests. */
void canvas_print_styles(const struct canvas *c, FILE *out);

#endif
