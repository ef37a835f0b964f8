/* SPDX-License-Identifier: BSD-2-Clause */
#include <capstone/capstone.h>
#include <errno.h>
#include <string.h>

#include "target/elffile.h"
#include "target/return_sites.h"
#include "target/symbols.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Callers of pg_getnameinfo_all in established sessions (PostgreSQL 13 to 18). */
static const char *const session_functions[] = {
	"pg_stat_get_activity",
	"pg_stat_get_backend_client_addr",
	"pg_stat_get_backend_client_port",
	"inet_client_addr",
	"inet_client_port",
	"inet_server_addr",
	"inet_server_port",
	"log_status_format",
};

/* .eh_frame_hdr: a header, then pairs of (function's start, its description), sorted, both
 * relative. */
#define EH_VERSION       1
#define EH_POINTER_PCREL 0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define EH_COUNT_UDATA4  0x03
#define EH_TABLE_DATAREL 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct eh_header {
	uint8_t version, pointer, count_format, table;
	int32_t frame;
	uint32_t count;
};

struct eh_entry {
	int32_t start, description;
};

/* A section's bytes and the address they are loaded at. */
struct code {
	const uint8_t *bytes;
	size_t len;
	uint64_t address;
};

struct finder {
	int fd;
	Elf *elf;
	struct code text;
	const struct eh_entry *functions;
	size_t function_count;
	uint64_t functions_base;
	uint64_t excluded[COUNT(session_functions)];
	csh decoder;
	uint64_t target;
	uint64_t *offsets;
	int count, max;
};

static int text_open(struct finder *f)
{
	GElf_Shdr header;
	Elf_Data *data = elffile_section(f->elf, ".text", &header);

	if (!data || !data->d_buf)
		return -ENOTSUP;
	f->text = (struct code){ data->d_buf, data->d_size, header.sh_addr };
	return 0;
}

static int functions_open(struct finder *f)
{
	GElf_Shdr header;
	Elf_Data *data = elffile_section(f->elf, ".eh_frame_hdr", &header);
	const struct eh_header *eh;

	if (!data || !data->d_buf || data->d_size < sizeof(*eh))
		return -ENOTSUP;
	eh = data->d_buf;
	if (eh->version != EH_VERSION || eh->pointer != EH_POINTER_PCREL ||
	    eh->count_format != EH_COUNT_UDATA4 || eh->table != EH_TABLE_DATAREL ||
	    eh->count > (data->d_size - sizeof(*eh)) / sizeof(struct eh_entry))
		return -ENOTSUP;
	f->functions = (const struct eh_entry *)(eh + 1);
	f->function_count = eh->count;
	f->functions_base = header.sh_addr;
	return 0;
}

static uint64_t function_address(const struct finder *f, size_t i)
{
	return f->functions_base + f->functions[i].start;
}

