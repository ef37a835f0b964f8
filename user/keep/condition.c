/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of --on. */
#include "keep/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/safe.h"

struct parser {
	const char *text, *at;
	char *err;
	size_t err_len;
};

__attribute__((format(printf, 2, 3))) static int mistake(struct parser *p, const char *format, ...)
{
	char reason[160], safe[2 * CONDITION_TEXT_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	snprintf(p->err, p->err_len, "'%s', position %zu: %s (--on help lists what can be asked)",
		 safe_terminal(p->text, safe, sizeof(safe)), (size_t)(p->at - p->text) + 1, reason);
	return -EINVAL;
}

static void skip_space(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

/* A word of lower case letters and underscores; "" when there is none or it is too long. */
static size_t take_word(struct parser *p, char *word, size_t len)
{
	size_t size = 0;

	while (islower((unsigned char)p->at[size]) || p->at[size] == '_')
		size++;
	if (size >= len)
		size = 0;
	memcpy(word, p->at, size);
	word[size] = '\0';
	return size;
}

/* Digits with a fraction. strtod alone would also take "inf", "0x10" and "1e3". */
static bool take_number(const char *text, double *number, const char **end)
{
	size_t digits = strspn(text, "0123456789.");
	char *stop;

	*number = strtod(text, &stop);
	*end = text + digits;
	return digits && stop == *end && isdigit((unsigned char)*text);
}

static int take_percentile(struct parser *p, struct condition *c)
{
	const char *end;

	if (c->kind != CONDITION_VALUE)
		return mistake(p, "only a duration has percentiles");
	p->at++;
	if (*p->at != 'p' || !take_number(p->at + 1, &c->percentile, &end) || c->percentile <= 0 ||
	    c->percentile >= 100)
		return mistake(p, "expected a percentile, p0.1 to p99.9");
	c->kind = CONDITION_PERCENTILE;
	p->at = end;
	return 0;
}

static int take_name(struct parser *p, struct condition *c)
{
	char word[24];
	size_t len = take_word(p, word, sizeof(word));

	if (!len)
		return mistake(p, "expected a name");
	c->metric = metric_parse(word);
	if (c->metric >= 0) {
		c->kind = CONDITION_VALUE;
	} else if (!strcmp(word, "in_setup")) {
		c->kind = CONDITION_IN_SETUP;
	} else if (!strcmp(word, "oldest")) {
		c->kind = CONDITION_OLDEST;
	} else {
		int outcome = outcome_parse(word);

		if (outcome < 0)
			return mistake(p, "'%s' is no metric, no outcome, not in_setup or oldest",
				       word);
		c->kind = CONDITION_RATE;
		c->outcome = outcome;
	}
	p->at += len;
	return *p->at == '.' ? take_percentile(p, c) : 0;
}

static int take_operator(struct parser *p)
{
	skip_space(p);
	if (*p->at != '>')
		return mistake(p, *p->at ? "expected >" : "expected > and a value");
	p->at++;
	if (*p->at == '=')
		return mistake(p, "expected >, not >=");
	skip_space(p);
	return 0;
}

static int take_duration(struct parser *p, struct condition *c)
{
	int err = duration_parse(p->at, &c->threshold_ns);

	if (err == -ERANGE)
		return mistake(p, "a duration lies between 0 and 10 years");
	return err ? mistake(p, "expected a duration such as 500ms or 3s") : 0;
}

static int take_rate(struct parser *p, struct condition *c)
{
	const char *end;

	if (!take_number(p->at, &c->threshold, &end) || strcmp(end, "/s"))
		return mistake(p, "expected a rate such as 10/s");
	return 0;
}

static int take_count(struct parser *p, struct condition *c)
{
	size_t digits = strspn(p->at, "0123456789");

	if (!digits || digits > 9 || p->at[digits])
		return mistake(p, "expected a number of connections");
	c->threshold = atoi(p->at);
	return 0;
}

static int take_value(struct parser *p, struct condition *c)
{
	switch (c->kind) {
	case CONDITION_RATE:
		return take_rate(p, c);
	case CONDITION_IN_SETUP:
		return take_count(p, c);
	default:
		return take_duration(p, c);
	}
}

int condition_parse(const char *text, struct condition *c, char *err, size_t err_len)
{
	struct parser p = { .text = c->text, .at = c->text, .err = err, .err_len = err_len };
	size_t len;
	int ret;

	memset(c, 0, sizeof(*c));
	text += strspn(text, " ");
	len = strlen(text);
	while (len && text[len - 1] == ' ')
		len--;
	if (len >= sizeof(c->text)) {
		snprintf(err, err_len, "a condition has at most %zu characters",
			 sizeof(c->text) - 1);
		return -EINVAL;
	}
	memcpy(c->text, text, len);
	ret = take_name(&p, c);
	if (!ret)
		ret = take_operator(&p);
	return ret ? ret : take_value(&p, c);
}

void condition_help(FILE *out)
{
	fputs("A condition opens an incident window:\n", out);
#define CONDITION_HELP(name, form, example, text)                                                  \
	fprintf(out, "  %-20s  %-12s  %s\n", form, example, text);
	CONDITIONS(CONDITION_HELP)
#undef CONDITION_HELP
	fputs("METRIC:", out);
	for (int m = 0; m < METRIC_COUNT; m++)
		fprintf(out, "%s %s", m && m % 10 == 0 ? "\n       " : "", metric_name(m));
	fputs("\nOUTCOME:", out);
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		fprintf(out, " %s", outcome_name(o));
	fputs("\nA duration takes us ms s m h; a bare number is seconds.\n", out);
}
