/* SPDX-License-Identifier: BSD-2-Clause */
#include "keep/trace.h"

#include <errno.h>
#include <stdio.h>

#include "base/json_out.h"
#include "keep/trace_keys.h"

/* "" is absent. */
static void put_text(struct json_out *j, const char *key, const char *text)
{
	if (*text)
		json_put_text(j, key, text);
}

static void put_phases(struct json_out *j, unsigned int phases)
{
	json_put_open(j, "missing_phases", '[');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		if (phases >> p & 1)
			json_put_text(j, NULL, phase_name(p));
	json_put_close(j, ']');
}

static void put_settings(struct json_out *j, const char *key, const struct settings *s)
{
	json_put_open(j, key, '{');
	if (s->has_log_hostname)
		json_put_bool(j, "log_hostname", s->log_hostname);
	if (s->has_log_line_prefix)
		json_put_text(j, "log_line_prefix", s->log_line_prefix);
	if (s->has_printers) {
		json_put_open(j, "name_shown_by", '[');
		for (enum printer p = 0; p < PRINTER_COUNT; p++)
			if (s->printers >> p & 1)
				json_put_text(j, NULL, printer_name(p));
		json_put_close(j, ']');
	}
	if (s->missing_phases)
		put_phases(j, s->missing_phases);
	json_put_close(j, '}');
}

static void put_list(struct json_out *j, const char *key, const char *first, size_t stride,
		     unsigned int count)
{
	json_put_open(j, key, '[');
	for (unsigned int i = 0; i < count && i < RESOLVER_LIST; i++)
		json_put_text(j, NULL, first + i * stride);
	json_put_close(j, ']');
}

static void put_resolver(struct json_out *j, const struct resolver *r)
{
	if (!r->has)
		return;
	json_put_open(j, "resolver", '{');
	put_list(j, "hosts", r->hosts[0], sizeof(r->hosts[0]), r->host_count);
	put_list(j, "nameservers", r->nameservers[0], sizeof(r->nameservers[0]),
		 r->nameserver_count);
	if (r->search_count)
		put_list(j, "search", r->search[0], sizeof(r->search[0]), r->search_count);
	json_put_int(j, "timeout_s", r->timeout_s);
	json_put_int(j, "attempts", r->attempts);
	json_put_bool(j, "rotate", r->rotate);
	json_put_bool(j, "single_request", r->single_request);
	json_put_bool(j, "nscd", r->nscd);
	json_put_bool(j, "nss_resolve", r->nss_resolve);
	put_text(j, "libc", r->libc);
	json_put_close(j, '}');
}

static void put_missing(struct json_out *j, const struct session *s)
{
	put_phases(j, s->missing_phases);
	if (s->missing_within) {
		json_put_open(j, "missing_within", '[');
		for (enum within w = 0; w < WITHIN_COUNT; w++)
			if (s->missing_within >> w & 1)
				json_put_text(j, NULL, within_name(w));
		json_put_close(j, ']');
	}
	if (s->missing_forward) {
		json_put_open(j, "missing_lookups", '[');
		json_put_text(j, NULL, direction_name(DIRECTION_FORWARD));
		json_put_close(j, ']');
	}
}

static void put_start(struct json_out *j, const struct session *s)
{
	put_text(j, "host", s->host);
	put_text(j, "kernel", s->kernel);
	if (s->postmaster)
		json_put_int(j, "postmaster", s->postmaster);
	put_text(j, "server_version", s->server_version);
	if (s->port)
		json_put_int(j, "port", s->port);
	put_text(j, "cluster_name", s->cluster_name);
	put_text(j, "data_directory", s->data_directory);
	put_text(j, "container", s->container);
	put_text(j, "time_zone", s->time_zone);
	put_text(j, "socket_directory", s->socket_directory);
	put_settings(j, "settings", &s->settings);
	put_resolver(j, &s->resolver);
	put_missing(j, s);
	if (*s->filter)
		json_put_text(j, "filter", s->filter);
	else
		json_put_null(j, "filter");
}

static void put_client(struct json_out *j, const struct conn *c)
{
	char text[ADDR_TEXT_LEN];

	json_put_int(j, "pid", c->pid);
	if (c->host_pid != c->pid)
		json_put_int(j, "host_pid", c->host_pid);
	put_text(j, "session_id", conn_session_id(c, text));
	put_text(j, "client", addr_format(&c->client, text));
	if (c->client_port)
		json_put_int(j, "client_port", c->client_port);
	if (c->has_user) {
		json_put_text(j, "user", c->user);
		json_put_text(j, "database", c->database);
	}
	if (c->has_application)
		json_put_text(j, "application", c->application);
}

