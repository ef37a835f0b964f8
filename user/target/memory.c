/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "target/memory.h"
#include "target/proc.h"

#define TEXT_TRIES 10

int memory_read(int pid, uint64_t address, void *buf, size_t len)
{
	struct iovec local = { buf, len };
	struct iovec remote = { (void *)(uintptr_t)address, len };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == len ? 0 : -EFAULT;
}

/* Page by page: what lies behind the text's own page need not be mapped. */
static int text_read(int pid, uint64_t address, char *buf, size_t len)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	size_t have = 0, step;
	int ret;

	while (have < len - 1) {
		step = page - (address + have) % page;
		if (step > len - 1 - have)
			step = len - 1 - have;
		ret = memory_read(pid, address + have, buf + have, step);
		if (ret)
			return ret;
		if (memchr(buf + have, '\0', step))
			return 0;
		have += step;
	}
	buf[have] = '\0';
	return 0;
}

int memory_text(int pid, uint64_t address, char *buf, size_t len)
{
	uint64_t before, after;
	int ret, text_ret;

	for (int i = 0; i < TEXT_TRIES; i++) {
		ret = memory_read(pid, address, &before, sizeof(before));
		if (ret)
			return ret;
		buf[0] = '\0';
		text_ret = before ? text_read(pid, before, buf, len) : 0;
		ret = memory_read(pid, address, &after, sizeof(after));
		if (ret)
			return ret;
		if (before == after)
			return text_ret;
	}
	return -EAGAIN;
}

int memory_load_bias(int pid, uint64_t entry, uint64_t *bias)
{
	Elf64_auxv_t auxv[64];
	ssize_t got = proc_read(pid, "auxv", (char *)auxv, sizeof(auxv));

	if (got < 0)
		return got;
	for (size_t i = 0; i < got / sizeof(auxv[0]); i++) {
		if (auxv[i].a_type != AT_ENTRY)
			continue;
		*bias = auxv[i].a_un.a_val - entry;
		return 0;
	}
	return -ENOENT;
}
