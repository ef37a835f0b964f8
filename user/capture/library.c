// SPDX-License-Identifier: BSD-2-Clause
#include "capture/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *library, *symbol;
} probes[LIBRARY_PROBE_COUNT] = {
#define LIBRARY_ROW(name, file, function, kind) [LIBRARY_##name] = { file, function },
	LIBRARY_PROBES(LIBRARY_ROW)
#undef LIBRARY_ROW
};

const char *library_probe_symbol(enum library_probe p)
{
	return probes[p].symbol;
}

const char *library_probe_library(enum library_probe p)
{
	return probes[p].library;
}

int library_place_find(const struct target *t, enum library_probe p, struct library_place *place,
		       char *err, size_t err_len)
{
	int ret = target_library(t, probes[p].library, place->path, sizeof(place->path));

	place->fd = -1;
	if (ret == -ENOENT)
		return 0;
	if (!ret)
		place->fd = open(place->path, O_RDONLY | O_CLOEXEC);
	if (place->fd < 0) {
		ret = ret ? ret : -errno;
		snprintf(err, err_len, "cannot open the server's %s: %s", probes[p].library,
			 strerror(-ret));
		return ret;
	}
	snprintf(place->path, sizeof(place->path), "/proc/self/fd/%d", place->fd);
	ret = symbols_find(place->fd, probes[p].symbol, &place->symbol, err, err_len);
	return ret ? ret : 1;
}

void library_place_close(struct library_place *place)
{
	if (place->fd >= 0)
		close(place->fd);
	place->fd = -1;
}

void library_mark_missing(struct session *s, enum library_probe p)
{
	if (p == LIBRARY_GETADDRINFO)
		s->missing_forward = true;
	else
		s->missing_within |= 1u << (p < LIBRARY_PAM_AUTHENTICATE ? WITHIN_LDAP : WITHIN_PAM);
}
