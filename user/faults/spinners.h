/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks that run in the kernel for 40 s without leaving it. */
#pragma once

#include "base/span.h"
#include "faults/recognise/recognise.h"
#include "kernel/bpf_support.h"
#include "spinning.h"

/* Initialise with {}. */
struct spinners {
	struct spinning_bpf *bpf; /* NULL: not loaded */
	struct bpf_memory memory; /* of its maps and programs */
	bool failed; /* the kernel refuses it: not tried again */
	uint64_t looked_ns, asked_ns; /* the last look; when a stack was asked for, 0: none is */
	struct spinner {
		struct spin_task since; /* as it was when it entered the kernel */
		uint64_t since_ns, seen_ns, told_ns;
		unsigned int cpu;
	} * list, asked;
	size_t count;
};

void spinners_free(struct spinners *s);

/* Call it every second: looks every 5 s, and adds a "kernel_spin" of the CPU to @e for each 40 s that a task spins. */
void spinners_look(struct spinners *s, struct fault_events *e, uint64_t now_ns);

/* ---- its parts, for tests ---- */

/* Takes what each CPU runs. Returns a task that may have spun for 40 s since the last time; NULL: none. */
struct spinner *spinners_take(struct spinners *s, const struct spin_task *tasks, size_t cpus,
			      uint64_t now_ns);

/* Finds the function on whose behalf the task runs: the first one of NFS or of the GPU driver (returns true), else the first
 * one of another module, else none (""). A line of @stack is "nfs_updatepage+0x15/0x40 [nfs]". */
bool spinners_function(struct span stack, struct kernel_place *place);
