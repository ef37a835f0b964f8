/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads another process's memory; never writes. Negative errno. */
#ifndef PGDNSTRACE_MEMORY_H
#define PGDNSTRACE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "target/symbols.h"

int memory_read(int pid, uint64_t address, void *buf, size_t len);
/*
 * The text that the char * at address points to, cut off at len - 1 bytes. A reload may free it
 * at any time, so the pointer is read again behind the text, and all of it when they differ;
 * -EAGAIN when that does not settle. A null pointer is an empty text.
 */
int memory_text(int pid, uint64_t address, char *buf, size_t len);
/* Where the executable was loaded: run-time address minus st_value. entry is its ELF header's. */
int memory_load_bias(int pid, uint64_t entry, uint64_t *bias);

#endif
