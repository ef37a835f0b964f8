/* SPDX-License-Identifier: BSD-2-Clause */
/* pgdnstrace report [-o OUT] [--resolve] [--hide KEYS] FILE */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "capture/replay.h"
#include "cli_parse.h"
#include "commands.h"
#include "export/outfile.h"
#include "export/report.h"

enum { OPT_RESOLVE = 256, OPT_HIDE };

struct arguments {
	const char *file, *out;
	bool resolve;
	struct hide hide;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "Write OUT, which appears when it is whole (default: -, standard output)",
	  0 },
	{ "resolve", OPT_RESOLVE, 0, 0, "Ask for the names of the clients now, and whether they lead back",
	  0 },
	{ "hide", OPT_HIDE, "KEYS", 0,
	  "Show pseudonyms in place of user, database, application, client (separated by commas)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char err[128];

	switch (key) {
	case 'o':
		a->out = arg;
		return 0;
	case OPT_RESOLVE:
		a->resolve = true;
		return 0;
	case OPT_HIDE:
		if (hide_parse(&a->hide, arg, err, sizeof(err)))
			argp_error(state, "%s", err);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		a->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->file)
			argp_error(state, "give a trace");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A page on a terminal helps nobody. */
static bool goes_to_terminal(const struct arguments *a)
{
	return (!a->out || !strcmp(a->out, "-")) && isatty(STDOUT_FILENO);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int write_report(const struct arguments *a, struct report_data *d, bool complete)
{
	struct report_options o = { .file = strcmp(a->file, "-") ? base_name(a->file) : "",
				    .resolve = a->resolve, .complete = complete };
	struct outfile out;
	int rc = outfile_open(&out, a->out);

	if (rc < 0)
		return rc;
	return outfile_close(&out, report_write(out.stream, d, &o));
}

/* What was read before a bad line, or of a file that was cut off, makes a page too. */
static int report_file(const struct arguments *a, struct report_data *d)
{
	char message[1024] = "";
	int rc = replay_file(a->file, NULL, NULL, report_data_event, d, message, sizeof(message));

	if (message[0])
		log_error("%s", message);
	if (d->session_count)
		rc = write_report(a, d, !message[0]);
	if (rc == -EPIPE)
		return EXIT_DONE;
	if (rc < 0 && (d->session_count || !message[0]))
		log_error("%s: %s", a->out ? a->out : "standard output", strerror(-rc));
	return rc < 0 || message[0] ? EXIT_FAILURE : EXIT_DONE;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Makes one HTML page of a trace, which needs no network and nothing beside it.",
	};
	struct arguments a = { 0 };
	struct report_data *d;
	int code;

	cli_parse(&argp, argc, argv, &a);
	if (goes_to_terminal(&a)) {
		log_error("the page is for a browser: say where it goes, -o report.html");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	if (hide_any(&a.hide) && hide_key(&a.hide, a.file)) {
		log_error("cannot make a key for the pseudonyms");
		return EXIT_FAILURE;
	}
	d = report_data_new(&a.hide);
	if (!d) {
		log_error("out of memory");
		return EXIT_FAILURE;
	}
	code = report_file(&a, d);
	report_data_free(d);
	return code;
}
