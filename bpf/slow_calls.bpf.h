/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports slow calls one by one. This program is loaded only with --slower: without it a call costs nothing more. It runs
 * before the program that records the call, which frees the task's waits. */
#pragma once

#include "rpc_record.bpf.h"

/* Report calls of at least this many ns. User space raises it when it has enough slower ones. */
volatile __u64 rpc_slower_ns = 0;
__u64 rpc_slow_lost = 0;

BPF_RINGBUF(slow_calls, RPC_SLOW_RING);

/* The waits of the call as waits_record() would count them. */
static __always_inline void slow_call_waits(struct rpc_slow_call *c, const struct rpc_task *task,
					    __u64 xtime)
{
	struct rpc_waiter *w = waiter_find(task).entry;

	if (!w || w->start != (__u64)FIELD(task, tk_start))
		return;
	if (!w->waits.first && xtime)
		waits_clip(&w->waits, xtime);
	if (w->waits.first && w->waits.first < xtime)
		c->resend = xtime - w->waits.first;
	for (int p = 0; p < RPC_WAITS; p++)
		c->wait_ns[p] = w->waits.wait_ns[p];
}

static __noinline int slow_call_report(const struct rpc_task *task, const struct rpc_clnt *client,
				       const struct rpc_rqst *rqst, struct call_times *times)
{
	const struct dentry *name = NULL;
	const struct rpc_xprt_ref *ref;
	const struct rpc_procinfo *proc;
	struct rpc_slow_call *c;

	if (!times)
		return 0;
	ref = xprt_get(FIELD(rqst, rq_xprt));
	c = bpf_ringbuf_reserve(&slow_calls, sizeof(*c), 0);
	if (!c) {
		counter_add(&rpc_slow_lost, 1);
		return 0;
	}
	__builtin_memset(c, 0, sizeof(*c));
	c->end = bpf_ktime_get_ns();
	c->total = times->total;
	c->before =
		(__s64)times->before > 0 ? times->before : time_before(task, rqst, times->total);
	c->rtt = FIELD(rqst, rq_reply_bytes_recvd) ? times->rtt : RPC_NO_REPLY;
	slow_call_waits(c, task, FIELD(rqst, rq_xtime));
	c->server = ref->server;
	c->client = FIELD(client, cl_clid);
	c->pid = FIELD(task, tk_owner);
	c->owner = rpc_owners ? owner_of(c->pid, FIELD(task, tk_start)) : 0;
	c->status = FIELD(task, tk_status);
	if (!rpc_files || !file_of(task, &c->file, &name))
		c->file.client = ~0u;
	proc = FIELD(task, tk_msg.rpc_proc);
	if (FIELD(proc, p_name))
		bpf_probe_read_kernel_str(c->op, sizeof(c->op), FIELD(proc, p_name));
	bpf_ringbuf_submit(c, 0);
	return 0;
}

TRACEPOINT("rpc_stats_latency")
int BPF_PROG(rpc_stats_latency_slow, const struct rpc_task *task, ktime_t backlog, ktime_t rtt,
	     ktime_t execute)
{
	struct call_times times = { .total = execute, .before = backlog, .rtt = rtt };
	const struct rpc_clnt *client =
		task && times.total >= rpc_slower_ns ? nfs_client(task) : NULL;
	const struct rpc_rqst *rqst = client ? FIELD(task, tk_rqstp) : NULL;

	return rqst ? slow_call_report(task, client, rqst, &times) : 0;
}
