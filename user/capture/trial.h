/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Are return probes safe under a seccomp filter here? On x86-64 kernels 6.11 to about 6.13 a return
 * probe makes the traced process issue a system call that a filter may answer by killing it. Found
 * out on a child of our own, before any server is touched.
 */
#ifndef PGDNSTRACE_TRIAL_H
#define PGDNSTRACE_TRIAL_H

#include <stdbool.h>

struct bpf_link;
struct bpf_program;

/* False on kernels and machines that make return probes without a system call. */
bool trial_needed(void);
/*
 * 1: a filtered child survived a return probe; 0: it was killed or misled; -errno: could not try.
 * *link is the probe, on a function of our own that nobody calls: detaching takes 0.1 s, so that
 * is left to the end of the trace. NULL where there is none.
 */
int trial_return_probe(struct bpf_program *uretprobe, struct bpf_link **link);

#endif
