/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/printk.bpf.c sends through its ring buffer: a kernel message that may be the NVIDIA driver's. */
#pragma once

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PRINTK_TEXT 1024 /* the kernel's own limit on a message (LOG_LINE_MAX) */
#define PRINTK_SHORT 220 /* a message up to this takes less room in the buffer */
#define PRINTK_COMM 16
#define PRINTK_STACK 16 /* addresses: printk's own functions, its caller, and some more */
#define PRINTK_RING_BYTES (256 * 1024)
#define PRINTK_OTHERS_BYTES (PRINTK_RING_BYTES / 2) /* what others than the driver may fill */
#define PRINTK_DRIVER_RANGES 8

/* Addresses of a module of the driver; both 0: none. */
struct printk_range {
	__u64 begin, end;
};

struct printk_event {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u32 pid; /* of the task in whose context it was printed */
	char comm[PRINTK_COMM];
	__u32 depth; /* addresses in the stack; 0: the kernel gave none */
	__u64 stack[PRINTK_STACK]; /* the innermost first; return addresses */
	__u32 len; /* bytes of text that follow; not NUL-terminated */
	char text[];
};
