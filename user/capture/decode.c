// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Exit statuses of a backend, PostgreSQL 13 to 19: 0 quiet, 1 FATAL, 2 quickdie in a crash restart. */
#define EXIT_STATUS_CRASH 2

/* "Having sent bytes": the kernel counts a FIN as one. */
static bool client_spoke(const struct record *rec)
{
	return rec->bytes_received > (rec->gone_ns ? 1 : 0);
}

static enum phase last_phase(const struct record *rec)
{
	for (int p = PHASE_COUNT - 1; p >= 0; p--)
		if (rec->start[p])
			return p;
	return PHASE_UNKNOWN;
}

/* Exit status 0, no errcode, and the client did not leave first. */
static enum outcome quiet_outcome(const struct record *rec)
{
	if (!rec->socket_seen || !client_spoke(rec))
		return OUTCOME_CLOSED;
	if (!rec->gone_ns && last_phase(rec) == PHASE_STARTUP)
		return OUTCOME_CANCEL;
	return OUTCOME_CLOSED;
}

/* Without errcode the exit status is all that tells a failure, which the client answers by leaving. */
static bool client_left_first(const struct record *rec)
{
	if (!rec->gone_ns || !client_spoke(rec))
		return false;
	if (rec->no_errcode)
		return !WEXITSTATUS(rec->exit_code);
	return !rec->errcode_ns || rec->gone_ns <= rec->errcode_ns;
}

bool decode_ready_unseen(const struct record *rec)
{
	return !rec->ready && rec->exited && rec->exit_code == 0 && rec->start[PHASE_PREPARE];
}

enum outcome decode_outcome(const struct record *rec)
{
	if (rec->ready)
		return rec->gone_ns ? OUTCOME_GAVE_UP : OUTCOME_READY;
	if (decode_ready_unseen(rec))
		return OUTCOME_READY;
	if (!rec->exited)
		return OUTCOME_NONE;
	if (WIFSIGNALED(rec->exit_code) || WEXITSTATUS(rec->exit_code) == EXIT_STATUS_CRASH)
		return OUTCOME_KILLED;
	if (client_left_first(rec))
		return OUTCOME_GAVE_UP;
	if (rec->errcode_ns || WEXITSTATUS(rec->exit_code))
		return OUTCOME_FAILED;
	return quiet_outcome(rec);
}

static void decode_addr(const struct record_addr *in, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	switch (in->family) {
	case AF_UNIX:
		out->family = ADDR_UNIX;
		break;
	case AF_INET:
		out->family = ADDR_V4;
		memcpy(out->bytes, in->bytes, 4);
		break;
	case AF_INET6:
		out->family = ADDR_V6;
		memcpy(out->bytes, in->bytes, 16);
		break;
	}
}

/* Accept, or the fork where accept was not seen. */
static uint64_t birth_ns(const struct record *rec)
{
	return rec->start[PHASE_FORK] ? rec->start[PHASE_FORK] : rec->start[PHASE_CHILD];
}

/*
 * Each phase lasts until the next instant that was seen; a missing marker's time falls to the one
 * before. So does one that was seen late, behind the next one's: a return probe that the kernel
 * missed (nmissed) marks its instant at a later call's return.
 */
static void decode_phases(const struct record *rec, uint64_t end_ns, struct conn *out)
{
	uint64_t next_ns = end_ns;

	for (int p = PHASE_COUNT - 1; p >= 0; p--) {
		if (!rec->start[p] || rec->start[p] > next_ns)
			continue;
		out->phases_present |= 1u << p;
		out->phases_ns[p] = next_ns - rec->start[p];
		next_ns = rec->start[p];
	}
}

static void decode_sums(const struct record *rec, uint64_t end_ns, struct conn *out)
{
	uint64_t birth = birth_ns(rec);

	out->has_total = birth != 0;
	out->total_ns = birth ? end_ns - birth : 0;
	out->has_wait = out->client.family == ADDR_UNIX ||
			(out->phases_present & (1u << PHASE_QUEUE));
	out->wait_ns = out->total_ns +
		       (out->phases_present & (1u << PHASE_QUEUE) ? out->phases_ns[PHASE_QUEUE] : 0);
}

void decode_as_ready_unseen(struct conn *c)
{
	c->outcome = OUTCOME_READY;
	c->has_total = c->has_wait = c->has_client_gone = false;
	c->phases_present &= (1u << PHASE_PREPARE) - 1;
	c->sqlstate[0] = '\0';
}

/* The phase that holds the instant; queue when it lies before accept. */
static enum phase phase_at(const struct record *rec, uint64_t instant_ns)
{
	for (int p = PHASE_COUNT - 1; p >= 0; p--)
		if (rec->start[p] && rec->start[p] <= instant_ns)
			return p;
	return PHASE_QUEUE;
}

static void decode_end(const struct record *rec, uint64_t end_ns, struct conn *out)
{
	out->outcome = decode_outcome(rec);
	out->phase = phase_at(rec, out->outcome == OUTCOME_GAVE_UP ? rec->gone_ns : end_ns);
	if (rec->gone_ns) {
		out->has_client_gone = true;
		out->client_gone_ns = (int64_t)(rec->gone_ns - birth_ns(rec));
	}
	if (out->outcome != OUTCOME_NONE)
		return;
	out->phase = last_phase(rec);
	out->in_phase_ns = out->phase == PHASE_UNKNOWN ? 0 : end_ns - rec->start[out->phase];
	out->age_ns = end_ns - birth_ns(rec);
}

