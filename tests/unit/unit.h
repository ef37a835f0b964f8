/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka with the headers it wants. TEST(a sentence) defines a case. */
#ifndef PGDNSTRACE_UNIT_H
#define PGDNSTRACE_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state __attribute__((unused)))

#endif
