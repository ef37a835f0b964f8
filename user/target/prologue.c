/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <string.h>

#include "target/prologue.h"

/* An instruction that may be stepped over: its length, and the bytes it must begin with. */
struct harmless {
	uint8_t len;
	uint8_t count;
	uint8_t bytes[4];
};

/* Only flags and rax change, and rax holds no argument of a function that isn't variadic. */
static const struct harmless x86_harmless[] = {
	{ 4, 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, /* endbr64 */
	{ 7, 2, { 0x83, 0x3d } },             /* cmpl $imm8, x(%rip) */
	{ 7, 2, { 0x80, 0x3d } },             /* cmpb $imm8, x(%rip) */
	{ 7, 3, { 0x48, 0x63, 0x05 } },       /* movslq x(%rip), %rax */
	{ 6, 2, { 0x8b, 0x05 } },             /* mov x(%rip), %eax */
	{ 2, 2, { 0x85, 0xc0 } },             /* test %eax, %eax */
};

static size_t x86_harmless_len(const uint8_t *code, size_t len)
{
	for (size_t i = 0; i < sizeof(x86_harmless) / sizeof(x86_harmless[0]); i++) {
		const struct harmless *h = &x86_harmless[i];

		if (h->len < len && !memcmp(code, h->bytes, h->count))
			return h->len;
	}
	return 0;
}

/* arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops (5.10 to 6.18) */
static bool x86_emulated(const uint8_t *code, size_t len)
{
	if (len < 2)
		return false;
	if (code[0] == 0x41)
		return (code[1] & 0xf8) == 0x50; /* push %r8 to %r15 */
	if (code[0] == 0x0f)
		return (code[1] & 0xf0) == 0x80; /* jcc rel32 */
	return (code[0] & 0xf8) == 0x50 /* push %rax to %rdi */ ||
	       (code[0] & 0xf0) == 0x70 /* jcc rel8 */ || code[0] == 0xe8 || code[0] == 0xe9 ||
	       code[0] == 0xeb || code[0] == 0x90;
}

static size_t x86_skip(const uint8_t *code, size_t len, bool *single_stepped)
{
	size_t at = 0, step;

	while (!x86_emulated(code + at, len - at)) {
		step = x86_harmless_len(code + at, len - at);
		if (!step) {
			*single_stepped = true;
			return 0;
		}
		at += step;
	}
	return at;
}

#define ARM64_BTI_C 0xd503245fU

/* arch/arm64/kernel/probes/decode-insn.c: what is simulated in 5.10 and later */
static bool arm64_simulated(uint32_t insn)
{
	return (insn & 0x7c000000) == 0x14000000 /* b, bl */ ||
	       (insn & 0xff000010) == 0x54000000 /* b.cond */ ||
	       (insn & 0x7e000000) == 0x34000000 /* cbz, cbnz */ ||
	       (insn & 0x7e000000) == 0x36000000 /* tbz, tbnz */ ||
	       (insn & 0x1f000000) == 0x10000000 /* adr, adrp */ ||
	       (insn & 0xbf000000) == 0x18000000 /* ldr literal */;
}

/*
 * Not behind paciasp: the return address is signed by then, and the one that a return probe puts
 * in its place would fail the check at the function's end. What mostly follows bti c is stp, which
 * is single-stepped like bti itself: no gain there.
 */
static size_t arm64_skip(const uint8_t *code, size_t len, bool *single_stepped)
{
	uint32_t insn[2];

	if (len >= sizeof(insn)) {
		memcpy(insn, code, sizeof(insn));
		if (arm64_simulated(insn[0]))
			return 0;
		if (insn[0] == ARM64_BTI_C && arm64_simulated(insn[1]))
			return 4;
	}
	*single_stepped = true;
	return 0;
}

size_t prologue_skip(int machine, const uint8_t *code, size_t len, bool *single_stepped)
{
	*single_stepped = false;
	if (machine == EM_X86_64)
		return x86_skip(code, len, single_stepped);
	if (machine == EM_AARCH64)
		return arm64_skip(code, len, single_stepped);
	*single_stepped = true;
	return 0;
}