static void put_times(struct json_out *j, const struct conn *c)
{
	if (c->has_wait)
		json_put_us(j, "wait_us", c->wait_ns);
	if (c->has_total)
		json_put_us(j, "total_us", c->total_ns);
	if (c->has_dns)
		json_put_us(j, "dns_us", c->dns_ns);
	json_put_open(j, "phases_us", '{');
	for (enum phase p = 0; p < PHASE_COUNT; p++)
		if (c->phases_present >> p & 1)
			json_put_us(j, phase_name(p), c->phases_ns[p]);
	json_put_close(j, '}');
	if (c->within_present) {
		json_put_open(j, "within_us", '{');
		for (enum within w = 0; w < WITHIN_COUNT; w++)
			if (c->within_present >> w & 1)
				json_put_us(j, within_name(w), c->within_ns[w]);
		json_put_close(j, '}');
	}
	if (c->has_pg) { /* whole microseconds, as PostgreSQL measures them */
		json_put_open(j, "pg_us", '{');
		json_put_uint(j, "fork", c->pg_fork_ns / 1000);
		json_put_uint(j, "authentication", c->pg_auth_ns / 1000);
		json_put_close(j, '}');
	}
}

static void put_question(struct json_out *j, const struct question *q)
{
	char text[ADDR_TEXT_LEN];

	json_put_open(j, NULL, '{');
	json_put_text(j, "nameserver", addr_format(&q->nameserver, text));
	json_put_us(j, "at_us", q->at_ns);
	if (q->answered)
		json_put_text(j, "rcode", dns_rcode_name(q->rcode, text));
	if (q->has_rtt)
		json_put_us(j, "rtt_us", q->rtt_ns);
	json_put_close(j, '}');
}

static void put_questions(struct json_out *j, const struct lookup *l)
{
	if (!l->question_count)
		return;
	json_put_uint(j, "question_count", l->question_count);
	json_put_open(j, "questions", '[');
	for (unsigned int i = 0; i < l->question_count && i < QUESTIONS_TOLD; i++)
		put_question(j, &l->questions[i]);
	json_put_close(j, ']');
}

static void put_lookup(struct json_out *j, const struct lookup *l)
{
	char text[ADDR_TEXT_LEN];

	json_put_open(j, NULL, '{');
	json_put_text(j, "by", asker_name(l->by));
	json_put_text(j, "kind", direction_name(l->kind));
	put_text(j, "address", addr_format(&l->address, text));
	json_put_us(j, "at_us", l->at_ns);
	json_put_us(j, "dur_us", l->dur_ns);
	json_put_text(j, "result", result_name(l->result));
	if (l->result != RESULT_PENDING)
		json_put_int(j, "code", l->code);
	put_text(j, "name", l->name);
	put_questions(j, l);
	json_put_close(j, '}');
}

static void put_lookups(struct json_out *j, const struct conn *c)
{
	json_put_uint(j, "lookup_count", c->lookup_count);
	if (!c->lookups_told)
		return;
	json_put_open(j, "lookups", '[');
	for (unsigned int i = 0; i < c->lookups_told && i < LOOKUPS_TOLD; i++)
		put_lookup(j, &c->lookups[i]);
	json_put_close(j, ']');
}

static void put_conn(struct json_out *j, const struct conn *c)
{
	put_client(j, c);
	json_put_text(j, "outcome", outcome_name(c->outcome));
	if (c->outcome != OUTCOME_READY)
		json_put_text(j, "phase", phase_name(c->phase));
	put_text(j, "sqlstate", c->sqlstate);
	if (c->has_client_gone)
		json_put_us(j, "client_gone_us", c->client_gone_ns);
	put_times(j, c);
	put_lookups(j, c);
}

static void put_in_setup(struct json_out *j, const struct conn *c)
{
	put_client(j, c);
	json_put_text(j, "phase", phase_name(c->phase));
	if (c->phase != PHASE_UNKNOWN)
		json_put_us(j, "phase_us", c->in_phase_ns);
	json_put_us(j, "age_us", c->age_ns);
	put_text(j, "sqlstate", c->sqlstate);
	if (c->has_client_gone)
		json_put_us(j, "client_gone_us", c->client_gone_ns);
	put_times(j, c);
	put_lookups(j, c);
}

static void put_losses(struct json_out *j, const uint64_t *lost)
{
	char key[LOSS_KEY_LEN];
	uint64_t all = 0;

	for (enum loss l = 0; l < LOSS_COUNT; l++)
		all += lost[l];
	json_put_uint(j, "lost", all);
	if (!all)
		return;
	json_put_open(j, "lost_by", '{');
	for (enum loss l = 0; l < LOSS_COUNT; l++)
		json_put_uint(j, loss_key(l, key), lost[l]);
	json_put_close(j, '}');
}

static void put_tick(struct json_out *j, const struct tick *t)
{
	json_put_uint(j, "in_setup", t->in_setup);
	if (t->has_accept_queue) {
		json_put_uint(j, "accept_queue", t->accept_queue);
		json_put_uint(j, "accept_queue_limit", t->accept_queue_limit);
		json_put_uint(j, "listen_drops", t->listen_drops);
	}
	put_losses(j, t->lost);
	json_put_uint(j, "before_start", t->before_start);
}

/* Keyed by the longest round trip of a bin, in us. */
static void put_rtt_bins(struct json_out *j, const uint64_t *bins)
{
	char key[16];

	json_put_open(j, "bins", '{');
	for (unsigned int i = 0; i < DNS_RTT_BINS; i++) {
		if (!bins[i])
			continue;
		snprintf(key, sizeof(key), "%u", 1u << i);
		json_put_uint(j, key, bins[i]);
	}
	json_put_close(j, '}');
}

