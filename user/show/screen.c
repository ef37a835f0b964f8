/* SPDX-License-Identifier: BSD-2-Clause */
#include "show/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "show/frame.h"
#include "show/name.h"
#include "show/terminal.h"

/* last: their macros (lines, columns, tab) are everybody's words */
#include <curses.h>
#include <term.h>

#define KEPT_MESSAGES 8

struct screen {
	SCREEN *terminal;
	attr_t looks[STYLE_COUNT];
	struct canvas canvas;
	struct desk desk;
	bool no_percentiles;

	struct filter base, filter; /* as given; with the client of / */
	struct stats *own;  /* since a reset or through the filter; NULL: the whole is on view */
	struct stats *held; /* a copy of what was on view when it was paused; NULL: going on */
	struct stats *held_whole; /* the same where the whole was on view */
	int64_t held_ns;

	unsigned int kept;
	char messages[KEPT_MESSAGES][256];
};

/* The log has no argument for its sink: one screen at a time. */
static struct screen *logging;

static void take_message(enum log_level level, const char *line)
{
	struct screen *sc = logging;

	desk_message(&sc->desk, level, line);
	if (level > LOG_WARN)
		return;
	snprintf(sc->messages[sc->kept % KEPT_MESSAGES], sizeof(sc->messages[0]), "%s", line);
	sc->kept++;
}

/* -- looks -- */

/*
 * Colours that can be read on light and dark backgrounds in 16-colour palettes (no yellow, no
 * blue), on the terminal's own background. NO_COLOR (no-color.org) leaves bold, dim and reverse.
 */
static void set_looks(struct screen *sc)
{
	static const struct {
		short colour;
		attr_t plain, coloured;
	} looks[STYLE_COUNT] = {
		[STYLE_NORMAL] = { -1, A_NORMAL, A_NORMAL },
		[STYLE_DIM] = { -1, A_DIM, A_DIM },
		[STYLE_TITLE] = { -1, A_BOLD, A_BOLD },
		[STYLE_GOOD] = { COLOR_GREEN, A_NORMAL, A_NORMAL },
		[STYLE_BAR] = { COLOR_CYAN, A_NORMAL, A_NORMAL },
		[STYLE_WARN] = { COLOR_MAGENTA, A_BOLD, A_BOLD },
		[STYLE_BAD] = { COLOR_RED, A_BOLD, A_BOLD },
		[STYLE_SELECTED] = { -1, A_REVERSE, A_REVERSE },
		[STYLE_KEY] = { COLOR_CYAN, A_BOLD, A_BOLD },
	};
	const char *no_color = getenv("NO_COLOR");
	bool colour = !(no_color && no_color[0]) && has_colors();

	if (colour) {
		start_color();
		use_default_colors();
	}
	for (int i = 0; i < STYLE_COUNT; i++) {
		sc->looks[i] = looks[i].plain;
		if (colour && looks[i].colour >= 0 && init_pair(i, looks[i].colour, -1) == OK)
			sc->looks[i] = looks[i].coloured | COLOR_PAIR(i);
	}
}

/* -- open and close -- */

static const char *capability(const char *name)
{
	char *text = tigetstr(name);

	return text && text != (char *)-1 ? text : "";
}

static int take_terminal(struct screen *sc)
{
	char restore[256];

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || terminal_save(STDIN_FILENO) < 0)
		return -ENOTTY;
	sc->terminal = newterm(NULL, stdout, stdin);
	if (!sc->terminal)
		return -ENOTTY;
	snprintf(restore, sizeof(restore), "%s%s%s%s\r\n", capability("sgr0"), capability("rmkx"),
		 capability("rmcup"), capability("cnorm"));
	terminal_guard(restore);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	return 0;
}

int screen_open(struct screen **out, const struct screen_options *o)
{
	struct screen *sc = calloc(1, sizeof(*sc));
	int err;

	if (!sc)
		return -ENOMEM;
	err = take_terminal(sc);
	if (err < 0) {
		free(sc);
		return err;
	}
	set_looks(sc);
	desk_init(&sc->desk, o->replay);
	sc->no_percentiles = o->no_percentiles;
	if (o->filter)
		sc->base = *o->filter;
	sc->filter = sc->base;
	sc->canvas.utf8 = show_utf8();
	logging = sc;
	log_set_sink(take_message);
	*out = sc;
	return 0;
}

