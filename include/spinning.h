/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/spinning.bpf.c and user/faults/spinners.c share. */
#pragma once

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Further CPUs are ignored. */
#define SPIN_CPUS 512
#define SPIN_FRAMES 64

#define DEAD_TASKS 64 /* by the lower bits of the task's number */
#define DEAD_LEVELS 6 /* of control groups: of a deeper path the lowest six */

/* The task that a CPU runs. */
struct spin_task {
	__u64 began; /* ns since the boot */
	__u64 outside; /* changes if the task has left the kernel */
	__u64 system_ns; /* that it has run in the kernel, by the timer's ticks */
	__u64 run_ns; /* that it has run, by the clock */
	__s32 pid; /* 0: the CPU is idle */
	__u32 of_kernel; /* it has no program of its own */
};

/* A task that SIGKILL or SIGSEGV has ended, as the kernel does at an oops. */
struct dead_task {
	__s32 pid; /* 0: none */
	char groups[DEAD_LEVELS][96]; /* names, its own group first; "": the root */
};
