/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording: depths, times, errors, and a call as a whole.
 */
#ifndef XIDSCOPE_RPC_RECORD_BPF_H
#define XIDSCOPE_RPC_RECORD_BPF_H

static __always_inline void peak_raise(struct rpc_peak *peak, __u32 depth)
{
	__u32 epoch = rpc_epoch, i = epoch & 1;

	if (peak->epoch[i] != epoch) {
		peak->depth[i] = depth;
		peak->epoch[i] = epoch;
	} else if (peak->depth[i] < depth) {
		peak->depth[i] = depth;
	}
}

static __always_inline void depth_record(struct rpc_server_stats *s,
					 __u32 queue, __u64 depth)
{
	__u32 i = histogram_index(depth, DEPTH_SHIFT, DEPTH_OVERFLOW);

	if (i < DEPTH_BUCKETS)
		add(&s->depth[queue][i], 1);
	add(&s->depth_sum[queue], depth);
}

static __always_inline void time_record(__u64 *buckets, __u64 *sum, __u64 ns)
{
	__u32 i = histogram_index(ns, TIME_SHIFT, TIME_OVERFLOW);

	if (i < TIME_BUCKETS)
		add(&buckets[i], 1);
	add(sum, ns);
}

static __noinline void error_record(__u32 index, int status)
{
	struct rpc_error_key key = { .series = index, .status = status };
	struct rpc_error_count first = { .count = 1 };
	struct rpc_error_count *known = bpf_map_lookup_elem(&errors, &key);

	if (!known) {
		first.order = __sync_fetch_and_add(&rpc_error_order, 1);
		if (!bpf_map_update_elem(&errors, &key, &first, BPF_NOEXIST))
			return;
		known = bpf_map_lookup_elem(&errors, &key);
	}
	if (known)
		add(&known->count, 1);
	else
		drop(RPC_DROP_ERROR);
}

/* The waits of a call that took @before ns up to its last transmit at @xtime;
 * returns what they leave of it: its setup. */
static __always_inline __u64 waits_record(struct rpc_series *s,
					  struct rpc_waiter *w, __u64 xtime,
					  __u64 before)
{
	__u64 left = before, ns;

	if (w->first && w->first < xtime) {
		ns = xtime - w->first;
		if (ns > left)
			ns = left;
		left -= ns;
		time_record(s->phase[RPC_PHASE_RESEND],
			    &s->phase_ns[RPC_PHASE_RESEND], ns);
	} else if (!w->first && xtime) {
		waiter_clip(w, xtime);
	}
#pragma unroll
	for (int p = 0; p < RPC_WAITS; p++) {
		ns = w->wait_ns[p];
		if (!ns)
			continue;
		if (ns > left) {
			ns = left;
			drop(RPC_DROP_CLIPPED);
		}
		left -= ns;
		time_record(s->phase[p], &s->phase_ns[p], ns);
	}
	return left;
}

static __always_inline void call_end_depth(struct rpc_server_stats *s,
					   __u32 queue, __u64 depth)
{
	depth_record(s, queue, depth);
	peak_raise(&s->peak[queue], depth);
}

/* Records the call of @task, which took @total ns, and forgets the task. @w is
 * its entry, or NULL; @client is its tk_client. */
static __always_inline void call_record(const struct rpc_task *task,
					const struct rpc_clnt *client,
					const struct rpc_rqst *rqst,
					struct rpc_waiter *w, __u64 total,
					int status)
{
	/* Each read of the kernel's memory costs some eight instructions, and
	 * the compiler would repeat those that stand behind an atomic. */
	__u64 before, after, rtt, xtime = rqst->rq_xtime;
	__u64 received = rqst->rq_reply_bytes_recvd;
	__u64 start = task->tk_start;
	const struct rpc_xprt *xprt = rqst->rq_xprt;
	__u32 index, slot, my_shard = shard();
	struct rpc_server_stats *ss;
	struct rpc_xprt_ref *ref;
	struct rpc_transport *t;
	struct rpc_series *s;
	int ntrans;

	ref = xprt_get(xprt);
	index = ref ? series_get(ref, task->tk_msg.rpc_proc,
				 client->cl_vers) :
		      0;
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
	if (before > total)
		before = total;
	after = total - before;
	/* No reply: the whole time since the transmit is the server's. */
	rtt = received ? (__u64)rqst->rq_rtt : after;
	if (rtt > after)
		rtt = after;

	add(&s->started, 1);
	time_record(s->total, &s->total_ns, total);
	time_record(s->phase[RPC_PHASE_RTT], &s->phase_ns[RPC_PHASE_RTT], rtt);
	time_record(s->phase[RPC_PHASE_FINISH], &s->phase_ns[RPC_PHASE_FINISH],
		    after - rtt);
	if (w) {
		if (w->start == start)
			before = waits_record(s, w, xtime, before);
		/* It may sleep already before its next attempt. */
		w->booked = 0;
		if (!w->asleep)
			waiter_drop((__u64)task);
	}
	time_record(s->phase[RPC_PHASE_SETUP], &s->phase_ns[RPC_PHASE_SETUP],
		    before);
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
		call_end_depth(ss, RPC_QUEUE_XMIT, xprt->xmit_queuelen.counter);
		call_end_depth(ss, RPC_QUEUE_PENDING, xprt->pending.qlen);
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
