/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/stuck_tasks.bpf.c and user/nfs/stuck_tasks.c share. */
#pragma once

/* A task that has slept for STUCK_LOOK_NS is read; after STUCK_NS it is stuck. */
#define STUCK_LOOK_NS 15000000000ull
#define STUCK_NS 60000000000ull
/* In the GPU driver: starting all GPUs of a node may take a minute, in which others wait. */
#define STUCK_DRIVER_NS 120000000000ull

/* The most tasks in the NFS client of one look; others are counted. */
#define STUCK_TASKS_MAX 256

/* Stacks of tasks that are not in the NFS client: a power of two. */
#define STUCK_OTHERS 1024

/* With more possible CPUs, sleeping tasks are not counted. */
#define STUCK_CPUS_MAX 8192

/* The most functions of a stack, the innermost first. */
#define STUCK_FRAMES 24

/* Tasks whose system calls are known from one look to the next: a power of two. */
#define STUCK_CALLS 1024

/* A task that switches more often, on average, makes call after call. One whose connects fail switches once in 3 s. */
#define STUCK_SWITCH_NS 500000000ull

/* The system call of a task. */
struct stuck_call {
	__u64 call; /* a hash of its registers and its stack; 0: free */
	__u64 since; /* when it was first found there, or fell asleep before (CLOCK_MONOTONIC, ns) */
	__u64 switches; /* how often it had left a CPU then */
};
