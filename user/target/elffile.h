/* SPDX-License-Identifier: BSD-2-Clause */
/* The few things that symbols and return sites need of an ELF file. 64 bit, this machine's only. */
#ifndef PGDNSTRACE_ELFFILE_H
#define PGDNSTRACE_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __aarch64__
#define ELFFILE_MACHINE EM_AARCH64
#else
#define ELFFILE_MACHINE EM_X86_64
#endif

/* -ENOEXEC with a sentence in err. fd stays the caller's; elf_end() frees *elf. */
int elffile_open(int fd, Elf **elf, char *err, size_t err_len);
/* Offset in the file of a link-time address in a loaded segment that is executable or any; false:
 * none. */
bool elffile_offset(Elf *elf, uint64_t address, bool executable, uint64_t *offset);
/* The section's header and its whole content; NULL when it isn't there or can't be read. */
Elf_Data *elffile_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