/* The start of the function that holds address; 0: none before it. */
static uint64_t function_start(const struct finder *f, uint64_t address)
{
	size_t low = 0, high = f->function_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (function_address(f, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? function_address(f, low - 1) : 0;
}

static bool is_excluded(const struct finder *f, uint64_t function)
{
	for (size_t i = 0; i < COUNT(f->excluded); i++)
		if (function && f->excluded[i] == function)
			return true;
	return false;
}

/* 1: address begins an instruction, 0: it lies within one, -EILSEQ: cannot be decoded so far. */
static int is_boundary(const struct finder *f, uint64_t function, uint64_t address)
{
	const uint8_t *bytes = f->text.bytes + (function - f->text.address);
	size_t left = f->text.len - (function - f->text.address);
	uint64_t at = function;
	cs_insn *insn;
	int ret = 1;

	if (ELFFILE_MACHINE == EM_AARCH64)
		return address % 4 == 0;
	insn = cs_malloc(f->decoder);
	if (!insn)
		return -ENOMEM;
	while (ret > 0 && at < address)
		if (!cs_disasm_iter(f->decoder, &bytes, &left, &at, insn))
			ret = -EILSEQ;
	cs_free(insn, 1);
	return ret > 0 ? at == address : ret;
}

enum branch { BRANCH_NONE, BRANCH_CALL, BRANCH_JUMP };

/* Bytes of opcode and distance; a distance of 0 bytes: no branch. */
struct branch_form {
	uint8_t opcode, distance;
};

static struct branch_form x86_form(const uint8_t *code, size_t left)
{
	if (left < 2)
		return (struct branch_form){ 0, 0 };
	if (code[0] == 0xe8 || code[0] == 0xe9)
		return (struct branch_form){ 1, 4 };
	if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		return (struct branch_form){ 2, 4 };
	if (code[0] == 0xeb || (code[0] & 0xf0) == 0x70)
		return (struct branch_form){ 1, 1 };
	return (struct branch_form){ 0, 0 };
}

/* A branch to the target, if there is one in these bytes; len: of the instruction. */
static enum branch x86_branch(const struct finder *f, size_t at, size_t *len)
{
	const uint8_t *code = f->text.bytes + at;
	struct branch_form form = x86_form(code, f->text.len - at);
	int32_t distance;

	*len = form.opcode + form.distance;
	if (!form.distance || *len > f->text.len - at)
		return BRANCH_NONE;
	if (form.distance == 1)
		distance = (int8_t)code[form.opcode];
	else
		memcpy(&distance, code + form.opcode, sizeof(distance));
	if (f->text.address + at + *len + distance != f->target)
		return BRANCH_NONE;
	return code[0] == 0xe8 ? BRANCH_CALL : BRANCH_JUMP;
}

static enum branch arm64_branch(const struct finder *f, size_t at, size_t *len)
{
	uint32_t insn;
	int64_t distance;

	*len = sizeof(insn);
	if (at % sizeof(insn) || sizeof(insn) > f->text.len - at)
		return BRANCH_NONE;
	memcpy(&insn, f->text.bytes + at, sizeof(insn));
	if ((insn & 0x7c000000) != 0x14000000)
		return BRANCH_NONE;
	distance = (int64_t)((uint64_t)insn << 38) >> 36; /* imm26, in words */
	if (f->text.address + at + distance != f->target)
		return BRANCH_NONE;
	return insn >> 31 ? BRANCH_CALL : BRANCH_JUMP;
}

static int site_add(struct finder *f, uint64_t address)
{
	if (f->count == f->max)
		return -ENOSPC;
	if (!elffile_offset(f->elf, address, true, &f->offsets[f->count]))
		return -EILSEQ;
	f->count++;
	return 0;
}

static int branch_check(struct finder *f, enum branch branch, uint64_t address, size_t len)
{
	uint64_t function = function_start(f, address);
	int ret;

	/* a jump of the function to its own start changes nothing about where it returns */
	if (is_excluded(f, function) || (branch == BRANCH_JUMP && function == f->target))
		return 0;
	if (function < f->text.address)
		return -EILSEQ;
	ret = is_boundary(f, function, address);
	if (ret <= 0)
		return ret;
	if (branch == BRANCH_JUMP)
		return -ENOTSUP;
	return site_add(f, address + len);
}

static int text_scan(struct finder *f)
{
	enum branch branch;
	size_t len;
	int ret;

	for (size_t at = 0; at < f->text.len; at++) {
		branch = ELFFILE_MACHINE == EM_AARCH64 ? arm64_branch(f, at, &len)
						       : x86_branch(f, at, &len);
		if (branch == BRANCH_NONE)
			continue;
		ret = branch_check(f, branch, f->text.address + at, len);
		if (ret < 0)
			return ret;
	}
	return f->count ? f->count : -ENOENT;
}

static void excluded_read(struct finder *f)
{
	struct symbol symbol;
	char err[128];

	for (size_t i = 0; i < COUNT(session_functions); i++) {
		symbols_find(f->fd, session_functions[i], &symbol, err, sizeof(err));
		f->excluded[i] = symbol.value; /* 0: not there */
	}
}

int return_sites_find(int fd, const char *symbol, uint64_t *offsets, int max)
{
	struct finder f = { .fd = fd, .offsets = offsets, .max = max };
	struct symbol found;
	char err[128];
	int ret = symbols_find(fd, symbol, &found, err, sizeof(err));

	if (ret)
		return ret;
	f.target = found.value;
	ret = elffile_open(fd, &f.elf, err, sizeof(err));
	if (ret)
		return ret;
	ret = text_open(&f);
	if (!ret)
		ret = functions_open(&f);
	if (ret)
		goto out;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &f.decoder) != CS_ERR_OK) {
		ret = -ENOMEM;
		goto out;
	}
	excluded_read(&f);
	ret = text_scan(&f);
	cs_close(&f.decoder);
out:
	elf_end(f.elf);
	return ret;
}
