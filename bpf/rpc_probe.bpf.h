/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that user space runs, to read what no event shows.
 */
#ifndef XIDSCOPE_RPC_PROBE_BPF_H
#define XIDSCOPE_RPC_PROBE_BPF_H

#include "sunrpc.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "rpc.h"
#include "rpc_tables.bpf.h"
#include "waiters.bpf.h"

/* tk_start of the first request in @root with an xid of at least @from, or 0.
 * The tree changes meanwhile: every read may fail or return garbage, so the walk
 * is bounded and its result is checked. */
static __always_inline __u64 oldest_from(__u64 xprt, struct rb_root *root, __u32 from)
{
	struct rb_node *node = BPF_CORE_READ(root, rb_node);
	struct rpc_rqst *rqst, *best = NULL;
	struct rpc_task *task;
	__u64 start;

	for (int depth = 0; depth < 40 && node; depth++) {
		rqst = (void *)node - bpf_core_field_offset(struct rpc_rqst, rq_recv);
		if (BPF_CORE_READ(rqst, rq_xid) >= from) {
			best = rqst;
			node = BPF_CORE_READ(node, rb_left);
		} else {
			node = BPF_CORE_READ(node, rb_right);
		}
	}
	if (!best)
		return 0;
	task = BPF_CORE_READ(best, rq_task);
	start = BPF_CORE_READ(task, tk_start);
	/* Checked after the read: a task that has ended has given its request up, and its
	 * memory may be another task's by now. */
	if (BPF_CORE_READ(task, tk_rqstp) != best || BPF_CORE_READ(best, rq_task) != task ||
	    (__u64)BPF_CORE_READ(best, rq_xprt) != xprt)
		return 0;
	return start;
}

/* Whether the rpc_xprt at @t's address is still one of @t's server. The kernel drops the event
 * of its end in rare cases (see rpc_record_at_release), and uses the memory again. */
static __always_inline bool is_same_server(const struct rpc_transport *t)
{
	struct rpc_server server = {};
	__u32 *known;

	server_read(&server, (const struct rpc_xprt *)t->xprt);
	known = bpf_map_lookup_elem(&server_index, &server);
	return (known ? *known : RPC_MAX_SERVERS) == t->server;
}

static __always_inline __u32 qlen_read(struct rpc_wait_queue *q)
{
	__u32 qlen = 0;

	bpf_probe_read_kernel(&qlen, bpf_core_field_size(struct rpc_wait_queue, qlen),
			      (void *)q + bpf_core_field_offset(struct rpc_wait_queue, qlen));
	return qlen;
}

/* Run with a transport's number and its rpc_xprt's address: reads what no event shows, above
 * all the calls to a server that has stopped answering. Each request gets the next xid, so the
 * lowest one in flight is the oldest; after xprt->xid has wrapped, those at or above it are
 * older. If another transport has the address, its former owner's entry is freed. */
SEC("raw_tp")
int rpc_probe(__u64 *ctx)
{
	struct rpc_xprt *xprt = (void *)ctx[1];
	struct rpc_probe *p = &rpc_probe_result;
	struct rpc_transport *t;
	__u32 index = ctx[0], next;
	struct rb_root *root;

	t = bpf_map_lookup_elem(&transports, &index);
	if (!t || t->xprt != (__u64)xprt)
		return 0;
	if (!is_same_server(t)) {
		xprt_forget(xprt, t);
		return 0;
	}
	p->connects = BPF_CORE_READ(xprt, stat.connect_count);
	p->max_slots = BPF_CORE_READ(xprt, max_reqs);
	p->slots = BPF_CORE_READ(xprt, num_reqs);
	p->pending = qlen_read(&xprt->pending);
	p->queued[RPC_LIMIT_SLOT] = qlen_read(&xprt->backlog);
	p->queued[RPC_LIMIT_SEND] = qlen_read(&xprt->sending);
	next = BPF_CORE_READ(xprt, xid);
	root = &xprt->recv_queue;
	p->oldest_start = oldest_from(ctx[1], root, next) ?: oldest_from(ctx[1], root, 0);
	return 0;
}

/*
 * Run with the number of a waiter and the address of its task: frees the waiter if the
 * task has ended without being booked, because it had no request. A tracepoint for that
 * exists, but all tasks pass it, which would cost 90 instructions each. If the task's
 * memory is used for something else now, tk_start has changed.
 */
SEC("raw_tp")
int rpc_sweep(__u64 *ctx)
{
	__u32 index = ctx[0], bucket = index / RPC_BUCKET_TASKS;
	struct rpc_task *task = (void *)ctx[1];
	struct rpc_waiter_bucket *b;
	struct rpc_waiter *w;

	w = bpf_map_lookup_elem(&waiters, &index);
	b = bpf_map_lookup_elem(&waiter_tasks, &bucket);
	if (!w || !b || w->waits.asleep)
		return 0;
	if ((__u64)BPF_CORE_READ(task, tk_start) == w->start &&
	    (BPF_CORE_READ(task, tk_action) || BPF_CORE_READ(task, tk_rqstp)))
		return 0;
	waiter_leave(&b->task[index % RPC_BUCKET_TASKS], (__u64)task);
	return 0;
}

#endif
