/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording a call as a whole.
 */
#ifndef XIDSCOPE_RPC_RECORD_BPF_H
#define XIDSCOPE_RPC_RECORD_BPF_H

static __always_inline void call_end_depth(struct rpc_server_stats *s, __u32 epoch, __u32 queue,
					   __u64 depth)
{
	depth_record(s, queue, depth);
	peak_raise(&s->peak[queue], epoch, depth);
}

/* Records the call of @task, which took @total ns, and forgets the task. @w is
 * its entry, or NULL; @client is its tk_client. */
static __always_inline void call_record(const struct rpc_task *task, const struct rpc_clnt *client,
					const struct rpc_rqst *rqst, struct rpc_waiter *w,
					__u64 total, int status)
{
	/* Each read of the kernel's memory costs some eight instructions, and
	 * the compiler would repeat those that stand behind an atomic. */
	__u64 before, xtime = rqst->rq_xtime;
	__u64 received = rqst->rq_reply_bytes_recvd;
	__u64 start = task->tk_start;
	const struct rpc_xprt *xprt = rqst->rq_xprt;
	__u32 index, slot, epoch, my_shard = shard();
	struct rpc_server_stats *ss;
	struct rpc_waits *waits;
	struct rpc_xprt_ref *ref;
	struct rpc_transport *t;
	struct rpc_series *s;
	int ntrans;

	ref = xprt_get(xprt);
	index = ref ? series_get(ref, task->tk_msg.rpc_proc, client->cl_vers) : 0;
	if (!index)
		drop(RPC_DROP_SERIES);
	slot = index * (rpc_shard_mask + 1) + my_shard;
	s = bpf_map_lookup_elem(&series, &slot);
	if (!s)
		return;

	if (!xtime)
		before = total; /* never transmitted */
	else
		before = xtime > start ? xtime - start : 0;

	add(&s->started, 1);
	waits = w && w->start == start ? &w->waits : NULL;
	/* Else the compiler concludes from the look at `start` that there is an
	 * entry, which the verifier does not. */
	barrier_var(waits);
	phases_record(s, total, before, received ? (__u64)rqst->rq_rtt : RPC_NO_REPLY, xtime, 0,
		      waits);
	/* Else the compiler makes two copies of what comes between. */
	asm volatile("" : "+r"(w));
	if (w) {
		/* It may sleep already before its next attempt. */
		w->waits.booked = 0;
		if (!w->waits.asleep)
			waiter_drop((__u64)task);
	}
	add(&s->sent_bytes, rqst->rq_xmit_bytes_sent);
	add(&s->received_bytes, received);
	add(&s->finished, 1);

	if (status < 0)
		error_record(index, status);
	if (!ref)
		return;

	slot = ref->server * (rpc_shard_mask + 1) + my_shard;
	ss = bpf_map_lookup_elem(&server_stats, &slot);
	if (ss) {
		epoch = rpc_epoch;
		call_end_depth(ss, epoch, RPC_QUEUE_XMIT, xprt->xmit_queuelen.counter);
		call_end_depth(ss, epoch, RPC_QUEUE_PENDING, xprt->pending.qlen);
	}

	ntrans = rqst->rq_ntrans;
	if (ntrans > 1 || task->tk_timeouts) {
		t = bpf_map_lookup_elem(&transports, &ref->transport);
		if (t) {
			if (ntrans > 1)
				add(&t->retransmits, ntrans - 1);
			add(&t->timeouts, task->tk_timeouts);
		}
	}
}

#endif
