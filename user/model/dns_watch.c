// SPDX-License-Identifier: BSD-2-Clause
#include "model/dns_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/hist.h"

#define ASKED_MAX  16384 /* questions that are remembered: 16 s at 1,000 a second */
#define CHAINS     4096
#define FORGET_NS  ((int64_t)(60 * NS_PER_S)) /* a later answer is to another question */
#define SLACK_NS   ((int64_t)NS_PER_MS)       /* between a probe's clock and a packet's */
#define TIMEOUT_NS ((int64_t)(5 * NS_PER_S))  /* where the resolver's own is not known */
#define OTHER      DNS_SERVERS

struct asked {
	int64_t at_ns;
	uint64_t rtt_ns;             /* valid with has_rtt */
	uint64_t question, previous; /* of the same chain: a number, 0: none */
	struct addr client, about;
	uint16_t port, id;
	uint8_t server; /* row, or OTHER */
	uint8_t rcode;
	bool tcp, retry, answered, has_rtt;
	bool given_up;  /* asked again since, here or elsewhere */
	uint64_t claim; /* the lookup it belongs to; 0: none yet */
};

struct row {
	struct dns_server server;
	uint64_t forgotten; /* unanswered ones that are no longer remembered */
	struct hist rtt;
};

/* Questions are numbered from 1; number n is at n % ASKED_MAX until it is overwritten. */
struct dns_watch {
	struct asked asked[ASKED_MAX];
	uint64_t newest;
	uint64_t chains[CHAINS]; /* the newest question of a chain */
	struct row rows[DNS_SERVERS];
	unsigned int count;
	uint64_t packets, lost, others;
	int64_t timeout_ns;
};

static int row_find(const struct dns_watch *w, const struct addr *server)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (addr_equal(&w->rows[i].server.address, server))
			return (int)i;
	return OTHER;
}

static int row_get(struct dns_watch *w, const struct addr *server)
{
	int row = row_find(w, server);

	if (row != OTHER || w->count == DNS_SERVERS)
		return row;
	w->rows[w->count].server.address = *server;
	return (int)w->count++;
}

struct dns_watch *dns_watch_new(const struct resolver *r)
{
	struct dns_watch *w = calloc(1, sizeof(*w));
	struct addr server;

	if (!w)
		return NULL;
	for (unsigned int i = 0; i < r->nameserver_count; i++)
		if (!addr_parse(r->nameservers[i], &server) && server.family >= ADDR_V4)
			row_get(w, &server);
	w->timeout_ns = r->has && r->timeout_s > 0 ? r->timeout_s * (int64_t)NS_PER_S : TIMEOUT_NS;
	return w;
}

void dns_watch_free(struct dns_watch *w)
{
	free(w);
}

void dns_watch_lost(struct dns_watch *w, uint64_t packets)
{
	w->lost += packets;
}

/* -- questions and answers -- */

static struct asked *asked_get(struct dns_watch *w, uint64_t number)
{
	if (!number || number + ASKED_MAX <= w->newest)
		return NULL;
	return &w->asked[number % ASKED_MAX];
}

/* All tries of one question, at any server, are in one chain. */
static uint64_t *chain_of(struct dns_watch *w, uint64_t question, uint16_t id)
{
	return &w->chains[(question ^ question >> 32 ^ id) % CHAINS];
}

/* Whoever asked has given it up, or would have by now. */
static bool is_unanswered(const struct dns_watch *w, const struct asked *a, int64_t now_ns)
{
	return !a->answered && (a->given_up || now_ns - a->at_ns >= w->timeout_ns);
}

/* The end of what falls out of memory unanswered is known once it has waited for long enough. */
static void forget(struct dns_watch *w, const struct asked *a, int64_t now_ns)
{
	if (!a->at_ns || a->answered || a->server == OTHER)
		return;
	if (is_unanswered(w, a, now_ns))
		w->rows[a->server].forgotten++;
	else
		w->lost++;
}

/* glibc keeps the id through all tries: those before this one have been given up. */
static void follow_up(struct dns_watch *w, struct asked *a)
{
	struct asked *b;

	for (uint64_t n = a->previous; (b = asked_get(w, n)); n = b->previous) {
		if (a->at_ns - b->at_ns >= FORGET_NS)
			break;
		if (b->question != a->question || b->id != a->id || b->answered)
			continue;
		b->given_up = true;
		a->retry |= b->server == a->server;
	}
}

static void take_question(struct dns_watch *w, const struct dns_packet *p, int64_t at_ns)
{
	uint64_t *chain = chain_of(w, p->question, p->id), number = ++w->newest;
	struct asked *a = &w->asked[number % ASKED_MAX];

	forget(w, a, at_ns);
	*a = (struct asked){ .at_ns = at_ns,
			     .question = p->question,
			     .previous = *chain,
			     .client = p->from,
			     .about = p->about,
			     .port = p->from_port,
			     .id = p->id,
			     .tcp = p->tcp,
			     .server = (uint8_t)row_get(w, &p->to) };
	*chain = number;
	follow_up(w, a);
	if (a->server == OTHER) {
		w->others++;
		return;
	}
	w->rows[a->server].server.queries++;
	w->rows[a->server].server.retries += a->retry;
}

static bool answers(const struct dns_packet *p, const struct asked *a, int server)
{
	return !a->answered && a->question == p->question && a->id == p->id &&
	       a->server == server && a->port == p->to_port && a->tcp == p->tcp &&
	       addr_equal(&a->client, &p->to);
}

