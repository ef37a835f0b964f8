// SPDX-License-Identifier: BSD-2-Clause
/* pgdnstrace replay: a trace through the same model and views. No root, constant memory. */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "capture/replay.h"
#include "cli.h"
#include "commands.h"
#include "pipeline.h"

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
	err = replay_file(o.file, o.from, o.to, pipeline_event, &p, message, sizeof(message));
	if (message[0])
		log_error("%s", message);
	if (err != -EPIPE && stats_session(p.stats)->tool[0] && pipeline_view(&p, true) && !err)
		err = -EPIPE;
	pipeline_close(&p);
	return !err || err == -EPIPE ? EXIT_DONE : EXIT_FAILURE;
}
