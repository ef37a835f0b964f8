/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/resolver.h"

#define BLANKS      " \t\r"
#define NAMESERVERS 3 /* MAXNS of glibc and musl: further ones are never asked */

/* RES_TIMEOUT, RES_DFLRETRY; RES_MAXRETRANS and RES_MAXRETRY, and musl's own limits */
#define TIMEOUT_S       5
#define ATTEMPTS        2
#define GLIBC_TIMEOUT_S 30
#define GLIBC_ATTEMPTS  5
#define MUSL_TIMEOUT_S  60
#define MUSL_ATTEMPTS   10

static bool is_musl(const struct resolver *r)
{
	return !strcmp(r->libc, "musl");
}

/* Cuts the next line off *text into line; false at the end. */
static bool next_line(const char **text, char *line, size_t len)
{
	size_t size = strcspn(*text, "\n");

	if (!**text)
		return false;
	snprintf(line, len, "%.*s", (int)size, *text);
	*text += size + ((*text)[size] == '\n');
	return true;
}

/* Words behind keyword at the line's start; NULL when the line has another keyword. */
static char *line_words(char *line, const char *keyword)
{
	size_t len = strlen(keyword);

	if (strncmp(line, keyword, len) || !strchr(BLANKS, line[len]))
		return NULL;
	return line + len;
}

static int option_number(const char *text, int max)
{
	int value = atoi(text);

	return value < 0 ? 0 : value > max ? max : value;
}

static void option_parse(const char *word, struct resolver *r)
{
	if (!strncmp(word, "timeout:", 8)) {
		r->timeout_s =
			option_number(word + 8, is_musl(r) ? MUSL_TIMEOUT_S : GLIBC_TIMEOUT_S);
		if (!r->timeout_s)
			r->timeout_s = 1; /* both libraries wait a second at least */
	} else if (!strncmp(word, "attempts:", 9)) {
		r->attempts = option_number(word + 9, is_musl(r) ? MUSL_ATTEMPTS : GLIBC_ATTEMPTS);
	} else if (!strcmp(word, "rotate")) {
		r->rotate = !is_musl(r);
	} else if (!strcmp(word, "single-request") || !strcmp(word, "single-request-reopen")) {
		r->single_request = !is_musl(r);
	}
}

void resolver_parse_options(const char *words, struct resolver *r)
{
	char copy[1024], *state, *word;

	snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, BLANKS, &state); word; word = strtok_r(NULL, BLANKS, &state))
		option_parse(word, r);
}

static void nameserver_parse(char *words, struct resolver *r)
{
	char *state, *address = strtok_r(words, BLANKS, &state);

	if (!address || r->nameserver_count == NAMESERVERS)
		return;
	snprintf(r->nameservers[r->nameserver_count++], sizeof(r->nameservers[0]), "%s", address);
}

/* "search" and "domain" replace each other: the last one counts. */
static void search_parse(char *words, unsigned int max, struct resolver *r)
{
	char *state, *word;

	r->search_count = 0;
	for (word = strtok_r(words, BLANKS, &state); word && r->search_count < max;
	     word = strtok_r(NULL, BLANKS, &state))
		snprintf(r->search[r->search_count++], sizeof(r->search[0]), "%s", word);
}

void resolver_parse_conf(const char *text, struct resolver *r)
{
	char line[1024], *words;

	r->nameserver_count = r->search_count = 0;
	r->timeout_s = TIMEOUT_S;
	r->attempts = ATTEMPTS;
	r->rotate = r->single_request = false;
	while (next_line(&text, line, sizeof(line))) {
		if ((words = line_words(line, "nameserver")))
			nameserver_parse(words, r);
		else if ((words = line_words(line, "search")))
			search_parse(words, RESOLVER_LIST, r);
		else if ((words = line_words(line, "domain")))
			search_parse(words, 1, r);
		else if ((words = line_words(line, "options")))
			resolver_parse_options(words, r);
	}
	if (!r->nameserver_count)
		snprintf(r->nameservers[r->nameserver_count++], sizeof(r->nameservers[0]),
			 "127.0.0.1");
}

static void host_add(struct resolver *r, const char *word, size_t len)
{
	if (r->host_count == RESOLVER_LIST)
		return;
	snprintf(r->hosts[r->host_count], sizeof(r->hosts[0]), "%.*s", (int)len, word);
	r->nss_resolve |= !strcmp(r->hosts[r->host_count], "resolve");
	r->host_count++;
}

/* A bracketed action, which may hold blanks, is one word. */
static void hosts_parse(const char *words, struct resolver *r)
{
	size_t len;

	r->host_count = 0;
	r->nss_resolve = false;
	for (words += strspn(words, BLANKS); *words; words += strspn(words, BLANKS)) {
		len = *words == '[' ? strcspn(words, "]") + 1 : strcspn(words, BLANKS "[");
		if (len > strlen(words))
			len = strlen(words);
		host_add(r, words, len);
		words += len;
	}
}

void resolver_parse_nsswitch(const char *text, struct resolver *r)
{
	char line[1024];
	const char *words;

	r->host_count = 0;
	r->nss_resolve = false;
	if (is_musl(r)) {
		hosts_parse("files dns", r);
		return;
	}
	while (next_line(&text, line, sizeof(line))) {
		line[strcspn(line, "#")] = '\0';
		words = line + strspn(line, BLANKS);
		if (!strncmp(words, "hosts:", 6))
			hosts_parse(words + 6, r);
	}
}
