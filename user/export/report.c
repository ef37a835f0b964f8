/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "export/assets.h"
#include "export/export.h"

/*
 * The template's only holes. The nonce is what the page's content security policy asks of a script
 * or style: markup that got in by a mistake of ours would not have it.
 */
enum hole { HOLE_NONE, HOLE_NONCE, HOLE_CSS, HOLE_DATA, HOLE_CHART, HOLE_JS };

static const struct {
	const char *text;
	enum hole hole;
} holes[] = {
	{ "{{nonce}}", HOLE_NONCE }, { "{{css}}", HOLE_CSS }, { "{{data}}", HOLE_DATA },
	{ "{{chart}}", HOLE_CHART }, { "{{js}}", HOLE_JS },
};

static int make_nonce(char *hex, size_t len)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes) && 2 * i + 3 <= len; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* JSON in a script element: '<' would be able to end it. It only stands inside strings. */
static void write_data(FILE *out, const char *json)
{
	for (size_t run; *json; json += run) {
		run = strcspn(json, "<");
		fwrite(json, 1, run, out);
		if (json[run] == '<') {
			fputs("\\u003c", out);
			run++;
		}
	}
}

static void fill_hole(FILE *out, enum hole hole, const char *nonce, const char *json)
{
	switch (hole) {
	case HOLE_NONCE:
		fputs(nonce, out);
		break;
	case HOLE_CSS:
		fwrite(asset_css, 1, asset_css_end - asset_css, out);
		break;
	case HOLE_DATA:
		write_data(out, json);
		break;
	case HOLE_CHART:
		fwrite(asset_chart, 1, asset_chart_end - asset_chart, out);
		break;
	case HOLE_JS:
		fwrite(asset_js, 1, asset_js_end - asset_js, out);
		break;
	case HOLE_NONE:
		break;
	}
}

/* The hole that text begins with, and its length. */
static enum hole hole_at(const char *text, size_t *len)
{
	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		*len = strlen(holes[i].text);
		if (!strncmp(text, holes[i].text, *len))
			return holes[i].hole;
	}
	return HOLE_NONE;
}

static void write_page(FILE *out, const char *nonce, const char *json)
{
	const char *text = asset_html;
	size_t len;

	while (*text) {
		size_t plain = strcspn(text, "{");
		enum hole hole;

		fwrite(text, 1, plain, out);
		text += plain;
		hole = *text ? hole_at(text, &len) : HOLE_NONE;
		if (hole == HOLE_NONE && *text) {
			putc(*text++, out);
			continue;
		}
		fill_hole(out, hole, nonce, json);
		text += *text ? len : 0;
	}
}

int report_write(FILE *out, struct report_data *d, const struct report_options *o)
{
	char nonce[33];
	char *json;
	int rc = make_nonce(nonce, sizeof(nonce));

	if (rc < 0)
		return rc;
	json = report_page_json(d, o);
	if (!json)
		return -ENOMEM;
	write_page(out, nonce, json);
	free(json);
	return export_status(out);
}
