/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/merge_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

bool merge_id_equal(const struct merge_id *a, const struct merge_id *b)
{
	return a->pid == b->pid && llabs(a->at_ns - b->at_ns) < (long long)NS_PER_S &&
	       !strcmp(a->server, b->server);
}

int merge_ids_add(struct merge_ids *ids, const struct merge_id *id)
{
	size_t room = ids->room ? 2 * ids->room : 16;
	struct merge_id *grown;

	if (ids->count == ids->room) {
		grown = realloc(ids->list, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		ids->list = grown;
		ids->room = room;
	}
	ids->list[ids->count++] = *id;
	return 0;
}

bool merge_ids_remove(struct merge_ids *ids, const struct merge_id *id)
{
	for (size_t i = 0; i < ids->count; i++)
		if (merge_id_equal(&ids->list[i], id)) {
			ids->list[i] = ids->list[--ids->count];
			return true;
		}
	return false;
}

void merge_source_id(const struct merge_source *s, struct merge_id *id)
{
	memset(id, 0, sizeof(*id));
	snprintf(id->server, sizeof(id->server), "%s", s->head.server);
	id->at_ns = s->head.conn.at_ns;
	id->pid = s->head.conn.pid;
}

/* What counts up from each start goes on from where the one before ended. */
static void begin_section(struct merge_source *s)
{
	const struct session *session = &s->head.start;

	snprintf(s->server, sizeof(s->server), "%.64s%s%.64s:%d",
		 *session->host ? session->host : "unknown", *session->container ? "/" : "",
		 session->container, session->port);
	for (int l = 0; l < LOSS_COUNT; l++)
		s->before.lost[l] += s->tick.lost[l];
	s->before.listen_drops += s->tick.listen_drops;
	s->before.before_start += s->tick.before_start;
	memset(&s->tick, 0, sizeof(s->tick));
	memset(s->outcomes, 0, sizeof(s->outcomes));
}

void merge_source_next(struct merge_source *s, bool *incomplete)
{
	char err[TRACE_ERR_LEN];
	int ret;

	if (s->head.type != EVENT_IN_SETUP)
		s->in_setup.count = 0;
	ret = trace_next(s->reader, &s->head, err, sizeof(err));
	if (ret > 0) {
		if (s->head.type == EVENT_START)
			begin_section(s);
		if (!s->head.server)
			s->head.server = s->server;
		return;
	}
	if (ret < 0)
		log_error("%s", err);
	else if (!trace_complete(s->reader))
		log_warn("%s was cut off: it has no end, and may lack connections",
			 trace_name(s->reader));
	*incomplete |= ret < 0 || !trace_complete(s->reader);
	merge_source_close(s);
}

void merge_source_open(struct merge_source *s, const char *path, bool *incomplete)
{
	char err[TRACE_ERR_LEN];

	memset(s, 0, sizeof(*s));
	s->leading = true;
	if (!trace_open(&s->reader, path, err, sizeof(err))) {
		merge_source_next(s, incomplete);
		return;
	}
	s->reader = NULL;
	log_error("%s", err);
	*incomplete = true;
}

void merge_source_close(struct merge_source *s)
{
	trace_close(s->reader);
	s->reader = NULL;
	free(s->in_setup.list);
	s->in_setup = (struct merge_ids){ 0 };
	s->tick.in_setup = s->tick.accept_queue = s->tick.accept_queue_limit = 0;
	s->tick.has_accept_queue = false;
}
