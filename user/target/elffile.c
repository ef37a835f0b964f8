/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/elffile.h"

int elffile_open(int fd, Elf **out, char *err, size_t err_len)
{
	GElf_Ehdr header;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	/* not mapped: a file that shrinks while it is read must not end in SIGBUS */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		snprintf(err, err_len, "not an ELF file");
		goto refuse;
	}
	if (gelf_getclass(elf) != ELFCLASS64 || header.e_machine != ELFFILE_MACHINE) {
		snprintf(err, err_len, "an ELF file for another machine");
		goto refuse;
	}
	*out = elf;
	return 0;
refuse:
	elf_end(elf);
	return -ENOEXEC;
}

bool elffile_offset(Elf *elf, uint64_t address, bool executable, uint64_t *offset)
{
	size_t count = 0;
	GElf_Phdr segment;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (executable && !(segment.p_flags & PF_X))
			continue;
		if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*offset = address - segment.p_vaddr + segment.p_offset;
		return true;
	}
	return false;
}

Elf_Data *elffile_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		found = elf_strptr(elf, names, header->sh_name);
		if (found && !strcmp(found, name))
			return elf_getdata(section, NULL);
	}
	return NULL;
}
