/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What bpf/rpc_tracepoints.bpf.c records and user/rpc/tracepoints/tracepoint_maps.c reads, in addition to include/rpc.h, which
 * both sources use.
 *
 * Events identify a client by a number that the kernel reuses, and a task by 16 bits of a counter. A server is identified by
 * its address and port. */
#pragma once

#include "rpc.h"

/* Offsets in bytes of fields in the records of events, from their `format` files. Each is a multiple of the field's size, and
 * each field lies within RPC_EVENT_BYTES. */
#define RPC_EVENT_BYTES 96

struct rpc_event_fields {
	__u16 task, client; /* the same in all events of tasks */
	__u16 sleep_queue, wakeup_queue, wakeup_status;
	__u16 end_status;
	__u16 transmit_status;
	__u16 version, program, procedure, backlog, rtt, execute;
	__u16 new_client, new_address, new_port, new_program, new_server;
	__u16 disconnect_address, disconnect_port;
};

enum rpc_program { RPC_PROGRAM_UNKNOWN, RPC_PROGRAM_NFS, RPC_PROGRAM_OTHER };

struct rpc_event_client {
	__u32 server; /* 1 + number; 0: not known yet */
	__u32 program; /* enum rpc_program */
};

/* An address and a port, or the number of a client whose address is not known. */
struct rpc_event_server_key {
	char address[RPC_ADDRESS_LEN]; /* "" if not known */
	__u64 port; /* as in rpc_server */
	__u64 client; /* 1 + number; 0 with an address */
};

struct rpc_event_server {
	struct rpc_event_server_key key;
	char name[RPC_NAME_LEN]; /* as given at mount; "" if not known */
	__u64 waiting[RPC_LIMITS]; /* tasks that wait there */
	__u64 saturated_ns[RPC_LIMITS]; /* ended periods */
	__u64 saturated_since[RPC_LIMITS]; /* begin of the present period; 0: none */
	struct rpc_peak peak[RPC_LIMITS];
	__u64 retransmits;
	__u64 disconnects;
};

struct rpc_event_series_key {
	__u32 server;
	__u32 version; /* of the NFS program */
	char op[RPC_OP_LEN];
};

/* What is known of the process that made a task: 1 + its client << 30 | the process << 8 | its owner. The index is the lower bits
 * of the task's key. Process numbers are below 1 << 22. */
#define RPC_MADE(client, process, owner) \
	((1 + (__u64)(client)) << 30 | (__u64)(process) << 8 | (owner))
#define RPC_MADE_FOR(made, key) ((made) >> 30 == 1 + (((key)-1) >> 32)) /* not a later task */
#define RPC_MADE_BY(made) ((made) >> 8 & ((1u << 22) - 1))

/* The entry of a task; its key is 1 + (client << 32 | task). */
struct rpc_event_task {
	struct rpc_waits waits;
	__u64 sent; /* end of the last complete transmit; 0: none yet */
	__u64 begun; /* begin of the first transmit; before it: when the task first waited */
	__u64 ended; /* if booked: when the task ended */
	__u32 server;
	__u32 transmits;
};
