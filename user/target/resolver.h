/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the C library will do with a name, from its own files' text. libc in struct resolver has to
 * be set before: glibc and musl read resolv.conf with different limits, and musl no nsswitch.conf.
 */
#ifndef PGDNSTRACE_RESOLVER_H
#define PGDNSTRACE_RESOLVER_H

#include "model/event.h"

/* resolv.conf; "" as where there is no such file: one nameserver, 127.0.0.1. Sets all its fields.
 */
void resolver_parse_conf(const char *text, struct resolver *r);
/* The words of an "options" line, also of the environment's RES_OPTIONS. */
void resolver_parse_options(const char *words, struct resolver *r);
/* nsswitch.conf; "": no hosts line, the library's own default holds and host_count stays 0. */
void resolver_parse_nsswitch(const char *text, struct resolver *r);

#endif
