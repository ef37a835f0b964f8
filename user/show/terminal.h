/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives a terminal back as it was when the program dies of a signal or leaves by exit(). */
#ifndef PGDNSTRACE_TERMINAL_H
#define PGDNSTRACE_TERMINAL_H

#include <termios.h>

/* Before curses takes the terminal. 0 or -errno. */
int terminal_save(int fd);
/* restore: what the terminal needs to leave the screen and show the cursor; copied. */
void terminal_guard(const char *restore);
void terminal_release(void); /* given back in the ordinary way */

#endif
