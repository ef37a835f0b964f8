// SPDX-License-Identifier: BSD-2-Clause
/* pgdnstrace merge [-o OUT] FILE... */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "cli_parse.h"
#include "commands.h"
#include "export/outfile.h"
#include "keep/merge.h"

struct arguments {
	const char *out;
	char **files;
	unsigned int count;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "Write OUT, which appears when it is whole (default: - , standard output)",
	  0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o': a->out = arg; break;
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->count = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS: argp_error(state, "which traces? Name the files"); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int merge(const struct arguments *a)
{
	bool incomplete = false;
	struct outfile out;
	int err = outfile_open(&out, a->out);

	if (!err) {
		err = merge_traces(a->files, a->count, out.stream, &incomplete);
		err = outfile_close(&out, err);
	}
	if (err == -EPIPE)
		return EXIT_DONE;
	if (err && err != -ENODATA) /* what is wrong with the inputs was said */
		log_error("%s: %s", a->out ? a->out : "standard output", strerror(-err));
	return err || incomplete ? EXIT_FAILURE : EXIT_DONE;
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "FILE...",
		.doc = "Makes one trace of several, of any servers, in order of time."
		       "\vEach line names its server. What overlapping windows of a server both hold is "
		       "written once.",
	};
	struct arguments a = { 0 };

	cli_parse(&argp, argc, argv, &a);
	signal(SIGPIPE, SIG_IGN);
	return merge(&a);
}
