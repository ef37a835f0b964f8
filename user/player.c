/* SPDX-License-Identifier: BSD-2-Clause */
#include "player.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/replay.h"

#define FRAME_MS  100
#define FEED_NS   (50 * NS_PER_MS) /* between two looks at the keys */
#define TAIL_SIZE (64 * 1024)

struct player {
	struct pipeline *p;
	struct screen *screen;
	struct desk *desk;
	struct replay *replay;
	struct event ahead; /* the next one, when has_ahead */
	bool has_ahead, over;
	int64_t now_ns;   /* where the replay stands */
	uint64_t mono_ns; /* when it stood there */
	char *message;
	size_t message_len;
};

/* -- events -- */

static int fetch(struct player *pl)
{
	int ret;

	if (pl->has_ahead || pl->over)
		return 0;
	ret = replay_next(pl->replay, &pl->ahead, pl->message, pl->message_len);
	pl->has_ahead = ret > 0;
	pl->over = ret == 0;
	return ret < 0 ? ret : 0;
}

/* Takes what lies up to now; true when all of it was taken. */
static int feed(struct player *pl, bool *caught_up)
{
	uint64_t until_ns = clock_mono_ns() + FEED_NS;
	int err = fetch(pl);

	*caught_up = false;
	while (!err && pl->has_ahead && pl->ahead.at_ns <= pl->now_ns) {
		if (clock_mono_ns() >= until_ns)
			return 0;
		err = stats_event(pl->p->stats, screen_filter(pl->screen), &pl->ahead);
		if (!err)
			err = screen_event(pl->screen, &pl->ahead);
		pl->has_ahead = false;
		if (!err)
			err = fetch(pl);
	}
	*caught_up = true;
	return err;
}

static int from_the_start(struct player *pl)
{
	const struct options *o = pl->p->options;
	struct stats *fresh = stats_new();
	int err;

	if (!fresh)
		return -ENOMEM;
	stats_free(pl->p->stats);
	pl->p->stats = fresh;
	replay_close(pl->replay);
	pl->replay = NULL;
	pl->has_ahead = pl->over = false;
	err = replay_open(&pl->replay, o->file, o->from, o->to, pl->message, pl->message_len);
	return err ? err : fetch(pl);
}

/* -- time -- */

static void advance(struct player *pl)
{
	uint64_t now_ns = clock_mono_ns();

	if (!pl->desk->paused)
		pl->now_ns += (now_ns - pl->mono_ns) * pl->desk->speed;
	pl->mono_ns = now_ns;
}

static int go_to(struct player *pl, int64_t to_ns)
{
	struct desk *d = pl->desk;
	bool back = to_ns < pl->now_ns;

	if (d->last_ns && to_ns > d->last_ns)
		to_ns = d->last_ns;
	if (to_ns < d->first_ns)
		to_ns = d->first_ns;
	pl->now_ns = to_ns;
	return back ? from_the_start(pl) : 0;
}

/* HH:MM:SS as the screen shows times: local, on the trace's first day or the one after. */
static int parse_time(const struct player *pl, const char *text, int64_t *ns)
{
	time_t first = pl->desk->first_ns / (int64_t)NS_PER_S;
	struct tm tm;
	int hour, minute, second = 0;
	char rest;

	if (clock_parse(text, 0, ns) == 0)
		return 0;
	if (sscanf(text, "%2d:%2d:%2d%c", &hour, &minute, &second, &rest) != 3 &&
	    sscanf(text, "%2d:%2d%c", &hour, &minute, &rest) != 2)
		return -EINVAL;
	localtime_r(&first, &tm);
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = second;
	tm.tm_isdst = -1;
	if (mktime(&tm) < first)
		tm.tm_mday++;
	*ns = mktime(&tm) * (int64_t)NS_PER_S;
	return 0;
}

