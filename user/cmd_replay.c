// SPDX-License-Identifier: BSD-2-Clause
/* pgdnstrace replay: a trace through the same model and views. No root, constant memory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "capture/replay.h"
#include "cli.h"
#include "commands.h"
#include "pipeline.h"
#include "player.h"

/* Text: the whole trace at once. */
static int replay_text(struct pipeline *p, struct options *o, char *message, size_t len)
{
	int err = replay_file(o->file, o->from, o->to, pipeline_event, p, message, len);

	o->show.no_percentiles = filter_text_drops_short(stats_session(p->stats)->filter);
	return err;
}

/* The keys come from standard input, so a trace from there has no screen. */
static bool has_screen(const struct options *o)
{
	return o->view == VIEW_SCREEN && strcmp(o->file, "-") != 0 && !o->output;
}

static int replay(struct pipeline *p, struct options *o, char *message, size_t len)
{
	int err = -ENOTTY;

	if (has_screen(o))
		err = player_run(p, message, len);
	return err == -ENOTTY ? replay_text(p, o, message, len) : err;
}

int cmd_replay(int argc, char **argv)
{
	struct options o;
	struct pipeline p;
	char message[512] = "";
	int err;

	cli_replay(argc, argv, &o);
	err = pipeline_open(&p, &o);
	if (err) {
		log_error("%s", p.problem.text);
		pipeline_close(&p);
		return p.problem.exit_code;
	}
	err = replay(&p, &o, message, sizeof(message));
	if (message[0])
		log_error("%s", message);
	if (err != -EPIPE && stats_session(p.stats)->tool[0] && pipeline_view(&p, true) && !err)
		err = -EPIPE;
	pipeline_close(&p);
	return (!err || err == -EPIPE) && !message[0] ? EXIT_DONE : EXIT_FAILURE;
}
