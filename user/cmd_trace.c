// SPDX-License-Identifier: BSD-2-Clause
/* pgdnstrace: the live trace. Opens the server, attaches, and serves timers and signals until the end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/live.h"
#include "cli.h"
#include "commands.h"
#include "pipeline.h"
#include "target/preflight.h"

#define FOLLOW_MS     100
#define DRAIN_NS      (100 * NS_PER_MS)
#define SWEEP_NS      NS_PER_S
#define TEXT_EVERY_NS (5 * NS_PER_S)
#define SCREEN_EVERY_NS NS_PER_S

enum { POLL_RING, POLL_SERVER, POLL_SIGNALS, POLL_KEYS, POLL_COUNT };

struct trace {
	struct options options;
	struct target target;
	struct live *live;
	struct pipeline pipeline;
	struct pollfd polls[POLL_COUNT];
	uint64_t sweep_due_ns, view_due_ns, stop_ns; /* CLOCK_MONOTONIC; stop 0: never */
	bool loss_told[LOSS_COUNT];
	bool hangup_ends; /* started from a terminal: SIGHUP ends, else it reopens the file */
	const char *reason; /* of the end; NULL: going on */
	enum exit_code exit_code;
};

static enum exit_code fail(const struct problem *problem)
{
	log_error("%s", problem->text);
	return problem->exit_code;
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* A shell starts background jobs with SIGINT ignored; a blocked signal is queued all the same. */
static int open_signals(struct trace *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	t->hangup_ends = has_terminal();
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void finish(struct trace *t, const char *reason, enum exit_code exit_code)
{
	if (t->reason)
		return;
	t->reason = reason;
	t->exit_code = exit_code;
}

/* What a sink or a view answered: a closed pipe is a quiet end. */
static void check(struct trace *t, int err)
{
	if (!err)
		return;
	if (err == -EPIPE) {
		finish(t, "closed_pipe", EXIT_DONE);
		return;
	}
	if (!t->reason)
		log_error("cannot go on: %s", strerror(-err));
	finish(t, "error", EXIT_FAILURE);
}

static void take_signal(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->polls[POLL_SIGNALS].fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			window_trigger(t->pipeline.window);
		else if (info.ssi_signo != SIGHUP || t->hangup_ends)
			finish(t, "interrupted", EXIT_DONE);
		else if (t->pipeline.output)
			check(t, output_reopen(t->pipeline.output, t->pipeline.stats));
	}
}

static uint64_t view_interval_ns(const struct trace *t)
{
	if (t->options.interval_ns)
		return t->options.interval_ns;
	return t->pipeline.screen ? SCREEN_EVERY_NS : TEXT_EVERY_NS;
}

static void take_keys(struct trace *t)
{
	enum desk_wish wish =
		screen_keys(t->pipeline.screen, t->pipeline.stats, clock_real_ns());

	if (wish == WISH_WINDOW)
		window_trigger(t->pipeline.window);
	if (wish == WISH_QUIT)
		finish(t, "interrupted", EXIT_DONE);
	else
		check(t, pipeline_view(&t->pipeline, false));
}

/* Each reason to lose records is told once, with the option that helps. */
static void tell_losses(struct trace *t)
{
	static const char *const messages[LOSS_COUNT] = {
		[LOSS_RING] = "the ring buffer is full: give it a larger --ring",
		[LOSS_MAP] = "more are in setup at a time than the state map holds",
		[LOSS_UNMET] = "their client's address was never asked for",
	};
	const struct tick *tick = stats_tick(t->pipeline.stats);

	for (int i = 0; i < LOSS_COUNT; i++) {
		if (!tick->lost[i] || t->loss_told[i])
			continue;
		log_warn("connections are being lost (and counted), for %s", messages[i]);
		t->loss_told[i] = true;
	}
}

static void serve_timers(struct trace *t, uint64_t now_ns)
{
	if (now_ns >= t->sweep_due_ns || now_ns >= t->view_due_ns) {
		check(t, live_sweep(t->live, pipeline_event, &t->pipeline));
		tell_losses(t);
		t->sweep_due_ns = now_ns + SWEEP_NS;
	}
	if (now_ns >= t->view_due_ns) {
		check(t, pipeline_view(&t->pipeline, false));
		pipeline_metrics(&t->pipeline);
		t->view_due_ns = now_ns + view_interval_ns(t);
	}
	if (t->pipeline.output)
		check(t, output_tick(t->pipeline.output));
	if (t->stop_ns && now_ns >= t->stop_ns)
		finish(t, "duration", EXIT_DONE);
}

static int wait_ms(const struct trace *t, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + DRAIN_NS;

	if (t->view_due_ns < due_ns)
		due_ns = t->view_due_ns;
	if (t->stop_ns && t->stop_ns < due_ns)
		due_ns = t->stop_ns;
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* A new size of the window, or back from a suspension: drawn at once. */
static void take_interruption(struct trace *t)
{
	if (errno != EINTR)
		check(t, -errno);
	else if (t->pipeline.screen)
		t->view_due_ns = 0;
}

static int start_live(struct trace *t)
{
	const struct session *s = &t->target.session;

	t->polls[POLL_RING] = (struct pollfd){ live_fd(t->live), POLLIN, 0 };
	t->polls[POLL_SERVER] = (struct pollfd){ t->target.pidfd, POLLIN, 0 };
	t->sweep_due_ns = clock_mono_ns() + NS_PER_S;
	log_info("tracing PostgreSQL %s on port %d, postmaster %d", s->server_version, s->port,
		 s->postmaster);
	return live_start(t->live, pipeline_event, &t->pipeline);
}

/* -- the next postmaster (--follow) ----------------------------------------------------------------- */

/* What is left of the last one is told, and its probes are given up. */
static void part(struct trace *t)
{
	int behind;

	pipeline_ending(&t->pipeline);
	check(t, live_freeze(t->live, pipeline_event, &t->pipeline));
	check(t, pipeline_part(&t->pipeline, "server_ended"));
	behind = live_detach_behind(t->live);
	live_close(t->live);
	t->live = NULL;
	if (behind >= 0)
		close(behind);
	target_close(&t->target);
	t->polls[POLL_RING].fd = t->polls[POLL_SERVER].fd = -1;
	log_info("the server has ended; waiting for the next one in %s", t->options.target.pgdata);
}

/* It has its listening sockets: their addresses stand in the sixth line of postmaster.pid (13 to 19). */
static bool next_listens(const struct trace *t)
{
	char path[PATH_TEXT_LEN];
	int lines = 0, c;
	FILE *f;

	snprintf(path, sizeof(path), "%s/postmaster.pid", t->options.target.pgdata);
	f = fopen(path, "re");
	if (!f)
		return false;
	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines >= 6;
}

/* True when the next one is traced. One that cannot be traced ends it all. */
static bool take_next(struct trace *t)
{
	struct problem problem = { .exit_code = EXIT_FAILURE };

	if (!next_listens(t) || target_open(&t->options.target, &t->target, &problem))
		return false;
	filter_text(&t->options.filter, t->target.session.filter, TEXT_LEN);
	if (preflight_run(&t->target, t->options.live.btf, &problem) ||
	    live_open(&t->live, &t->target, &t->options.live, &problem)) {
		finish(t, "error", fail(&problem));
		return false;
	}
	check(t, start_live(t));
	return true;
}

static void serve_without_server(struct trace *t, uint64_t now_ns)
{
	if (now_ns >= t->view_due_ns) {
		check(t, pipeline_view(&t->pipeline, false));
		t->view_due_ns = now_ns + view_interval_ns(t);
	}
	if (t->pipeline.output)
		check(t, output_tick(t->pipeline.output));
	if (t->stop_ns && now_ns >= t->stop_ns)
		finish(t, "duration", EXIT_DONE);
}

static void follow(struct trace *t)
{
	part(t);
	while (!t->reason && !take_next(t)) {
		if (poll(t->polls, POLL_COUNT, FOLLOW_MS) < 0)
			take_interruption(t);
		waitpid(-1, NULL, WNOHANG); /* who detached behind us */
		if (t->polls[POLL_SIGNALS].revents)
			take_signal(t);
		if (t->polls[POLL_KEYS].revents && !t->reason)
			take_keys(t);
		if (!t->reason)
			serve_without_server(t, clock_mono_ns());
	}
}

static void loop(struct trace *t)
{
	while (!t->reason) {
		if (poll(t->polls, POLL_COUNT, wait_ms(t, clock_mono_ns())) < 0)
			take_interruption(t);
		check(t, live_drain(t->live, pipeline_event, &t->pipeline));
		if (t->polls[POLL_SIGNALS].revents)
			take_signal(t);
		if (t->polls[POLL_SERVER].revents && t->options.follow && !t->reason)
			follow(t);
		else if (t->polls[POLL_SERVER].revents)
			finish(t, "server_ended", EXIT_SERVER_ENDED);
		if (t->polls[POLL_KEYS].revents && !t->reason)
			take_keys(t);
		if (!t->reason)
			serve_timers(t, clock_mono_ns());
	}
}

static int start(struct trace *t)
{
	uint64_t now_ns = clock_mono_ns();

	t->view_due_ns = now_ns + NS_PER_S; /* the first view after 1 s in any case */
	t->stop_ns = t->options.duration_ns ? now_ns + t->options.duration_ns : 0;
	return start_live(t);
}
/* What has to be said before is said on the plain terminal. */
static int start_screen(struct trace *t)
{
	int err = pipeline_open_screen(&t->pipeline);

	t->polls[POLL_KEYS] = (struct pollfd){ -1, POLLIN, 0 };
	if (err || !t->pipeline.screen)
		return err;
	t->polls[POLL_KEYS].fd = screen_fd(t->pipeline.screen);
	t->view_due_ns = 0;
	return 0;
}

/* The summary comes before the probes are detached, which takes seconds. */
static enum exit_code end(struct trace *t)
{
	int err = 0;

	pipeline_ending(&t->pipeline);
	if (t->live && strcmp(t->reason, "closed_pipe"))
		err = live_freeze(t->live, pipeline_event, &t->pipeline);
	tell_losses(t);
	if (!err)
		err = pipeline_end(&t->pipeline, t->reason);
	if (err && err != -EPIPE)
		log_error("the end is not complete: %s", strerror(-err));
	if (t->exit_code == EXIT_DONE &&
	    ((err && err != -EPIPE) || pipeline_failed(&t->pipeline)))
		return EXIT_FAILURE;
	return t->exit_code;
}

static enum exit_code run(struct trace *t, struct problem *problem)
{
	enum exit_code code;

	if (preflight_run(&t->target, t->options.live.btf, problem) ||
	    live_open(&t->live, &t->target, &t->options.live, problem))
		return fail(problem);
	check(t, start(t));
	check(t, start_screen(t));
	loop(t);
	code = end(t);
	if (t->live)
		live_detach_behind(t->live);
	live_close(t->live);
	return code;
}

int cmd_trace(int argc, char **argv)
{
	static struct trace t;
	struct problem problem = { .exit_code = EXIT_FAILURE };
	enum exit_code code;

	cli_trace(argc, argv, &t.options);
	if (target_open(&t.options.target, &t.target, &problem)) {
		code = fail(&problem);
		if (problem.several)
			target_list(stderr);
		return code;
	}
	filter_text(&t.options.filter, t.target.session.filter, TEXT_LEN);
	t.polls[POLL_SIGNALS] = (struct pollfd){ open_signals(&t), POLLIN, 0 };
	if (pipeline_open(&t.pipeline, &t.options))
		code = fail(&t.pipeline.problem);
	else
		code = run(&t, &problem);
	pipeline_close(&t.pipeline);
	target_close(&t.target);
	return code;
}
