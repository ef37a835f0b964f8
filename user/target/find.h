/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PGDNSTRACE_FIND_H
#define PGDNSTRACE_FIND_H

#include <stdbool.h>

/* Whether the target of an exe link, perhaps "(deleted)", is named as PostgreSQL's server is. */
bool find_is_postgres(const char *exe);

#endif
