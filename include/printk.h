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
#define PRINTK_NAME 96 /* room for the name of one of them, with its module and a newline */
#define PRINTK_NAMES 288 /* and for all: on arm64 180 bytes stand before the caller */
#define PRINTK_RING_BYTES (256 * 1024)
#define PRINTK_OTHERS_BYTES (PRINTK_RING_BYTES / 2) /* what others than the driver may fill */

/* The functions on the stack, the innermost first, each with a newline, up to the first one of a module: "_printk",
 * "nv_printf [nvidia]". An address that has no symbol is a number. A name that has no newline was cut. */
struct printk_names {
	char text[PRINTK_NAMES];
};

struct printk_event {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u32 pid; /* of the task in whose context it was printed */
	char comm[PRINTK_COMM];
	struct printk_names names;
	__u32 len; /* bytes of text that follow; not NUL-terminated */
	char text[];
};
