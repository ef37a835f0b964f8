/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/exit.h"

#include <stddef.h>

const char *exit_text(int code)
{
	switch (code) {
#define EXIT_CASE(name, number, text)                                                              \
	case number:                                                                               \
		return text;
		EXIT_CODES(EXIT_CASE)
#undef EXIT_CASE
	default:
		return NULL;
	}
}