static void put_dns_rtt(struct json_out *j, const struct dns_server *s)
{
	if (!s->rtt_count)
		return;
	json_put_open(j, "rtt_us", '{');
	json_put_uint(j, "count", s->rtt_count);
	json_put_us(j, "p50", s->rtt_p50_ns);
	json_put_us(j, "p99", s->rtt_p99_ns);
	json_put_us(j, "max", s->rtt_max_ns);
	put_rtt_bins(j, s->rtt_bins);
	json_put_close(j, '}');
}

static void put_dns_server(struct json_out *j, const struct dns_server *s)
{
	char text[ADDR_TEXT_LEN];

	json_put_open(j, NULL, '{');
	json_put_text(j, "nameserver", addr_format(&s->address, text));
	json_put_uint(j, "queries", s->queries);
	json_put_uint(j, "answers", s->answers);
	json_put_uint(j, "unanswered", s->unanswered);
	json_put_uint(j, "retries", s->retries);
	json_put_open(j, "rcodes", '{');
	for (unsigned int i = 0; i < DNS_RCODES; i++)
		if (s->rcodes[i])
			json_put_uint(j, dns_rcode_name(i, text), s->rcodes[i]);
	json_put_close(j, '}');
	put_dns_rtt(j, s);
	json_put_close(j, '}');
}

static void put_dns(struct json_out *j, const struct dns_report *r)
{
	json_put_uint(j, "packets", r->packets);
	json_put_uint(j, "lost", r->lost);
	json_put_uint(j, "others", r->others);
	json_put_open(j, "nameservers", '[');
	for (unsigned int i = 0; i < r->count; i++)
		put_dns_server(j, &r->servers[i]);
	json_put_close(j, ']');
}

static void put_trigger(struct json_out *j, const struct trigger *t)
{
	json_put_text(j, "condition", t->condition);
	if (t->has_value)
		json_put_real(j, "value", t->value);
	json_put_uint(j, "cut_off", t->cut_off);
}

static void put_end(struct json_out *j, const struct end *e)
{
	json_put_text(j, "reason", e->reason);
	json_put_uint(j, "connections", e->connections);
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		json_put_uint(j, outcome_name(o), e->outcomes[o]);
	json_put_uint(j, "in_setup", e->in_setup);
	json_put_uint(j, "before_start", e->before_start);
	json_put_uint(j, "lost", e->lost);
	json_put_uint(j, "filtered", e->filtered);
	json_put_open(j, "verdict", '[');
	for (unsigned int i = 0; i < e->verdict_count; i++)
		json_put_text(j, NULL, e->verdict[i]);
	json_put_close(j, ']');
}

static void put_head(struct json_out *j, const struct event *ev, const char *type)
{
	bool is_conn = ev->type == EVENT_CONN || ev->type == EVENT_IN_SETUP;

	json_put_open(j, NULL, '{');
	json_put_text(j, "type", type);
	if (ev->type == EVENT_START) {
		json_put_int(j, "format", TRACE_FORMAT);
		put_text(j, "tool", ev->start.tool);
	}
	json_put_time(j, "at", is_conn ? ev->conn.at_ns : ev->at_ns);
	if (ev->server && ev->type != EVENT_START)
		json_put_text(j, "server", ev->server);
}

int trace_line(const struct event *ev, char *buf, size_t len)
{
	struct json_out j;

	json_put_start(&j, buf, len);
	switch (ev->type) {
	case EVENT_START:
		put_head(&j, ev, "start");
		put_start(&j, &ev->start);
		break;
	case EVENT_CONN:
		put_head(&j, ev, "conn");
		put_conn(&j, &ev->conn);
		break;
	case EVENT_TICK:
		put_head(&j, ev, "tick");
		put_tick(&j, &ev->tick);
		break;
	case EVENT_DNS:
		put_head(&j, ev, "dns");
		put_dns(&j, &ev->dns);
		break;
	case EVENT_SETTINGS:
		put_head(&j, ev, "settings");
		put_settings(&j, "changed", &ev->settings);
		break;
	case EVENT_TRIGGER:
		put_head(&j, ev, "trigger");
		put_trigger(&j, &ev->trigger);
		break;
	case EVENT_IN_SETUP:
		put_head(&j, ev, "in_setup");
		put_in_setup(&j, &ev->conn);
		break;
	case EVENT_END:
		put_head(&j, ev, "end");
		put_end(&j, &ev->end);
		break;
	case EVENT_SWEEP:
		return 0;
	}
	json_put_close(&j, '}');
	json_put_raw(&j, "\n", 1);
	return j.full ? -ENOBUFS : (int)j.used;
}

int trace_write(FILE *out, const struct event *ev)
{
	char line[TRACE_TEXT_MAX];
	int len = trace_line(ev, line, sizeof(line));

	if (len <= 0)
		return len;
	errno = EIO;
	return fwrite(line, 1, len, out) == (size_t)len ? 0 : -errno;
}
