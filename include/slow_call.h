/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/slow_calls.bpf.h reports about one slow call. */
#pragma once

#include "rpc.h"

/* Bytes of the ring buffer: a power of two, and a multiple of the page size. */
#define RPC_SLOW_RING (256 * 1024)

/* Times are ns, moments CLOCK_MONOTONIC. */
struct rpc_slow_call {
	__u64 end;
	__u64 total;
	__u64 before; /* up to the last transmit */
	__u64 rtt; /* last transmit to reply; ~0: there was no reply */
	__u64 resend; /* first to last transmit */
	__u64 wait_ns[RPC_WAITS]; /* before the first transmit */
	__u32 server; /* number */
	__u32 client; /* the kernel's number of the rpc_clnt: one for each mounted file system */
	__u32 pid; /* thread group that made the call */
	__u32 owner; /* number */
	__s32 status; /* tk_status */
	char op[RPC_OP_LEN];
};