/* The screen's contents are gone with it: what went wrong is said once more. */
static void print_messages(const struct screen *sc)
{
	unsigned int from = sc->kept > KEPT_MESSAGES ? sc->kept - KEPT_MESSAGES : 0;

	for (unsigned int i = from; i < sc->kept; i++)
		log_warn("%s", sc->messages[i % KEPT_MESSAGES]);
}

static void let_go(struct screen *sc)
{
	if (sc->held_whole != sc->held)
		stats_free(sc->held_whole);
	stats_free(sc->held);
	sc->held = sc->held_whole = NULL;
}

void screen_close(struct screen *sc)
{
	if (!sc)
		return;
	endwin();
	terminal_release();
	log_set_sink(NULL);
	logging = NULL;
	delscreen(sc->terminal);
	print_messages(sc);
	let_go(sc);
	stats_free(sc->own);
	canvas_free(&sc->canvas);
	free(sc);
}

int screen_fd(const struct screen *sc)
{
	(void)sc;
	return STDIN_FILENO;
}

struct desk *screen_desk(struct screen *sc)
{
	return &sc->desk;
}

const struct filter *screen_filter(const struct screen *sc)
{
	return &sc->filter;
}

/* -- drawing -- */

/* A run of cells of one style; the right halves of wide characters are left out. */
static int put_run(const struct screen *sc, const struct cell *row, int y, int x)
{
	wchar_t run[256];
	int from = x, len = 0;

	while (x < sc->canvas.width && row[x].style == row[from].style && len < 255) {
		if (row[x].character != 0)
			run[len++] = row[x].character;
		x++;
	}
	attrset(sc->looks[row[from].style]);
	mvaddnwstr(y, from, run, len);
	return x;
}

static void put_canvas(const struct screen *sc)
{
	erase();
	for (int y = 0; y < sc->canvas.height; y++)
		for (int x = 0; x < sc->canvas.width;)
			x = put_run(sc, &sc->canvas.cells[y * sc->canvas.width], y, x);
	attrset(A_NORMAL);
	refresh();
}

/* SIGWINCH may have gone to whoever was reading: ask. */
static void follow_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
}

void screen_draw(struct screen *sc, struct stats *whole, int64_t now_ns)
{
	struct frame_input in = { .whole = whole,
				  .shown = sc->own ? sc->own : whole,
				  .desk = &sc->desk,
				  .now_ns = now_ns,
				  .no_percentiles = sc->no_percentiles };

	if (sc->held) {
		in.shown = sc->held;
		in.whole = sc->held_whole;
		in.now_ns = sc->held_ns;
	}
	follow_size();
	if (canvas_resize(&sc->canvas, COLS, LINES) < 0)
		return;
	sc->desk.tables_only = frame_is_large(COLS, LINES);
	frame_draw(&sc->canvas, &in);
	put_canvas(sc);
}

/* -- figures of one's own -- */

int screen_event(struct screen *sc, const struct event *ev)
{
	return sc->own ? stats_event(sc->own, &sc->filter, ev) : 0;
}

/* Counts from now on: the server stays known, and who is in setup comes with the next sweep. */
static void begin_own(struct screen *sc, const struct stats *whole, int64_t now_ns)
{
	struct event *ev = calloc(1, sizeof(*ev));

	stats_free(sc->own);
	sc->own = ev ? stats_new() : NULL;
	if (sc->own) {
		ev->type = EVENT_START;
		ev->at_ns = now_ns;
		ev->start = *stats_session(whole);
		ev->start.settings = *stats_settings(whole);
		stats_event(sc->own, NULL, ev);
		ev->type = EVENT_TICK;
		ev->tick = *stats_tick(whole);
		memset(ev->tick.lost, 0, sizeof(ev->tick.lost));
		stats_event(sc->own, NULL, ev);
		sc->desk.since_ns = now_ns;
	}
	free(ev);
}

