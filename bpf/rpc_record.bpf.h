/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recording a call as a whole. */
#pragma once

#include "rpc_files.bpf.h"
#include "waiters.bpf.h"

/* Records how many calls are in the transmit queue and in flight as a call ends; @s: the server's copy. */
static __always_inline void call_end_depths(const struct rpc_xprt *xprt, struct rpc_server_stats *s)
{
	__u64 in_queue = FIELD(xprt, xmit_queuelen.counter), pending = FIELD(xprt, pending.qlen);
	__u32 epoch = rpc_epoch;

	depth_record(s, RPC_QUEUE_XMIT, in_queue);
	peak_raise(&s->peak[RPC_QUEUE_XMIT], epoch, in_queue);
	depth_record(s, RPC_QUEUE_PENDING, pending);
	peak_raise(&s->peak[RPC_QUEUE_PENDING], epoch, pending);
}

/* Records the waits of a call from @w, its task's entry, if that is the call's own: it has the same start. Returns what they leave
 * of call->before: its setup. A global function: the verifier checks it once, and not for each state of a call. */
__noinline __u64 waiter_record(struct rpc_series *s, struct rpc_share_stats *c,
			       const struct call_times *call, struct rpc_waiter *w)
{
	if (!s || !c || !call || !w)
		return 0;
	w->waits.booked = 0;
	if (w->start != call->start)
		return call->before;
	if (call->rtt != RPC_NO_REPLY)
		gap_record(call->server, &w->waits, call->xtime + call->rtt);
	return waits_record(s, c, call, &w->waits, call->before);
}

/* Records the waits of the call of @task, which has @place, and forgets the task, unless it already sleeps before its next
 * attempt. Returns the call's setup. @call is a copy, the only one that needs memory. */
static __always_inline __u64 waits_of_task(struct rpc_series *s, struct rpc_share_stats *c,
					   struct call_times call, const struct rpc_task *task,
					   const struct rpc_rqst *rqst, struct task_place place)
{
	__u64 setup;

	call.start = FIELD(task, tk_start);
	call.xtime = FIELD(rqst, rq_xtime);
	call.late = 0;
	setup = waiter_record(s, c, &call, place.entry);
	if (!place.entry->waits.asleep)
		task_drop(place, (__u64)task);
	return setup;
}

/* Records a reply to a call of @transport. */
static __always_inline void reply_record(__u32 transport, const __u32 *my_shard, __u64 rtt)
{
	struct rpc_replies *r = bpf_map_lookup_elem(&replies, my_shard);
	__u64 index = transport;

	/* The register that is checked is the one that is used: the verifier of 6.1 forgets the bounds of a copy on the stack. */
	barrier_var(index);
	if (!r || index > RPC_MAX_TRANSPORTS)
		return;
	counter_add(&r->of[index].count, 1);
	counter_add(&r->of[index].rtt_ns, rtt);
}

/* A call's time up to its last transmit, of @total. */
static __always_inline __u64 time_before(const struct rpc_task *task, const struct rpc_rqst *rqst,
					 __u64 total)
{
	__u64 xtime = FIELD(rqst, rq_xtime), start = FIELD(task, tk_start);

	return !xtime ? total /* never transmitted */ : xtime > start ? xtime - start : 0;
}

/* Other CPUs see this add after all writes before it, and before all writes after it. Only an atomic add whose
 * value is used has that order. On x86 it costs nothing more. */
static __always_inline void add_in_order(__u64 *counter, __u64 n)
{
	__u64 before = __sync_fetch_and_add(counter, n);

	barrier_var(before);
}

/* Records how often a call was sent again, and timed out. A global function because the verifier checks that once. */
__noinline int repeats_record(__u64 task_at, __u64 rqst_at, __u32 transport)
{
	const struct rpc_task *task = (void *)task_at;
	const struct rpc_rqst *rqst = (void *)rqst_at;
	struct rpc_transport *t = bpf_map_lookup_elem(&transports, &transport);
	int transmits = BPF_CORE_READ(rqst, rq_ntrans);

	if (!t)
		return 0;
	if (transmits > 1)
		counter_add(&t->retransmits, transmits - 1);
	counter_add(&t->timeouts, BPF_CORE_READ(task, tk_timeouts));
	return 0;
}

