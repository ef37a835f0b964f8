/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/safe.h"
#include "show/name.h"

int canvas_resize(struct canvas *c, int width, int height)
{
	struct cell *cells;

	width = width < 1 ? 1 : width;
	height = height < 1 ? 1 : height;
	cells = calloc((size_t)width * height, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	for (int i = 0; i < width * height; i++)
		cells[i].character = ' ';
	free(c->cells);
	c->cells = cells;
	c->width = width;
	c->height = height;
	return 0;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	c->cells = NULL;
}

struct area canvas_area(struct canvas *c)
{
	return (struct area){ c, 0, 0, c->width, c->height };
}

static int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

struct area area_part(const struct area *a, int x, int y, int width, int height)
{
	struct area part = { a->canvas, 0, 0, 0, 0 };

	x = clamp(x, 0, a->width);
	y = clamp(y, 0, a->height);
	part.x = a->x + x;
	part.y = a->y + y;
	part.width = clamp(width, 0, a->width - x);
	part.height = clamp(height, 0, a->height - y);
	return part;
}

static struct cell *cell_at(const struct area *a, int x, int y)
{
	if (x < 0 || y < 0 || x >= a->width || y >= a->height)
		return NULL;
	return &a->canvas->cells[(a->y + y) * a->canvas->width + a->x + x];
}

void area_char(const struct area *a, int x, int y, enum style style, uint32_t character)
{
	struct cell *cell = cell_at(a, x, y);

	if (cell)
		*cell = (struct cell){ character, style };
}

void area_style(const struct area *a, int x, int y, int columns, enum style style)
{
	for (int i = 0; i < columns; i++)
		if (cell_at(a, x + i, y))
			cell_at(a, x + i, y)->style = style;
}

int area_put(const struct area *a, int x, int y, enum style style, const char *text)
{
	uint32_t character;
	int bytes, columns;

	for (; *text; text += bytes ? bytes : 1) {
		bytes = safe_utf8_decode(text, &character);
		columns = bytes ? wcwidth(character) : 1;
		if (columns < 1 || (!a->canvas->utf8 && character > 0x7e)) {
			character = '?';
			columns = 1;
		}
		if (x + columns > a->width)
			break;
		area_char(a, x, y, style, character);
		if (columns == 2)
			area_char(a, x + 1, y, style, 0);
		x += columns;
	}
	return x;
}

int area_printf(const struct area *a, int x, int y, enum style style, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return area_put(a, x, y, style, text);
}

void area_put_right(const struct area *a, int x, int y, enum style style, const char *text)
{
	area_put(a, x - safe_columns(text), y, style, text);
}

void area_name(const struct area *a, int x, int y, int columns, enum style style, const char *name)
{
	char safe[512];

	show_name(name, a->canvas->utf8, safe, sizeof(safe));
	area_put(a, x, y, style, show_cut(safe, columns));
}

void area_title(const struct area *a, const char *title, const char *more)
{
	uint32_t rule = a->canvas->utf8 ? 0x2500 : '-';
	int x = area_put(a, 0, 0, STYLE_TITLE, title) + 1;

	if (more[0])
		x = area_put(a, x, 0, STYLE_NORMAL, more) + 1;
	for (; x < a->width; x++)
		area_char(a, x, 0, STYLE_DIM, rule);
}

uint32_t canvas_bar_up(const struct canvas *c, int level)
{
	if (level <= 0)
		return ' ';
	return c->utf8 ? 0x2580 + clamp(level, 1, 8)
		       : (uint32_t) "._-:=+*#"[clamp(level, 1, 8) - 1];
}

uint32_t canvas_bar_right(const struct canvas *c, int level)
{
	if (level <= 0)
		return ' ';
	if (c->utf8)
		return 0x2590 - clamp(level, 1, 8);
	return level >= 4 ? '#' : '.';
}

uint32_t canvas_shade(const struct canvas *c, int level)
{
	if (level <= 0)
		return ' ';
	if (c->utf8)
		return level >= 4 ? 0x2588 : 0x2590 + level;
	return ".:*#"[clamp(level, 1, 4) - 1];
}

static void print_utf8(FILE *out, uint32_t c)
{
	if (c < 0x80)
		fputc(c, out);
	else if (c < 0x800)
		fprintf(out, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	else if (c < 0x10000)
		fprintf(out, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
	else
		fprintf(out, "%c%c%c%c", 0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f),
			0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
}

static int used_columns(const struct cell *row, int width)
{
	while (width > 0 && row[width - 1].character == ' ')
		width--;
	return width;
}

void canvas_print(const struct canvas *c, FILE *out)
{
	for (int y = 0; y < c->height; y++) {
		const struct cell *row = &c->cells[y * c->width];
		int used = used_columns(row, c->width);

		for (int x = 0; x < used; x++)
			if (row[x].character != 0)
				print_utf8(out, row[x].character);
		fputc('\n', out);
	}
}

void canvas_print_styles(const struct canvas *c, FILE *out)
{
	static const char letters[STYLE_COUNT] = " dtgbw!sk";

	for (int y = 0; y < c->height; y++) {
		for (int x = 0; x < c->width; x++)
			fputc(letters[c->cells[y * c->width + x].style], out);
		fputc('\n', out);
	}
}
