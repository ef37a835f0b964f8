/* SPDX-License-Identifier: BSD-2-Clause */
#include "target/hba.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/conn.h"
#include "target/root.h"

#define FILE_LEN  (1 << 20)
#define TOKEN_LEN 1024
#define FIELDS	  5 /* type, database, user, address, and what follows it */
#define DEPTH_MAX 10 /* CONF_FILE_MAX_DEPTH */
#define FILES_MAX 1000 /* in all: files that include each other several times grow with the power of depth */

struct reader {
	int pid, major;
	int files; /* opened so far */
	struct hba *h;
};

struct token {
	char text[TOKEN_LEN];
	bool quoted; /* by its first byte: then it is no keyword and no @file */
};

/* The first token of each field, and how many tokens it has. */
struct rule {
	int fields;
	struct token first[FIELDS];
	int tokens[FIELDS];
};

struct text {
	char *at; /* lines are cut off in place */
	int line;
};

static int file_read(struct reader *r, const char *path, int depth);

static void problem(struct reader *r, const char *path, const char *what)
{
	struct hba *h = r->h;

	if (h->problem_count < HBA_PROBLEMS)
		snprintf(h->problems[h->problem_count++], sizeof(h->problems[0]), "%s: %s", path, what);
}

/* -- tokens -- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts one logical line; continued ones become one (14+). *number is its first line's. */
static char *next_line(struct text *t, bool continues, int *number)
{
	char *line = t->at;
	size_t used = 0;

	*number = t->line;
	while (*t->at) {
		size_t len = strcspn(t->at, "\n");
		bool last = !t->at[len];

		memmove(line + used, t->at, len);
		used += len;
		t->at += len + !last;
		t->line++;
		if (used > 0 && line[used - 1] == '\r')
			used--;
		if (!continues || used == 0 || line[used - 1] != '\\')
			break;
		used--;
	}
	line[used] = '\0';
	return line;
}

/*
 * Takes the next token of a line, as next_token() does: up to a blank, a comma or a comment outside
 * quotes; "" within quotes is one quote. *more: a comma followed, the field goes on. False at the end.
 */
static bool next_token(const char **at, struct token *token, bool *more)
{
	bool in_quotes = false, was_quote = false, any = false;
	const char *c = *at;
	size_t used = 0;

	*more = false;
	while (is_blank(*c) || *c == ',')
		c++;
	token->quoted = *c == '"';
	for (; *c && (in_quotes || (!is_blank(*c) && *c != ',' && *c != '#')); c++) {
		bool literal = *c != '"' || was_quote;

		any = true;
		if (literal && used < sizeof(token->text) - 1)
			token->text[used++] = *c;
		was_quote = in_quotes && *c == '"' && !was_quote;
		if (*c == '"')
			in_quotes = !in_quotes;
	}
	token->text[used] = '\0';
	if (*c == ',') {
		*more = true;
		c++;
	} else if (*c == '#') {
		c += strlen(c);
	}
	*at = c;
	return any;
}

/* -- files -- */

/* A path in a file is relative to that file's folder. */
static void path_join(const char *file, const char *name, char *buf, size_t len)
{
	const char *slash = strrchr(file, '/');

	if (name[0] == '/' || !slash)
		snprintf(buf, len, "%s", name);
	else
		snprintf(buf, len, "%.*s/%s", (int)(slash - file), file, name);
}

/* The file's text, to be freed; NULL with errno. */
static char *slurp(struct reader *r, const char *path)
{
	char *text = r->files++ < FILES_MAX ? malloc(FILE_LEN) : NULL;
	ssize_t got = text ? root_read(r->pid, path, text, FILE_LEN) : -ENFILE;

	if (got >= 0)
		return text;
	free(text);
	errno = -got;
	return NULL;
}

static void field_token(struct rule *rule, const struct token *token)
{
	int field = rule->fields - 1;

	if (field >= FIELDS)
		return;
	if (rule->tokens[field]++ == 0)
		rule->first[field] = *token;
}

static void field_expand(struct reader *r, const char *file, const struct token *token,
			 struct rule *rule, int depth);

/* Every token of an @file takes part in the field, further @files too. */
static void field_file(struct reader *r, const char *path, struct rule *rule, int depth)
{
	char *text = depth < DEPTH_MAX ? slurp(r, path) : NULL, *line;
	struct text t = { text, 1 };
	struct token token;
	const char *at;
	int number;
	bool more;

	if (!text) {
		problem(r, path, depth < DEPTH_MAX ? strerror(errno) : "included too deeply");
		return;
	}
	while (*t.at) {
		line = next_line(&t, r->major >= 14, &number);
		for (at = line; next_token(&at, &token, &more);)
			field_expand(r, path, &token, rule, depth);
	}
	free(text);
}

static void field_expand(struct reader *r, const char *file, const struct token *token,
			 struct rule *rule, int depth)
{
	char path[HBA_PATH_LEN];