/* The owner's number of a call in @series. */
static __always_inline __u32 call_owner(const struct rpc_task *task, __u32 series)
{
	__u32 owner;

	if (!rpc_owners)
		return 0;
	owner = owner_of(FIELD(task, tk_owner), FIELD(task, tk_start));
	if (!owner && rpc_series_kind[series & 255] & RPC_SERIES_WRITES)
		owner = owner_of_pages(number_of(task), number_of(FIELD(task, tk_calldata))) &
			(RPC_MAX_OWNERS - 1);
	return owner;
}

static __always_inline int status_of(const struct rpc_task *task)
{
	int status = FIELD(task, tk_status);

	barrier_var(status); /* no instruction may read a task in one case, and a map in another */
	return status;
}

/* Records the call of @task and forgets the task. @client is its tk_client. In @times, total, before
 * and rtt (rq_rtt) are set, because an event's arguments cost less than reading the kernel's memory (some eight
 * instructions). */
static __always_inline void call_record(const struct rpc_task *task, const struct rpc_clnt *client,
					const struct rpc_rqst *rqst, struct task_place place,
					struct call_times times, bool booked)
{
	const struct rpc_xprt *xprt = FIELD(rqst, rq_xprt);
	/* Copied, so that the verifier does not follow the rest for each table that it may be from. */
	const struct rpc_xprt_ref ref = *xprt_get(xprt);
	const struct shard my_shard = shard();
	struct rpc_waiter *w = place.entry;
	__u64 received = FIELD(rqst, rq_reply_bytes_recvd), sent, setup;
	struct rpc_server_stats *server;
	__u32 index, copy, share;
	struct rpc_share_stats *c;
	struct rpc_series *s;
	int status;

	/* The compiler would repeat the read after an atomic. */
	barrier_var(received);
	if (received)
		reply_record(ref.transport, &my_shard.mine, times.rtt);
	else
		times.rtt = RPC_NO_REPLY;
	copy = shard_index(ref.server, my_shard);
	server = bpf_map_lookup_elem(&server_stats, &copy);
	if (!server)
		return;
	call_end_depths(xprt, server);
	index = series_get(server, ref.server, FIELD(task, tk_msg.rpc_proc),
			   FIELD(client, cl_vers));
	times.kind = kind_of_series(index);
	if (times.kind == RPC_KIND_OTHER)
		drop(RPC_DROP_SERIES);
	copy = shard_index(index, my_shard);
	s = bpf_map_lookup_elem(&series, &copy);
	c = share_get(FIELD(client, cl_clid), ref.server, call_owner(task, index), my_shard,
		      &share);
	if (!s || !c)
		return;

	sent = FIELD(rqst, rq_xmit_bytes_sent);
	barrier_var(sent);
	add_in_order(&s->started, 1);
	add_in_order(&c->started, 1);
	client_record(c, times.kind, times.total, sent, received);
	counter_add(&s->sent_bytes, sent);
	counter_add(&s->received_bytes, received);
	status = booked && w ? w->waits.status : status_of(task);
	if (status < 0)
		call_failed(c, share, times.kind, index, status);
	setup = times.before = reply_phases_record(s, c, &times);
	if (w) {
		times.server = ref.server;
		setup = waits_of_task(s, c, times, task, rqst, place);
	}
	phase_record(s, c, RPC_PHASE_SETUP, setup);
	if (times.total > rpc_age)
		earlier_record(ref.server, FIELD(task, tk_start), setup);
	add_in_order(&c->finished, 1);
	add_in_order(&s->finished, 1);
	if (rpc_files)
		file_record(number_of(task), share, times.total, sent + received);
	if (FIELD(rqst, rq_ntrans) > 1 || FIELD(task, tk_timeouts))
		repeats_record(number_of(task), number_of(rqst), ref.transport);
}
