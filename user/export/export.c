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

bool export_wants(struct export_sift *sift, const struct event *ev)
{
	if (ev->type == EVENT_IN_SETUP)
		return !sift->behind_trigger && ev->conn.phase != PHASE_UNKNOWN;
	sift->behind_trigger = ev->type == EVENT_TRIGGER;
	return ev->type != EVENT_SWEEP;
}

int export_status(FILE *out)
{
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}

int export_run(const struct export_format *f, struct trace_reader *r, FILE *out, char *err,
	       size_t err_len)
{
	struct export_sift sift = { 0 };
	struct event ev;
	void *state = f->open(out);
	int rc, closed;

	err[0] = '\0';
	if (!state)
		return -ENOMEM;
	while ((rc = trace_next(r, &ev, err, err_len)) > 0) {
		if (!export_wants(&sift, &ev))
			continue;
		rc = f->event(state, &ev);
		if (rc < 0)
			break;
	}
	closed = f->close(state);
	return rc < 0 ? rc : closed;
}
