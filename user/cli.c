// SPDX-License-Identifier: BSD-2-Clause
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "cli_parse.h"
#include "commands.h"

/* Options without a letter. */
enum {
	OPT_PORT = 256, OPT_FOLLOW, OPT_ONLY, OPT_BY, OPT_TEXT, OPT_SCREEN, OPT_NO_SQLSTATE, OPT_NO_RETURN_PROBES,
	OPT_DNS_PACKETS, OPT_RING, OPT_BTF, OPT_PROMETHEUS, OPT_LISTEN, OPT_FROM, OPT_TO, OPT_ON, OPT_BEFORE,
	OPT_AFTER, OPT_DIR, OPT_KEEP,
};

/* -- views: of a live trace and of a replay -------------------------------------------------------- */

static const struct argp_option view_options[] = {
	{ 0, 0, 0, 0, "What is shown:", 2 },
	{ "events", 'e', 0, 0, "One line per connection", 2 },
	{ "longer-than", 'L', "DURATION", 0, "Lines and files: ready connections only if they waited this long", 2 },
	{ "only", OPT_ONLY, "KEY=VALUE", 0, "Only this client (address or CIDR), user, database, application, outcome", 2 },
	{ "by", OPT_BY, "KEY", 0, "A table by client, network, user, database, application, outcome", 2 },
	{ "text", OPT_TEXT, 0, 0, "The text view (the default in a pipe)", 2 },
	{ "screen", OPT_SCREEN, 0, 0, "The screen (the default on a terminal)", 2 },
	{ "quiet", 'q', 0, 0, "No view and no summary", 2 },
	{ "output", 'o', "FILE", 0, "Every connection as a JSON line; - is standard output", 2 },
	{ 0 },
};

static uint64_t duration_of(const char *arg, const char *option, struct argp_state *state)
{
	uint64_t ns;

	if (duration_parse(arg, &ns) || !ns)
		argp_error(state, "%s takes a duration such as 500ms, 2s or 1m, not '%s'", option, arg);
	return ns;
}

static void add_by(struct options *o, const char *arg, struct argp_state *state)
{
	int key = key_parse(arg);

	if (key < 0)
		argp_error(state, "--by takes client, network, user, database, application or outcome, not '%s'",
			   arg);
	for (unsigned int i = 0; i < o->show.by_count; i++)
		if (o->show.by[i] == (enum key)key)
			return;
	o->show.by[o->show.by_count++] = key;
}

static void add_only(struct options *o, const char *arg, struct argp_state *state)
{
	char err[256];

	if (filter_add(&o->filter, arg, err, sizeof(err)))
		argp_error(state, "%s", err);
}

