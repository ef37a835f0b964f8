/* SPDX-License-Identifier: BSD-2-Clause */
/* pgdnstrace export FORMAT [-o OUT] FILE */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "capture/replay.h"
#include "cli_parse.h"
#include "commands.h"
#include "export/export.h"
#include "export/outfile.h"

struct arguments {
	const struct export_format *format;
	const char *file, *out;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "Write OUT, which appears when it is whole (default: - , standard output)",
	  0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (key == 'o') {
		a->out = arg;
	} else if (key == ARGP_KEY_ARG && state->arg_num == 0) {
		a->format = export_find(arg);
		if (!a->format)
			argp_error(state, "there is no format '%s'", arg);
	} else if (key == ARGP_KEY_ARG && state->arg_num == 1) {
		a->file = arg;
	} else if (key == ARGP_KEY_END) {
		if (!a->file)
			argp_error(state, "give a format and a trace");
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The table of formats, behind the options. argp frees it. */
static char *list_formats(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&list, &len)))
		return (char *)text;
	fputs("Formats:", out);
	for (const struct export_format *f = export_formats; f->name; f++)
		fprintf(out, "\n  %-9s %s", f->name, f->about);
	fclose(out);
	return list;
}

static int export_trace(const struct arguments *a, FILE *out, char *message, size_t len)
{
	struct exporter x;
	int rc = exporter_open(&x, a->format, out), closed;

	if (rc < 0)
		return rc;
	rc = replay_file(a->file, NULL, NULL, exporter_event, &x, message, len);
	closed = exporter_close(&x);
	return rc < 0 ? rc : closed;
}

/* What was read before a bad line is kept: rc is the writing's own only without a message. */
static int export_file(const struct arguments *a)
{
	char message[1024] = "";
	struct outfile out;
	int rc = outfile_open(&out, a->out);

	if (!rc) {
		rc = export_trace(a, out.stream, message, sizeof(message));
		rc = outfile_close(&out, message[0] ? 0 : rc);
	}
	if (message[0])
		log_error("%s", message);
	if (rc == -EPIPE)
		return EXIT_DONE;
	if (rc < 0)
		log_error("%s: %s", a->out ? a->out : "standard output", strerror(-rc));
	return rc < 0 || message[0] ? EXIT_FAILURE : EXIT_DONE;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = { .options = options, .parser = parse,
					  .args_doc = "FORMAT FILE",
					  .doc = "Writes a trace in another format.\v ",
					  .help_filter = list_formats };
	struct arguments a = { 0 };

	cli_parse(&argp, argc, argv, &a);
	signal(SIGPIPE, SIG_IGN); /* a reader that has seen enough is no error */
	return export_file(&a);
}
