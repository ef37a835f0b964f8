/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings that one part of the clients waits and the rest does not. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "model/verdict_private.h"

#define PART_SHARE 0.8 /* of all waiting */
#define PART_TIMES 5 /* longer than the others, on average, and at least */
#define PART_NS	   (50 * NS_PER_MS)

/* Rows of a table, split in two. */
struct part {
	struct hist in, out;
	unsigned int rows_in, rows_out;
	uint64_t dns_ns;
};

static void part_add(struct part *p, const struct key_row *row, bool in)
{
	hist_merge(in ? &p->in : &p->out, &row->wait);
	*(in ? &p->rows_in : &p->rows_out) += 1;
	p->dns_ns += in ? row->dns_ns : 0;
}

/* Unix socket clients make no lookup and cross no network: no one to be measured against. */
static bool is_remote(const struct key_row *row)
{
	return !row->special && row->value[0] != '[';
}

static bool is_ipv6(const struct key_row *row)
{
	return strchr(row->value, ':');
}

static bool waits_alone(const struct part *p)
{
	return p->in.count > 0 && p->out.count > 0 && mean_ns(&p->in) >= PART_NS &&
	       p->in.sum_ns >= PART_SHARE * (p->in.sum_ns + p->out.sum_ns) &&
	       mean_ns(&p->in) >= PART_TIMES * mean_ns(&p->out);
}

static bool waits_for_names(const struct part *p)
{
	return p->dns_ns * 2 > p->in.sum_ns;
}

/* All IPv6 clients against all others. */
static void split_family(const struct evidence *e, struct part *p)
{
	size_t count;
	const struct key_row *const *rows = stats_table(e->s, KEY_CLIENT, &count);

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < count; i++)
		if (is_remote(rows[i]))
			part_add(p, rows[i], is_ipv6(rows[i]));
}

/* The row that waited most against all others; NULL when there is none. */
static const struct key_row *split_first(const struct evidence *e, enum key k, struct part *p)
{
	size_t count;
	const struct key_row *const *rows = stats_table(e->s, k, &count);
	const struct key_row *first = NULL;

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < count; i++) {
		if (!is_remote(rows[i]))
			continue;
		if (!first)
			first = rows[i];
		part_add(p, rows[i], rows[i] == first);
	}
	return first;
}

static void say_part(const struct evidence *e, struct finding *f, const char *who,
		     const struct part *p)
{
	char in[DURATION_TEXT_LEN], out[DURATION_TEXT_LEN];

	/* of lookups it tells more than anything else does; of the rest, the phase tells more */
	f->weight = (waits_for_names(p) ? 1.02 : 0.5) * e->felt_s;
	say(f, "%s %s: p50 %s over %llu connection%s, %s for all others (%llu).", who,
	    waits_for_names(p) ? "alone waits for name lookups" : "alone waits",
	    duration_format(hist_percentile(&p->in, 50), in), (unsigned long long)p->in.count,
	    p->in.count == 1 ? "" : "s", duration_format(hist_percentile(&p->out, 50), out),
	    (unsigned long long)p->out.count);
}

static void advise_part(const struct evidence *e, struct finding *f, const struct part *p,
			const char *client)
{
	if (waits_for_names(p)) {
		advise_lookup(e, f, client);
		advise(f, "Its reverse zone, or who serves it, is what to mend.");
	} else {
		advise_trace(e, f, "--events -L 50ms");
	}
}

/* An IPv6 client as an example: the one that waited most. */
static const char *first_ipv6(const struct evidence *e)
{
	size_t count;
	const struct key_row *const *rows = stats_table(e->s, KEY_CLIENT, &count);

	for (size_t i = 0; i < count; i++)
		if (is_remote(rows[i]) && is_ipv6(rows[i]))
			return rows[i]->value;
	return "::1";
}

static bool ipv6_alone(const struct evidence *e, struct part *p)
{
	split_family(e, p);
	return p->rows_in > 1 && waits_alone(p);
}

bool find_ipv6(const struct evidence *e, struct finding *f)
{
	struct part p;

	if (!ipv6_alone(e, &p))
		return false;
	say_part(e, f, "IPv6", &p);
	advise_part(e, f, &p, first_ipv6(e));
	return true;
}

static bool client_alone(const struct evidence *e, struct part *p, const struct key_row **first)
{
	*first = split_first(e, KEY_CLIENT, p);
	return waits_alone(p);
}

bool find_one_client(const struct evidence *e, struct finding *f)
{
	const struct key_row *first;
	struct part p;

	if (!client_alone(e, &p, &first))
		return false;
	say_part(e, f, first->value, &p);
	advise_part(e, f, &p, first->value);
	return true;
}

bool find_one_network(const struct evidence *e, struct finding *f)
{
	const struct key_row *first, *client;
	struct part p;

	if (client_alone(e, &p, &client) || ipv6_alone(e, &p))
		return false;
	first = split_first(e, KEY_NETWORK, &p);
	if (!waits_alone(&p))
		return false;
	say_part(e, f, first->value, &p);
	/* who waited most in all is of the network that did */
	client = split_first(e, KEY_CLIENT, &(struct part){ 0 });
	advise_part(e, f, &p, client->value);
	return true;
}