static error_t parse_view(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e': o->events = true; break;
	case 'L': o->filter.longer_than_ns = duration_of(arg, "--longer-than", state); break;
	case OPT_ONLY: add_only(o, arg, state); break;
	case OPT_BY: add_by(o, arg, state); break;
	case OPT_TEXT: o->view = VIEW_TEXT; break;
	case OPT_SCREEN: o->view = VIEW_SCREEN; break;
	case 'q': o->view = VIEW_NONE; break;
	case 'o': o->output = arg; break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp view_argp = { .options = view_options, .parser = parse_view };
static const struct argp_child view_children[] = { { &view_argp, 0, NULL, 2 }, { 0 } };

/* Standard output carries either the trace or a view. */
static void choose_view(struct options *o)
{
	if (o->output && !strcmp(o->output, "-"))
		o->view = VIEW_NONE;
	if (o->view == VIEW_AUTO)
		o->view = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !o->events ?
				  VIEW_SCREEN :
				  VIEW_TEXT;
}

/* -- trace ---------------------------------------------------------------------------------------- */

static const struct argp_option trace_options[] = {
	{ 0, 0, 0, 0, "Which server (default: the only postmaster running):", 1 },
	{ "pid", 'p', "PID", 0, "The postmaster", 1 },
	{ "pgdata", 'D', "DIR", 0, "The postmaster of this data directory", 1 },
	{ "follow", OPT_FOLLOW, 0, 0, "With -D: go on with the next postmaster after a restart", 1 },
	{ "port", OPT_PORT, "PORT", 0, "The postmaster that listens there", 1 },
	{ 0, 0, 0, 0, "How often and how long:", 2 },
	{ "interval", 'i', "SECONDS", 0, "Refresh (1 on the screen, 5 in text)", 2 },
	{ "duration", 'd', "SECONDS", 0, "Stop after this long", 2 },
	{ 0, 0, 0, 0, "Incident windows (also by SIGUSR1, and key w on the screen):", 3 },
	{ "on", OPT_ON, "CONDITION", 0, "Write a window when this comes true; may repeat; help lists what can be asked", 3 },
	{ "before", OPT_BEFORE, "DURATION", 0, "How far it reaches back (60s)", 3 },
	{ "after", OPT_AFTER, "DURATION", 0, "How long it goes on (60s)", 3 },
	{ "dir", OPT_DIR, "DIR", 0, "Where it is written (.)", 3 },
	{ "keep", OPT_KEEP, "N", 0, "How many are kept (10)", 3 },
	{ 0, 0, 0, 0, "Metrics:", 4 },
	{ "prometheus", OPT_PROMETHEUS, "FILE", 0, "As a text file for Prometheus, at each refresh", 4 },
	{ "listen", OPT_LISTEN, "ADDR:PORT", 0, "Over HTTP at /metrics (loopback by default)", 4 },
	{ 0, 0, 0, 0, "How it traces:", 5 },
	{ "no-sqlstate", OPT_NO_SQLSTATE, 0, 0, "No probe on errcode: failures without SQLSTATE", 5 },
	{ "no-return-probes", OPT_NO_RETURN_PROBES, 0, 0, "Plain probes where functions return to", 5 },
	{ "dns-packets", OPT_DNS_PACKETS, 0, 0, "Watch DNS packets, per nameserver (about 0.7us for each packet of its network)", 5 },
	{ "ring", OPT_RING, "SIZE", 0, "Ring buffer in bytes, K or M (1M; at least 4K)", 5 },
	{ "btf", OPT_BTF, "FILE", 0, "Another BTF file than the kernel's", 5 },
	{ 0 },
};

static int number_of(const char *arg, const char *option, int max, struct argp_state *state)
{
	char *end;
	long value = strtol(arg, &end, 10);

	if (end == arg || *end || value < 1 || value > max)
		argp_error(state, "%s takes a number from 1 to %d, not '%s'", option, max, arg);
	return (int)value;
}

/* Ring sizes are powers of two (the kernel's rule): rounded up. */
static size_t ring_of(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long long bytes = strtoull(arg, &end, 10);
	size_t size = LIVE_RING_MIN;

	if (*end == 'k' || *end == 'K')
		bytes <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		bytes <<= 20, end++;
	if (end == arg || *end || *arg == '-' || bytes < LIVE_RING_MIN || bytes > (1ULL << 30))
		argp_error(state, "--ring takes a size from 4K to 1024M, not '%s'", arg);
	while (size < bytes)
		size <<= 1;
	return size;
}

static void add_condition(struct window_options *w, const char *arg, struct argp_state *state)
{
	char err[256];

	if (!strcmp(arg, "help")) {
		condition_help(stdout);
		exit(EXIT_DONE);
	}
	if (w->condition_count == WINDOW_CONDITIONS)
		argp_error(state, "at most %d conditions", WINDOW_CONDITIONS);
	if (condition_parse(arg, &w->conditions[w->condition_count++], err, sizeof(err)))
		argp_error(state, "--on %s", err);
	w->cap_bytes = WINDOW_CAP_BYTES;
}

static uint64_t reach_of(const char *arg, const char *option, struct argp_state *state)
{
	uint64_t ns = duration_of(arg, option, state);

	if (ns > WINDOW_REACH_MAX_NS)
		argp_error(state, "%s is at most 24h, not '%s'", option, arg);
	return ns;
}

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; break;
	case 'p': o->target.pid = number_of(arg, "--pid", 1 << 22, state); break;
	case 'D': o->target.pgdata = arg; break;
	case OPT_PORT: o->target.port = number_of(arg, "--port", 65535, state); break;
	case 'i': o->interval_ns = duration_of(arg, "--interval", state); break;
	case 'd': o->duration_ns = duration_of(arg, "--duration", state); break;
	case OPT_FOLLOW: o->follow = true; break;
	case OPT_NO_SQLSTATE: o->live.sqlstate = false; break;
	case OPT_NO_RETURN_PROBES: o->live.return_probes = false; break;
	case OPT_DNS_PACKETS: o->live.dns_packets = true; break;
	case OPT_RING: o->live.ring_bytes = ring_of(arg, state); break;
	case OPT_BTF: o->live.btf = arg; break;
	case OPT_ON: add_condition(&o->window, arg, state); break;
	case OPT_BEFORE: o->window.before_ns = reach_of(arg, "--before", state); break;
	case OPT_AFTER: o->window.after_ns = reach_of(arg, "--after", state); break;
	case OPT_DIR: o->window.dir = arg; break;
	case OPT_KEEP: o->window.keep = number_of(arg, "--keep", 1000000, state); break;
	case OPT_PROMETHEUS: o->prometheus = arg; break;
	case OPT_LISTEN: o->listen = arg; break;
	case ARGP_KEY_ARG:
		argp_error(state, "there is no command '%s' (a PID is given with -p)", arg);
		break;
	case ARGP_KEY_END:
		if (!!o->target.pid + !!o->target.pgdata + !!o->target.port > 1)
			argp_error(state, "one of --pid, --pgdata and --port names the server, not several");
		if (o->follow && !o->target.pgdata)
			argp_error(state, "--follow knows the next postmaster by its data directory: give it -D DIR");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const char trace_doc[] =
	"Shows where new connections to a running PostgreSQL wait: name lookups and every other phase of "
	"their setup, live, without touching the server."
	"\v"
	"Commands (pgdnstrace COMMAND --help):\n"
#define CLI_COMMAND(name, text) "  " #name "\t" text "\n"
	COMMANDS(CLI_COMMAND)
#undef CLI_COMMAND
	"\nExit:"
#define CLI_EXIT(name, code, text) " " #code " " text ";"
	EXIT_CODES(CLI_EXIT)
#undef CLI_EXIT
	" see pgdnstrace(8).";

void cli_trace(int argc, char **argv, struct options *o)
{
	static const struct argp argp = { .options = trace_options, .parser = parse_trace,
					  .doc = trace_doc, .children = view_children };

	memset(o, 0, sizeof(*o));
	o->live = (struct live_options){ .sqlstate = true, .return_probes = true,
					 .ring_bytes = LIVE_RING_DEFAULT };
	o->window = (struct window_options){ .before_ns = WINDOW_BEFORE_DEFAULT_NS,
					     .after_ns = WINDOW_AFTER_DEFAULT_NS, .dir = ".",
					     .keep = WINDOW_KEEP_DEFAULT,
					     .cap_bytes = WINDOW_CAP_IDLE_BYTES };
	cli_parse(&argp, argc, argv, o);
	choose_view(o);
}

/* -- replay --------------------------------------------------------------------------------------- */

static const struct argp_option replay_options[] = {
	{ 0, 0, 0, 0, "Which part of the trace:", 1 },
	{ "from", OPT_FROM, "TIME", 0, "From this time on (RFC 3339, or HH:MM:SS of its first day, UTC)", 1 },
	{ "to", OPT_TO, "TIME", 0, "Up to this time", 1 },
	{ 0 },
};

static error_t parse_replay(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; break;
	case OPT_FROM: o->from = arg; break;
	case OPT_TO: o->to = arg; break;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one trace at a time (pgdnstrace merge makes one of several)");
		o->file = arg;
		break;
	case ARGP_KEY_NO_ARGS: argp_error(state, "which trace? Name a file, or - for standard input"); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void cli_replay(int argc, char **argv, struct options *o)
{
	static const struct argp argp = { .options = replay_options, .parser = parse_replay,
					  .args_doc = "FILE",
					  .doc = "Shows a trace that -o wrote, as if it were live.",
					  .children = view_children };

	memset(o, 0, sizeof(*o));
	cli_parse(&argp, argc, argv, o);
	choose_view(o);
}
