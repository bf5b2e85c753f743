/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/kernel_events.bpf.c sends to user/faults/trace_events.c. */
#pragma once

#ifndef __bpf__
#include <linux/types.h>
#endif

enum {
	EVENT_AER,
	EVENT_MCE,
	EVENT_OOM,
	EVENT_HANG,
	EVENT_MODULE_LOAD,
	EVENT_MODULE_FREE,
	KERNEL_EVENTS,
	EVENT_XID = KERNEL_EVENTS, /* of the driver: its number is the status */
};

/* Room for a burst of some hundred events, which are rare. */
#define KERNEL_EVENTS_RING_BYTES (32 * 1024)

/* Members that an event does not have are 0. */
struct traced_event {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u64 status, address;
	__u32 event; /* EVENT_* */
	__u32 pid;
	__u32 cpu, bank;
	__u64 severity;
	char name[64]; /* of the module, device or process */
};