	if (token->quoted || token->text[0] != '@' || !token->text[1]) {
		field_token(rule, token);
		return;
	}
	path_join(file, token->text + 1, path, sizeof(path));
	field_file(r, path, rule, depth + 1);
}

/* An @file without a token leaves no field behind. */
static bool is_filled(const struct rule *rule)
{
	return rule->fields == 0 || rule->fields > FIELDS || rule->tokens[rule->fields - 1] > 0;
}

static void rule_parse(struct reader *r, const char *file, const char *line, struct rule *rule)
{
	struct token token;
	bool more = false, goes_on;

	memset(rule, 0, sizeof(*rule));
	for (const char *at = line; goes_on = more, next_token(&at, &token, &more);) {
		if (!goes_on && is_filled(rule))
			rule->fields++;
		field_expand(r, file, &token, rule, 0);
	}
}

/* -- rules -- */

static bool is_keyword(const struct token *token)
{
	return !token->quoted && (!strcmp(token->text, "all") || !strcmp(token->text, "samehost") ||
				  !strcmp(token->text, "samenet"));
}

/* As getaddrinfo(AI_NUMERICHOST) decides, which a static program cannot call without libc's files. */
static bool is_address(const char *text)
{
	struct in_addr v4;
	struct addr parsed;

	return inet_aton(text, &v4) || !addr_parse(text, &parsed);
}

/* A name with a mask is no valid rule. */
static bool is_host_name(const struct token *token)
{
	return token->text[0] && !is_keyword(token) && !strchr(token->text, '/') &&
	       !is_address(token->text);
}

static bool is_host_rule(const struct rule *rule)
{
	static const char *const types[] = { "host",	    "hostssl",	    "hostnossl",
					     "hostgssenc", "hostnogssenc" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(rule->first[0].text, types[i]))
			return rule->fields >= FIELDS;
	return false;
}

static void rule_take(struct reader *r, const char *file, int number, const struct rule *rule)
{
	struct hba *h = r->h;
	struct hba_rule *found;

	h->rule_count++;
	if (!is_host_rule(rule) || rule->tokens[3] != 1 || !is_host_name(&rule->first[3]))
		return;
	if (h->name_count++ >= HBA_RULES)
		return;
	found = &h->names[h->name_count - 1];
	snprintf(found->name, sizeof(found->name), "%.*s", (int)sizeof(found->name) - 1,
		 rule->first[3].text);
	snprintf(found->file, sizeof(found->file), "%s", file);
	found->line = number;
}

/* -- includes -- */

static int is_conf(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".conf");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void include_dir(struct reader *r, const char *path, int depth)
{
	struct dirent **entries;
	char file[HBA_PATH_LEN];
	int fd = r->files++ < FILES_MAX ? root_open(r->pid, path, O_RDONLY | O_DIRECTORY) : -ENFILE;
	int count = fd < 0 ? fd : scandirat(fd, ".", &entries, is_conf, by_bytes);

	if (count < 0)
		problem(r, path, strerror(fd < 0 ? -fd : errno));
	for (int i = 0; i < count; i++) {
		int len = snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);

		if (len < (int)sizeof(file))
			file_read(r, file, depth);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (fd >= 0)
		close(fd);
}

/* True when the line was an include and no rule. */
static bool include(struct reader *r, const char *file, const struct rule *rule, int depth)
{
	const char *word = rule->first[0].text;
	char path[HBA_PATH_LEN];
	int ret;

	if (r->major < 16 || rule->fields != 2 || strncmp(word, "include", 7))
		return false;
	path_join(file, rule->first[1].text, path, sizeof(path));
	if (!strcmp(word, "include_dir")) {
		include_dir(r, path, depth + 1);
		return true;
	}
	if (strcmp(word, "include") && strcmp(word, "include_if_exists"))
		return false;
	ret = file_read(r, path, depth + 1);
	if (ret == -ENOENT && !strcmp(word, "include"))
		problem(r, path, strerror(ENOENT));
	return true;
}

static int file_read(struct reader *r, const char *path, int depth)
{
	struct rule rule;
	struct text t;
	char *text, *line;
	int number, ret = 0;

	if (depth > DEPTH_MAX) {
		problem(r, path, "included too deeply");
		return -ELOOP;
	}
	text = slurp(r, path);
	if (!text) {
		ret = -errno;
		if (depth > 0 && ret != -ENOENT)
			problem(r, path, strerror(-ret));
		return ret;
	}
	t = (struct text){ text, 1 };
	while (*t.at) {
		line = next_line(&t, r->major >= 14, &number);
		rule_parse(r, path, line, &rule);
		if (rule.fields > 0 && !include(r, path, &rule, depth))
			rule_take(r, path, number, &rule);
	}
	free(text);
	return ret;
}

int hba_read(int pid, const char *path, int major, struct hba *h)
{
	struct reader r = { .pid = pid, .major = major, .h = h };

	memset(h, 0, sizeof(*h));
	return file_read(&r, path, 0);
}