/* The oldest question that it answers, and whether there are several. */
static struct asked *asked_by(struct dns_watch *w, const struct dns_packet *p, int64_t at_ns,
			      int server, bool *several)
{
	struct asked *found = NULL, *a;

	*several = false;
	for (uint64_t n = *chain_of(w, p->question, p->id); (a = asked_get(w, n));
	     n = a->previous) {
		if (at_ns - a->at_ns >= FORGET_NS)
			break;
		if (!answers(p, a, server))
			continue;
		*several = found;
		found = a;
	}
	return found;
}

/* Answers to questions from before the watch began, and to other servers' questions, match nothing.
 */
static void take_answer(struct dns_watch *w, const struct dns_packet *p, int64_t at_ns)
{
	int server = row_find(w, &p->from);
	bool several;
	struct asked *a = server == OTHER ? NULL : asked_by(w, p, at_ns, server, &several);

	if (!a)
		return;
	a->answered = true;
	a->rcode = p->rcode;
	a->has_rtt = !several && !a->retry;
	a->rtt_ns = (uint64_t)(at_ns - a->at_ns);
	w->rows[server].server.answers++;
	w->rows[server].server.rcodes[p->rcode]++;
	if (a->has_rtt)
		hist_record(&w->rows[server].rtt, a->rtt_ns);
}

void dns_watch_packet(struct dns_watch *w, const struct dns_packet *p, int64_t at_ns)
{
	w->packets++;
	if (p->answer)
		take_answer(w, p, at_ns);
	else
		take_question(w, p, at_ns);
}

/* -- the report -- */

static uint64_t first_remembered(const struct dns_watch *w)
{
	return w->newest < ASKED_MAX ? 1 : w->newest - ASKED_MAX + 1;
}

static void count_unanswered(const struct dns_watch *w, int64_t now_ns, struct dns_report *out)
{
	for (uint64_t n = first_remembered(w); n <= w->newest; n++) {
		const struct asked *a = &w->asked[n % ASKED_MAX];

		if (a->server != OTHER && is_unanswered(w, a, now_ns))
			out->servers[a->server].unanswered++;
	}
}

static void report_rtt(const struct hist *h, struct dns_server *out)
{
	out->rtt_count = h->count;
	out->rtt_p50_ns = hist_percentile(h, 50);
	out->rtt_p99_ns = hist_percentile(h, 99);
	out->rtt_max_ns = h->max_ns;
	for (unsigned int i = 0; i < DNS_RTT_BINS; i++)
		out->rtt_bins[i] = hist_count_between(
			h, i ? hist_border(NS_PER_US << (i - 1)) : 0,
			i < DNS_RTT_BINS - 1 ? hist_border(NS_PER_US << i) : UINT64_MAX);
}

void dns_watch_report(const struct dns_watch *w, int64_t now_ns, struct dns_report *out)
{
	memset(out, 0, sizeof(*out));
	out->packets = w->packets;
	out->lost = w->lost;
	out->others = w->others;
	out->count = w->count;
	for (unsigned int i = 0; i < w->count; i++) {
		out->servers[i] = w->rows[i].server;
		out->servers[i].unanswered = w->rows[i].forgotten;
		report_rtt(&w->rows[i].rtt, &out->servers[i]);
	}
	count_unanswered(w, now_ns, out);
}

/* -- lookups -- */

static void tell_question(const struct dns_watch *w, const struct asked *a, int64_t enter_ns,
			  struct lookup *l)
{
	struct question *q;

	if (l->question_count++ >= QUESTIONS_TOLD)
		return;
	q = &l->questions[l->question_count - 1];
	q->nameserver = w->rows[a->server].server.address;
	q->at_ns = a->at_ns > enter_ns ? (uint64_t)(a->at_ns - enter_ns) : 0;
	q->answered = a->answered;
	q->rcode = a->rcode;
	q->has_rtt = a->answered && a->has_rtt;
	q->rtt_ns = a->rtt_ns;
}

static void tie_lookup(struct dns_watch *w, int64_t enter_ns, uint64_t claim, struct lookup *l)
{
	int64_t from_ns = enter_ns - SLACK_NS, to_ns = enter_ns + (int64_t)l->dur_ns + SLACK_NS;
	uint64_t n = w->newest + 1;
	int id = -1;

	while (n > first_remembered(w) && w->asked[(n - 1) % ASKED_MAX].at_ns >= from_ns)
		n--;
	for (; n <= w->newest; n++) {
		struct asked *a = &w->asked[n % ASKED_MAX];

		if (a->at_ns > to_ns)
			break;
		if (a->server == OTHER || !addr_equal(&a->about, &l->address) ||
		    (a->claim && a->claim != claim) || (id >= 0 && a->id != id))
			continue;
		id = a->id;
		a->claim = claim;
		tell_question(w, a, enter_ns, l);
	}
}

void dns_watch_tie(struct dns_watch *w, struct conn *c)
{
	for (unsigned int i = 0; i < c->lookups_told; i++) {
		struct lookup *l = &c->lookups[i];

		l->question_count = 0;
		if (l->kind == DIRECTION_REVERSE)
			tie_lookup(w, c->at_ns + (int64_t)l->at_ns,
				   (uint64_t)c->host_pid << 8 | (i + 1), l);
	}
}