/* ERRCODE_*: MAKE_SQLSTATE() packs five characters into six bits each, offset '0'. */
static void decode_sqlstate(const struct record *rec, char *out)
{
	if (!rec->errcode_ns)
		return;
	for (int i = 0; i < 5; i++)
		out[i] = (char)(((rec->sqlstate >> (6 * i)) & 0x3f) + '0');
	out[5] = '\0';
}

static void decode_within(const struct record *rec, uint64_t end_ns, struct conn *out)
{
	for (int w = 0; w < WITHIN_COUNT; w++) {
		const struct record_span *span = &rec->within[w];

		if (!span->calls && !span->open)
			continue;
		out->within_present |= 1u << w;
		out->within_ns[w] = span->sum_ns + (span->open ? end_ns - span->enter_ns : 0);
	}
}

/* "no-name" is the client's own address coming back, or EAI_NONAME; any other text is a name. */
static enum result lookup_result(const struct record_lookup *in, const struct lookup *out)
{
	struct addr answer;

	if (!in->done)
		return RESULT_PENDING;
	if (in->code == EAI_NONAME)
		return RESULT_NO_NAME;
	if (in->code)
		return RESULT_FAILED;
	if (in->direction == DIRECTION_REVERSE && !addr_parse(out->name, &answer) &&
	    addr_equal(&answer, &out->address))
		return RESULT_NO_NAME;
	return RESULT_NAME;
}

static void decode_lookup(const struct record *rec, const struct record_lookup *in,
			  uint64_t end_ns, struct lookup *out)
{
	out->by = in->asker;
	out->kind = in->direction;
	decode_addr(&in->addr, &out->address);
	out->at_ns = in->enter_ns - birth_ns(rec);
	out->dur_ns = in->done ? in->dur_ns : end_ns - in->enter_ns;
	out->code = in->code;
	memcpy(out->name, in->name, sizeof(out->name));
	out->name[sizeof(out->name) - 1] = '\0';
	out->result = lookup_result(in, out);
	if (out->result == RESULT_NO_NAME && out->kind == DIRECTION_REVERSE)
		out->name[0] = '\0';
}

static void decode_lookups(const struct record *rec, uint64_t end_ns, struct conn *out)
{
	out->lookup_count = rec->lookup_count;
	out->lookups_told = record_lookups_told(rec);
	/* a sweep reads while a program writes: counted, and its beginning not written yet */
	if (out->lookup_count && out->lookup_count == out->lookups_told &&
	    !rec->lookups[out->lookups_told - 1].enter_ns)
		out->lookup_count = --out->lookups_told;
	out->has_dns = out->lookup_count != 0;
	out->dns_ns = rec->dns_ns;
	for (unsigned int i = 0; i < out->lookups_told; i++) {
		decode_lookup(rec, &rec->lookups[i], end_ns, &out->lookups[i]);
		if (out->lookups[i].result == RESULT_PENDING)
			out->dns_ns += out->lookups[i].dur_ns;
	}
}

static void decode_names(const struct record *rec, struct conn *out)
{
	out->has_user = rec->has_user;
	out->has_application = rec->ready;
	memcpy(out->user, rec->user, PG_NAME_LEN - 1);
	memcpy(out->database, rec->database, PG_NAME_LEN - 1);
	memcpy(out->application, rec->application, PG_NAME_LEN - 1);
}

/* conn_timing (18+): socket_create, ready_for_use, fork_start, fork_end, auth_start, auth_end. */
static void decode_pg(const struct record *rec, struct conn *out)
{
	enum { FORK_START = 2, FORK_END, AUTH_START, AUTH_END };
	const __s64 *us = rec->conn_timing;

	if (!us[FORK_START] || us[FORK_END] < us[FORK_START] || !us[AUTH_START] ||
	    us[AUTH_END] < us[AUTH_START])
		return;
	out->has_pg = true;
	out->pg_fork_ns = (uint64_t)(us[FORK_END] - us[FORK_START]) * 1000;
	out->pg_auth_ns = (uint64_t)(us[AUTH_END] - us[AUTH_START]) * 1000;
}

void decode_conn(const struct record *rec, uint64_t now_ns, int64_t offset_ns, struct conn *out)
{
	uint64_t end_ns = rec->end_ns ? rec->end_ns : now_ns;

	memset(out, 0, sizeof(*out));
	out->at_ns = (int64_t)birth_ns(rec) + offset_ns;
	out->pid = (int)rec->pid;
	out->host_pid = (int)rec->host_pid;
	out->backend_start = rec->backend_start;
	decode_addr(&rec->client, &out->client);
	out->client_port = rec->client.port;
	decode_names(rec, out);
	decode_phases(rec, end_ns, out);
	decode_sums(rec, end_ns, out);
	decode_end(rec, end_ns, out);
	decode_sqlstate(rec, out->sqlstate);
	decode_within(rec, end_ns, out);
	decode_lookups(rec, end_ns, out);
	decode_pg(rec, out);
	if (decode_ready_unseen(rec))
		decode_as_ready_unseen(out);
}
