/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/stuck_tasks.bpf.c and user/nfs/stuck_tasks.c share. */
#pragma once

/* A task that has slept for so long is looked at, and one that sleeps for so long is stuck. */
#define STUCK_LOOK_NS 15000000000ull
#define STUCK_NS 60000000000ull

/* Tasks of one look: more are left out. */
#define STUCK_TASKS_MAX 256

/* Possible CPUs: with more, sleeping tasks are not counted. */
#define STUCK_CPUS_MAX 8192

/* Functions of a stack, the innermost first. */
#define STUCK_FRAMES 24
