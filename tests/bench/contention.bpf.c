// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the end of a call writes, over and over, without a call: for tests/bench/contention.c, which runs it on
 * several CPUs at once. */
#pragma clang diagnostic ignored "-Wunused-function"
#include "sunrpc.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "rpc.h"
#include "rpc_tables.bpf.h"
#include "waiters.bpf.h"
#include "rpc_record.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The times of call @i of some series, as call_record() adds them. */
static long one_call(__u32 i, __u32 *copy)
{
	__u32 slot = *copy;
	struct rpc_series *s = bpf_map_lookup_elem(&series, &slot);
	struct rpc_share_stats *c = bpf_map_lookup_elem(&share_stats, &slot);
	struct rpc_server_stats *ss = bpf_map_lookup_elem(&server_stats, &slot);
	__u64 ns = 50000 + (i & 1023) * 64;
	__u32 kind = kind_of_series(slot);
	const struct call_times call = {
		.kind = kind, .total = ns, .before = ns / 4, .rtt = ns / 2
	};

	if (!s || !c || !ss)
		return 1;
	counter_add(&s->started, 1);
	counter_add(&c->started, 1);
	client_record(c, kind, ns, ns & 128, ns & 4096);
	phases_record(s, c, &call, NULL);
	counter_add(&s->sent_bytes, 128);
	counter_add(&s->received_bytes, 4224);
	counter_add(&c->finished, 1);
	counter_add(&s->finished, 1);
	call_end_depth(ss, rpc_epoch, RPC_QUEUE_XMIT, i & 3);
	call_end_depth(ss, rpc_epoch, RPC_QUEUE_PENDING, i & 15);
	return 0;
}

/* Arguments: how many calls; 1 to use this CPU's copies, 0 to use one copy. */
SEC("raw_tp")
int calls(__u64 *ctx)
{
	__u32 copy = ctx[1] ? shard() : 0;

	bpf_loop(ctx[0], one_call, &copy, 0);
	return 0;
}
