/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations as people write them ("1.5s", "200ms", "3") and as tables show them ("11.9ms"). */
#ifndef PGDNSTRACE_DURATION_H
#define PGDNSTRACE_DURATION_H

#include <stdint.h>

/* Units us ms s m h; a bare number is seconds. 0, -EINVAL, or -ERANGE (below 0, above 10 years). */
int duration_parse(const char *text, uint64_t *ns);

#define DURATION_TEXT_LEN 24
/* Three digits and a unit, at most seven characters: "31us", "1.24ms" is "1.2ms", "10.0s", "3m20s".
 */
const char *duration_format(uint64_t ns, char *buf);

#endif