/* The last "at" in the file: how far the replay can go. 0 when that is not to be told. */
static int64_t last_time(const char *path)
{
	static char tail[TAIL_SIZE + 1];
	const char key[] = "\"at\":\"";
	FILE *in = fopen(path, "r");
	int64_t last_ns = 0, ns;
	char text[CLOCK_TEXT_LEN];

	if (!in)
		return 0;
	if (fseek(in, -TAIL_SIZE, SEEK_END) < 0)
		rewind(in);
	tail[fread(tail, 1, TAIL_SIZE, in)] = '\0';
	fclose(in);
	for (const char *at = strstr(tail, key); at; at = strstr(at + 1, key)) {
		snprintf(text, sizeof(text), "%.27s", at + sizeof(key) - 1);
		if (clock_parse(text, 0, &ns) == 0 && ns > last_ns)
			last_ns = ns;
	}
	return last_ns;
}

/* -- keys -- */

static int jump(struct player *pl)
{
	int64_t to_ns;

	if (parse_time(pl, pl->desk->typed, &to_ns) == 0)
		return go_to(pl, to_ns);
	desk_message(pl->desk, LOG_WARN, "no time: give HH:MM:SS");
	return 0;
}

static int take_keys(struct player *pl, bool *leave)
{
	switch (screen_keys(pl->screen, pl->p->stats, pl->now_ns)) {
	case WISH_QUIT:
		*leave = true;
		return 0;
	case WISH_FILTER:
		return from_the_start(pl); /* up to where it stands */
	case WISH_JUMP:
		return jump(pl);
	case WISH_STEP:
		return go_to(pl, pl->now_ns + pl->desk->step_s * (int64_t)NS_PER_S);
	default:
		return 0;
	}
}

static void say_end(struct player *pl)
{
	if (!pl->over || pl->desk->paused)
		return;
	pl->desk->paused = true;
	desk_message(pl->desk, replay_complete(pl->replay) ? LOG_INFO : LOG_WARN,
		     replay_complete(pl->replay) ? "end of the trace"
						 : "the trace was cut off here: it has no end");
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int play(struct player *pl)
{
	struct pollfd polls[2] = { { screen_fd(pl->screen), POLLIN, 0 },
				   { open_signals(), POLLIN, 0 } };
	bool leave = false, caught_up = true;
	int err = 0;

	while (!err && !leave) {
		if (caught_up)
			advance(pl);
		err = feed(pl, &caught_up);
		pl->mono_ns = caught_up ? pl->mono_ns : clock_mono_ns();
		if (caught_up)
			say_end(pl);
		screen_draw(pl->screen, pl->p->stats, pl->now_ns);
		if (poll(polls, 2, caught_up ? FRAME_MS : 0) <= 0)
			continue;
		if (polls[0].revents)
			err = err ? err : take_keys(pl, &leave);
		leave |= polls[1].revents != 0;
	}
	close(polls[1].fd);
	return err;
}

static int begin(struct player *pl)
{
	const struct options *o = pl->p->options;
	struct screen_options so = { .replay = true, .filter = &o->filter };
	int err = from_the_start(pl);

	if (err || !pl->has_ahead)
		return err;
	so.no_percentiles = o->show.no_percentiles || replay_filtered(pl->replay);
	err = screen_open(&pl->screen, &so);
	if (err)
		return err;
	pl->p->screen = pl->screen;
	pl->desk = screen_desk(pl->screen);
	pl->now_ns = pl->desk->first_ns = pl->ahead.at_ns;
	pl->desk->last_ns = last_time(o->file);
	pl->mono_ns = clock_mono_ns();
	return play(pl);
}

int player_run(struct pipeline *p, char *message, size_t len)
{
	struct player *pl = calloc(1, sizeof(*pl));
	int err;

	if (!pl)
		return -ENOMEM;
	pl->p = p;
	pl->message = message;
	pl->message_len = len;
	err = begin(pl);
	replay_close(pl->replay);
	free(pl);
	return err;
}
