/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#define EXPORT_ROW(name, about) { #name, about, name##_open, name##_event, name##_close },
const struct export_format export_formats[] = { EXPORT_FORMATS(EXPORT_ROW){ 0 } };

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int export_status(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

int exporter_open(struct exporter *x, const struct export_format *format, FILE *out)
{
	*x = (struct exporter){ .format = format, .state = format->open(out) };
	return x->state ? 0 : -ENOMEM;
}

static bool is_wanted(struct exporter *x, const struct event *ev)
{
	if (ev->type == EVENT_IN_SETUP)
		return !x->behind_trigger && ev->conn.phase != PHASE_UNKNOWN;
	x->behind_trigger = ev->type == EVENT_TRIGGER;
	return ev->type != EVENT_SWEEP;
}

int exporter_event(void *exporter, const struct event *ev)
{
	struct exporter *x = exporter;

	return is_wanted(x, ev) ? x->format->event(x->state, ev) : 0;
}

int exporter_close(struct exporter *x)
{
	return x->state ? x->format->close(x->state) : 0;
}
