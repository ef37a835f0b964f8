/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX 8192 /* more than servers have in setup; beyond, they are written at once */

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

static int release(struct exporter *x)
{
	int rc = 0;

	for (size_t i = 0; i < x->held_count && !rc; i++)
		rc = x->format->event(x->state, &x->held[i]);
	x->held_count = 0;
	return rc;
}

static int make_room(struct exporter *x)
{
	size_t room = x->held_room ? 2 * x->held_room : 64;
	struct event *held;

	if (x->held_count == HELD_MAX)
		return release(x);
	if (x->held_count < x->held_room)
		return 0;
	held = realloc(x->held, room * sizeof(*held));
	if (!held)
		return -ENOMEM;
	x->held = held;
	x->held_room = room;
	return 0;
}

static int hold(struct exporter *x, const struct event *ev)
{
	int rc = 0;

	if (ev->conn.phase != PHASE_UNKNOWN) {
		rc = make_room(x);
		if (!rc)
			x->held[x->held_count++] = *ev;
	}
	return rc;
}

int exporter_event(void *exporter, const struct event *ev)
{
	struct exporter *x = exporter;
	int rc = 0;

	if (ev->type == EVENT_IN_SETUP)
		return hold(x, ev);
	if (ev->type == EVENT_END)
		rc = release(x);
	x->held_count = 0;
	return rc || ev->type == EVENT_SWEEP ? rc : x->format->event(x->state, ev);
}

int exporter_close(struct exporter *x)
{
	int rc = x->state ? release(x) : 0, closed = x->state ? x->format->close(x->state) : 0;

	free(x->held);
	return rc ? rc : closed;
}