static void end_own(struct screen *sc)
{
	stats_free(sc->own);
	sc->own = NULL;
	sc->desk.since_ns = 0;
}

static bool set_filter(struct screen *sc)
{
	struct desk *d = &sc->desk;
	struct filter filter = sc->base;
	char text[sizeof(d->typed) + 8], err[200];

	snprintf(text, sizeof(text), "client=%s", d->typed);
	if (d->typed[0] && filter_add(&filter, text, err, sizeof(err)) < 0) {
		desk_message(d, LOG_WARN, err);
		return false;
	}
	sc->filter = filter;
	strcpy(d->filter, d->typed);
	return true;
}

static void hold(struct screen *sc, struct stats *whole, int64_t now_ns)
{
	let_go(sc);
	if (!sc->desk.paused)
		return;
	sc->held_whole = stats_clone(whole);
	sc->held = sc->own ? stats_clone(sc->own) : sc->held_whole;
	sc->held_ns = now_ns;
	if (sc->held && sc->held_whole)
		return;
	let_go(sc);
	sc->desk.paused = false;
	desk_message(&sc->desk, LOG_WARN, "out of memory: cannot hold the figures");
}

/* -- keys -- */

static int desk_key_of(int key)
{
	static const struct {
		int curses, desk;
	} keys[] = {
		{ KEY_UP, DESK_UP },
		{ KEY_DOWN, DESK_DOWN },
		{ KEY_LEFT, DESK_LEFT },
		{ KEY_RIGHT, DESK_RIGHT },
		{ KEY_PPAGE, DESK_PAGE_UP },
		{ KEY_NPAGE, DESK_PAGE_DOWN },
		{ KEY_HOME, DESK_HOME },
		{ KEY_END, DESK_END },
		{ '\t', DESK_TAB },
		{ KEY_BTAB, DESK_BACK_TAB },
		{ '\r', DESK_ENTER },
		{ '\n', DESK_ENTER },
		{ KEY_ENTER, DESK_ENTER },
		{ 27, DESK_ESCAPE },
		{ KEY_BACKSPACE, DESK_BACKSPACE },
		{ 127, DESK_BACKSPACE },
		{ 8, DESK_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == key)
			return keys[i].desk;
	return key > 0xff ? 0 : key;
}

/* What a live screen does itself; a replay's owner does the rest. */
static enum desk_wish fulfil(struct screen *sc, enum desk_wish wish, struct stats *whole,
			     int64_t now_ns)
{
	switch (wish) {
	case WISH_RESET:
		let_go(sc);
		begin_own(sc, whole, now_ns);
		sc->desk.paused = sc->desk.replay && sc->desk.paused;
		return WISH_NOTHING;
	case WISH_FILTER:
		if (!set_filter(sc))
			return WISH_NOTHING;
		let_go(sc);
		end_own(sc);
		if (sc->desk.replay)
			return WISH_FILTER;
		sc->desk.paused = false;
		if (sc->desk.filter[0])
			begin_own(sc, whole, now_ns);
		return WISH_NOTHING;
	case WISH_PAUSE:
		if (!sc->desk.replay)
			hold(sc, whole, now_ns);
		return WISH_NOTHING;
	case WISH_JUMP:
	case WISH_STEP:
		end_own(sc); /* what was counted since the reset lies elsewhere in time */
		return wish;
	default:
		return wish;
	}
}

/* A terminal that hung up is readable for ever and has no key. */
static bool is_gone(void)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };

	return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

enum desk_wish screen_keys(struct screen *sc, struct stats *whole, int64_t now_ns)
{
	struct stats *shown = sc->held ? sc->held : sc->own ? sc->own : whole;
	enum desk_wish wish = WISH_NOTHING;
	int key;

	if (is_gone())
		return WISH_QUIT;
	while (wish == WISH_NOTHING && (key = getch()) != ERR) {
		if (key == KEY_RESIZE)
			continue;
		wish = fulfil(sc, desk_key(&sc->desk, shown, desk_key_of(key)), whole, now_ns);
		shown = sc->held ? sc->held : sc->own ? sc->own : whole;
	}
	return wish;
}
