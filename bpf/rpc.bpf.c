// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sunrpc's client: where each NFS call spends its time, and what holds it up.
 *
 * A call counts once, when the kernel itself books it for mountstats
 * (rpc_stats_latency). Its phases are differences of the kernel's own time
 * stamps, except the waits, which are measured from sleep to wake-up; `setup`
 * is what is left, so that the phases add up to the total by construction.
 * A call that does not wait meets no per-task look-up that could find anything.
 */
#include "sunrpc.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "rpc.h"
#include "waiters.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading: number of shards - 1; one less than a power of two. */
const volatile __u32 rpc_shard_mask = 0;

/*
 * Set before loading, where tracepoints can be preempted (they can from 7.0 on,
 * being guarded by SRCU instead of by disabled preemption). There the kernel
 * drops an event if another task of the same CPU was preempted within the same
 * program, which happens to every thousandth call under load. Then a call's end
 * is only noted when it is booked, by two programs of which the second notes what
 * was kept from the first; it is recorded when it gives back its request, for
 * that tracepoint is reached with a spin lock held. If there is no note, the
 * call is recorded all the same, up to that moment.
 */
const volatile bool rpc_record_at_release = false;

/* Set by user space at any time: bytes from nfs4_slot_table.slot_tbl_waitq to
 * .slot_tbl_state, 0 while nfsv4 is not there to tell. */
volatile __s64 rpc_session_state_offset = 0;

/* Number of the present interval; user space counts on. */
volatile __u32 rpc_epoch = 0;

/* How many of each array are in use (may exceed the array: then it is full). */
__u32 rpc_server_count = 0;
__u32 rpc_transport_count = 0;
__u32 rpc_series_count = 1; /* 0 is "other" */
__u64 rpc_error_order = 0;

__u64 rpc_dropped[RPC_DROPS] = {};

struct rpc_probe rpc_probe_result = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * RPC_MAX_TRANSPORTS);
	__type(key, __u64);
	__type(value, struct rpc_xprt_ref);
} xprts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RPC_MAX_TRANSPORTS);
	__type(key, __u32);
	__type(value, struct rpc_transport);
} transports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RPC_MAX_SERVERS);
	__type(key, struct rpc_server);
	__type(value, __u32);
} server_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RPC_MAX_SERVERS);
	__type(key, __u32);
	__type(value, struct rpc_server);
} servers SEC(".maps");

/* Index: server * shards + shard; the last server is "other". */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, (RPC_MAX_SERVERS + 1) * RPC_MAX_SHARDS);
	__type(key, __u32);
	__type(value, struct rpc_server_stats);
} server_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RPC_MAX_SERIES);
	__type(key, struct rpc_series_key);
	__type(value, __u32);
} series_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RPC_MAX_SERIES);
	__type(key, __u32);
	__type(value, struct rpc_series_info);
} series_info SEC(".maps");

/* Index: series * shards + shard. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RPC_MAX_SERIES * RPC_MAX_SHARDS);
	__type(key, __u32);
	__type(value, struct rpc_series);
} series SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RPC_MAX_ERRORS);
	__type(key, struct rpc_error_key);
	__type(value, struct rpc_error_count);
} errors SEC(".maps");

static __always_inline void add(__u64 *counter, __u64 n)
{
	__sync_fetch_and_add(counter, n);
}

static __always_inline void drop(enum rpc_drop reason)
{
	add(&rpc_dropped[reason], 1);
}

static __always_inline __u32 shard(void)
{
	return bpf_get_smp_processor_id() & rpc_shard_mask;
}

/* ---- who it is: servers, transports, series; all rare ---- */

static __noinline __u32 server_make(const struct rpc_xprt *xprt)
{
	struct rpc_server server = {};
	__u32 *known, index;

	server.netns = xprt->xprt_net->ns.inum;
	bpf_probe_read_kernel_str(server.name, sizeof(server.name),
				  xprt->servername);
	known = bpf_map_lookup_elem(&server_index, &server);
	if (known)
		return *known;
	index = __sync_fetch_and_add(&rpc_server_count, 1);
	if (index < RPC_MAX_SERVERS &&
	    !bpf_map_update_elem(&servers, &index, &server, BPF_ANY) &&
	    !bpf_map_update_elem(&server_index, &server, &index, BPF_NOEXIST))
		return index;
	known = bpf_map_lookup_elem(&server_index, &server); /* a race lost? */
	if (known)
		return *known;
	drop(RPC_DROP_SERVER);
	return RPC_MAX_SERVERS;
}

static __always_inline void transport_proto(char *proto,
					    const struct rpc_xprt *xprt)
{
	if (bpf_core_field_exists(xprt->xprtsec) &&
	    xprt->xprtsec.policy != RPC_XPRTSEC_NONE) {
		__builtin_memcpy(proto, "tls", 4);
		return;
	}
	bpf_probe_read_kernel_str(proto, RPC_PROTO_LEN,
				  xprt->address_strings[RPC_DISPLAY_PROTO]);
}

/* The last place left by an earlier transport of the same server and protocol,
 * or RPC_MAX_TRANSPORTS. Without branches: the verifier follows each of them
 * through each turn of the loop. */
static __always_inline __u32 transport_free_place(__u32 server, __u64 proto)
{
	__u32 place = RPC_MAX_TRANSPORTS;
	struct rpc_transport *t;
	__u64 differs;

	for (__u32 i = 0; i < RPC_MAX_TRANSPORTS; i++) {
		__u32 index = i;

		t = bpf_map_lookup_elem(&transports, &index);
		if (!t)
			break;
		differs = t->xprt | (*(__u64 *)t->proto ^ proto) |
			  (t->server ^ server);
		differs = (differs | -differs) >> 63; /* 0 or 1 */
		place = place * differs + i * (1 - differs);
	}
	return place;
}

static __noinline __u32 transport_make(const struct rpc_xprt *xprt,
				       __u32 server)
{
	__u64 proto[RPC_PROTO_LEN / sizeof(__u64)] = {};
	struct rpc_transport *t;
	__u32 index;

	transport_proto((char *)proto, xprt);
	index = transport_free_place(server, proto[0]);
	t = bpf_map_lookup_elem(&transports, &index);
	if (t && !__sync_val_compare_and_swap(&t->xprt, 0, (__u64)xprt))
		goto found;
	index = __sync_fetch_and_add(&rpc_transport_count, 1);
	t = bpf_map_lookup_elem(&transports, &index);
	if (!t) {
		drop(RPC_DROP_TRANSPORT);
		return RPC_MAX_TRANSPORTS;
	}
	t->server = server;
	__builtin_memcpy(t->proto, proto, sizeof(proto));
	t->xprt = (__u64)xprt;
found:
	bpf_probe_read_kernel_str(t->address, sizeof(t->address),
				  xprt->address_strings[RPC_DISPLAY_ADDR]);
	return index;
}

static __noinline struct rpc_xprt_ref *xprt_make(const struct rpc_xprt *xprt)
{
	struct rpc_xprt_ref ref = {};
	__u64 key = (__u64)xprt;
	struct rpc_transport *t;

	ref.server = server_make(xprt);
	ref.transport = transport_make(xprt, ref.server);
	if (bpf_map_update_elem(&xprts, &key, &ref, BPF_NOEXIST)) {
		/* Another CPU was faster, or the table is full. */
		t = bpf_map_lookup_elem(&transports, &ref.transport);
		if (t)
			t->xprt = 0;
	}
	return bpf_map_lookup_elem(&xprts, &key);
}

static __always_inline struct rpc_xprt_ref *
xprt_get(const struct rpc_xprt *xprt)
{
	__u64 key = (__u64)xprt;
	struct rpc_xprt_ref *ref = bpf_map_lookup_elem(&xprts, &key);

	return ref ?: xprt_make(xprt);
}

/* The place of a transport that is known already, or NULL. */
static __always_inline struct rpc_transport *
transport_of(const struct rpc_xprt *xprt)
{
	__u64 key = (__u64)xprt;
	struct rpc_xprt_ref *ref = bpf_map_lookup_elem(&xprts, &key);

	return ref ? bpf_map_lookup_elem(&transports, &ref->transport) : NULL;
}

static __noinline __u32 series_make(__u32 server,
				    const struct rpc_procinfo *proc,
				    __u32 version)
{
	struct rpc_series_info info = {};
	__u32 *known, index;

	info.key.server = server;
	info.key.version = version;
	info.key.op = proc->p_statidx;
	known = bpf_map_lookup_elem(&series_index, &info.key);
	if (known)
		return *known;
	if (!proc->p_name ||
	    bpf_probe_read_kernel_str(info.name, sizeof(info.name),
				      proc->p_name) < 0)
		__builtin_memcpy(info.name, "NULL", 5);
	index = __sync_fetch_and_add(&rpc_series_count, 1);
	if (index < RPC_MAX_SERIES &&
	    !bpf_map_update_elem(&series_info, &index, &info, BPF_ANY) &&
	    !bpf_map_update_elem(&series_index, &info.key, &index, BPF_NOEXIST))
		return index;
	known = bpf_map_lookup_elem(&series_index, &info.key);
	return known ? *known : 0;
}

static __always_inline __u32 series_get(struct rpc_xprt_ref *ref,
					const struct rpc_procinfo *proc,
					__u32 version)
{
	__u32 op = proc->p_statidx;
	__u32 table = version - 3;
	__u32 index;

	if (op >= RPC_MAX_OP || table > 1)
		return series_make(ref->server, proc, version);
	index = ref->series[table][op];
	if (index)
		return index - 1;
	index = series_make(ref->server, proc, version);
	ref->series[table][op] = index + 1;
	return index;
}

/* ---- waits ---- */

static __always_inline bool is_nfs(const struct rpc_task *task)
{
	return task->tk_client && task->tk_client->cl_prog == RPC_NFS_PROGRAM;
}

/* While the state manager drains the session's slots, tasks wait on the same
 * queue, but not for want of slots. */
static __always_inline bool session_draining(const struct rpc_wait_queue *q)
{
	__u64 typed = (__u64)q, address = 0, state = 0;
	__s64 offset = rpc_session_state_offset;

	if (!offset)
		return false;
	/* To the verifier a copy is a number, which may be calculated with. */
	bpf_probe_read_kernel(&address, sizeof(address), &typed);
	bpf_probe_read_kernel(&state, sizeof(state), (void *)address + offset);
	return state & 1; /* NFS4_SLOT_TBL_DRAINING */
}

/* The first eight bytes of a name as a (little-endian) number. The names meant
 * are "ForeChannel Slot table", "NFSv4.0 transport Slot table", "delayq". */
#define NAME(s)                                                               \
	((__u64)(__u8)(s)[0] | (__u64)(__u8)(s)[1] << 8 |                     \
	 (__u64)(__u8)(s)[2] << 16 | (__u64)(__u8)(s)[3] << 24 |              \
	 (__u64)(__u8)(s)[4] << 32 | (__u64)(__u8)(s)[5] << 40 |              \
	 (__u64)(__u8)(s)[6] << 48 | (__u64)(__u8)(s)[7] << 56)

/* What a task waits for on @q, which is not pending; RPC_WAITS: nothing that
 * has a phase of its own. The transport's queues are known by address. */
static __always_inline __u32 wait_of(const struct rpc_xprt *xprt,
				     const struct rpc_wait_queue *q)
{
	__u64 name = 0;

	if (xprt) {
		if (q == &xprt->backlog)
			return RPC_PHASE_SLOT;
		if (q == &xprt->sending)
			return RPC_PHASE_SEND;
		if (q == &xprt->binding)
			return RPC_WAITS;
	}
	if (!bpf_core_field_exists(q->name))
		return RPC_WAITS;
	bpf_probe_read_kernel(&name, sizeof(name), q->name);
	if (name == NAME("ForeChan") || name == NAME("NFSv4.0 "))
		return RPC_PHASE_SESSION;
	if ((name & NAME("\xff\xff\xff\xff\xff\xff\xff")) == NAME("delayq\0"))
		return RPC_PHASE_DELAY;
	return RPC_WAITS;
}

static __always_inline __u32 limit_of(__u32 wait)
{
	switch (wait) {
	case RPC_PHASE_SLOT:
		return RPC_LIMIT_SLOT;
	case RPC_PHASE_SESSION:
		return RPC_LIMIT_SESSION;
	case RPC_PHASE_SEND:
		return RPC_LIMIT_SEND;
	default:
		return RPC_LIMITS;
	}
}

/* A session is shared by all of a client's transports: its waits belong to the
 * first. */
static __always_inline const struct rpc_xprt *
xprt_of_wait(const struct rpc_task *task, __u32 wait)
{
	if (wait == RPC_PHASE_SESSION || !task->tk_xprt)
		return task->tk_client ? task->tk_client->cl_xprt : NULL;
	return task->tk_xprt;
}

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

/* A task joins a limit's queue of @qlen tasks. The queue's lock is held: what
 * is here per queue needs no atomics. */
static __always_inline void limit_enter(const struct rpc_xprt_ref *ref,
					__u32 limit, __u32 qlen, __u64 now)
{
	__u32 index = ref->server * (rpc_shard_mask + 1) + shard();
	struct rpc_server_stats *s;
	struct rpc_transport *t;

	s = bpf_map_lookup_elem(&server_stats, &index);
	if (s && limit < RPC_LIMITS)
		depth_record(s, limit, qlen + 1);
	t = bpf_map_lookup_elem(&transports, &ref->transport);
	if (!t || limit >= RPC_LIMITS)
		return;
	if (!qlen || !t->saturated_since[limit])
		t->saturated_since[limit] = now;
	peak_raise(&t->peak[limit], qlen + 1);
}

/* A task leaves the queue, of which it was the last. */
static __always_inline void limit_leave(const struct rpc_xprt *xprt,
					__u32 limit, __u64 now)
{
	struct rpc_transport *t = transport_of(xprt);

	if (!t || limit >= RPC_LIMITS || !t->saturated_since[limit])
		return;
	if (now > t->saturated_since[limit])
		t->saturated_ns[limit] += now - t->saturated_since[limit];
	t->saturated_since[limit] = 0;
}

SEC("tp_btf/rpc_task_sleep")
int BPF_PROG(rpc_task_sleep, const struct rpc_task *task,
	     const struct rpc_wait_queue *q)
{
	const struct rpc_xprt *xprt;
	struct rpc_xprt_ref *ref;
	struct rpc_waiter *w;
	__u32 wait;
	__u64 now;

	if (!task || !q)
		return 0;
	xprt = task->tk_xprt;
	if (xprt && q == &xprt->pending)
		return 0;
	if (!is_nfs(task))
		return 0;
	wait = wait_of(xprt, q);
	if (wait >= RPC_WAITS ||
	    (wait == RPC_PHASE_SESSION && session_draining(q)))
		return 0;
	xprt = xprt_of_wait(task, wait);
	if (!xprt)
		return 0;

	now = bpf_ktime_get_ns();
	if (wait != RPC_PHASE_DELAY) {
		ref = xprt_get(xprt);
		if (ref)
			limit_enter(ref, limit_of(wait), q->qlen, now);
	}
	w = waiter_get((__u64)task, task->tk_start);
	if (!w) {
		drop(RPC_DROP_WAITER);
		return 0;
	}
	w->xprt = (__u64)xprt;
	w->since = now;
	w->last = wait;
	w->asleep = 1 + wait;
	return 0;
}

/* A task that was transmitted wakes with an error: it may be sent again. What
 * it waits for from here on is part of `resend`. */
static __always_inline void maybe_resent(const struct rpc_task *task)
{
	const struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_waiter *w;

	if (!rqst || !rqst->rq_ntrans || !is_nfs(task))
		return;
	/* The only sign of life of a server that has hung since before the
	 * attach: its calls time out. */
	xprt_get(rqst->rq_xprt);
	w = waiter_get((__u64)task, task->tk_start);
	if (!w) {
		drop(RPC_DROP_WAITER);
		return;
	}
	if (w->first)
		return;
	w->first = rqst->rq_xtime;
	waiter_clip(w, w->first);
}

SEC("tp_btf/rpc_task_wakeup")
int BPF_PROG(rpc_task_wakeup, const struct rpc_task *task,
	     const struct rpc_wait_queue *q)
{
	const struct rpc_xprt *xprt;
	struct rpc_waiter *w;
	__u64 now, start;
	__u32 wait;

	if (!task || !q)
		return 0;
	xprt = task->tk_xprt;
	if (xprt && q == &xprt->pending) {
		if (task->tk_status < 0)
			maybe_resent(task);
		return 0;
	}

	now = bpf_ktime_get_ns();
	if (q->qlen == 1) {
		wait = wait_of(xprt, q);
		if (limit_of(wait) < RPC_LIMITS)
			limit_leave(xprt_of_wait(task, wait), limit_of(wait),
				    now);
	}

	w = waiter_find((__u64)task);
	if (!w || !w->asleep)
		return 0;
	wait = w->asleep - 1;
	w->asleep = RPC_ASLEEP_NO;
	start = task->tk_start;
	if (w->start != start) {
		/* Restarted in its sleep (rpc_delay, then rpc_restart_call):
		 * the new attempt's clock began to run within the wait. */
		w->start = start;
		w->first = 0;
		if (w->since < start)
			w->since = start;
		for (int p = 0; p < RPC_WAITS; p++)
			w->wait_ns[p] = 0;
	}
	w->until = now;
	if (task->tk_rpc_status && !task->tk_rqstp) {
		/* Killed before it had a request: it will not be booked. */
		waiter_drop((__u64)task);
		return 0;
	}
	if (w->first || wait >= RPC_WAITS || now < w->since)
		return 0;
	w->wait_ns[wait] += now - w->since;
	return 0;
}

/* ---- the end of a call ---- */

/* A task that ends without a request is not booked by rpc_stats_latency. */
SEC("tp_btf/rpc_task_end")
int BPF_PROG(rpc_task_end, const struct rpc_task *task)
{
	if (task && !task->tk_rqstp)
		waiter_drop((__u64)task);
	return 0;
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
 * its entry, or NULL. */
static __always_inline void call_record(const struct rpc_task *task,
					const struct rpc_rqst *rqst,
					struct rpc_waiter *w, __u64 total,
					int status)
{
	__u64 before, after, rtt, xtime = rqst->rq_xtime;
	__u64 start = task->tk_start;
	const struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpc_server_stats *ss;
	struct rpc_xprt_ref *ref;
	struct rpc_transport *t;
	struct rpc_series *s;
	__u32 index, slot;
	int ntrans;

	ref = xprt_get(xprt);
	index = ref ? series_get(ref, task->tk_msg.rpc_proc,
				 task->tk_client->cl_vers) :
		      0;
	if (!index)
		drop(RPC_DROP_SERIES);
	slot = index * (rpc_shard_mask + 1) + shard();
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
	rtt = rqst->rq_reply_bytes_recvd ? (__u64)rqst->rq_rtt : after;
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
		waiter_drop((__u64)task);
	}
	time_record(s->phase[RPC_PHASE_SETUP], &s->phase_ns[RPC_PHASE_SETUP],
		    before);
	add(&s->sent_bytes, rqst->rq_xmit_bytes_sent);
	add(&s->received_bytes, rqst->rq_reply_bytes_recvd);
	add(&s->finished, 1);

	if (status < 0)
		error_record(index, status);
	if (!ref)
		return;

	slot = ref->server * (rpc_shard_mask + 1) + shard();
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

/* The kernel has booked the call of @task, which took @total ns. */
static __always_inline int book(const struct rpc_task *task, __u64 total)
{
	const struct rpc_rqst *rqst;
	struct rpc_waiter *w;

	if (!task || !is_nfs(task))
		return 0;
	rqst = task->tk_rqstp;
	if (!rqst)
		return 0;
	if (!rpc_record_at_release) {
		call_record(task, rqst, waiter_find((__u64)task), total,
			    task->tk_status);
		return 0;
	}
	w = waiter_get((__u64)task, task->tk_start);
	if (!w) {
		drop(RPC_DROP_WAITER);
		return 0;
	}
	if (w->booked)
		return 0;
	w->total = total;
	w->status = task->tk_status;
	w->booked = 1;
	return 0;
}

SEC("tp_btf/rpc_stats_latency")
int BPF_PROG(rpc_stats_latency, const struct rpc_task *task, ktime_t backlog,
	     ktime_t rtt, ktime_t execute)
{
	return book(task, execute);
}

/* Only with rpc_record_at_release: notes what was kept from the program above,
 * unless that happens to both at once. */
SEC("tp_btf/rpc_stats_latency")
int BPF_PROG(rpc_stats_latency_again, const struct rpc_task *task,
	     ktime_t backlog, ktime_t rtt, ktime_t execute)
{
	return book(task, execute);
}

/* A task gives back the right to transmit, and that for the last time when it
 * gives back its request, too: only then does it have no more to do. */
static __always_inline int release(const struct rpc_task *task)
{
	const struct rpc_rqst *rqst;
	struct rpc_waiter *w;

	if (!task || !is_nfs(task))
		return 0;
	rqst = task->tk_rqstp;
	if (!rqst)
		return 0;
	w = waiter_find((__u64)task);
	if (w && w->booked)
		call_record(task, rqst, w, w->total, w->status);
	else if (!task->tk_action)
		call_record(task, rqst, w,
			    bpf_ktime_get_ns() - task->tk_start,
			    task->tk_status);
	return 0;
}

SEC("tp_btf/xprt_release_xprt")
int BPF_PROG(xprt_release_xprt, const struct rpc_xprt *xprt,
	     const struct rpc_task *task)
{
	return release(task);
}

/* The same, of a transport with congestion control: UDP, RDMA. */
SEC("tp_btf/xprt_release_cong")
int BPF_PROG(xprt_release_cong, const struct rpc_xprt *xprt,
	     const struct rpc_task *task)
{
	return release(task);
}

/* ---- transports ---- */

SEC("tp_btf/xprt_disconnect_done")
int BPF_PROG(xprt_disconnect_done, const struct rpc_xprt *xprt)
{
	struct rpc_transport *t = transport_of(xprt);

	if (t)
		add(&t->disconnects, 1);
	return 0;
}

SEC("tp_btf/xprt_destroy")
int BPF_PROG(xprt_destroy, const struct rpc_xprt *xprt)
{
	struct rpc_transport *t;
	__u64 key = (__u64)xprt;

	if (!xprt)
		return 0;
	t = transport_of(xprt);
	bpf_map_delete_elem(&xprts, &key);
	if (!t)
		return 0;
	add(&t->connects, xprt->stat.connect_count);
	for (int i = 0; i < RPC_LIMITS; i++)
		t->saturated_since[i] = 0;
	t->xprt = 0;
	return 0;
}

/* tk_start of the first request in @root with an xid of at least @from, or 0.
 * The tree changes under us: every read may fail or tell nonsense, so the walk
 * is bounded and its find is checked. */
static __always_inline __u64 oldest_from(__u64 xprt, struct rb_root *root,
					 __u32 from)
{
	struct rb_node *node = BPF_CORE_READ(root, rb_node);
	struct rpc_rqst *rqst, *best = NULL;

	for (int depth = 0; depth < 40 && node; depth++) {
		rqst = (void *)node -
		       bpf_core_field_offset(struct rpc_rqst, rq_recv);
		if (BPF_CORE_READ(rqst, rq_xid) >= from) {
			best = rqst;
			node = BPF_CORE_READ(node, rb_left);
		} else {
			node = BPF_CORE_READ(node, rb_right);
		}
	}
	if (!best || (__u64)BPF_CORE_READ(best, rq_xprt) != xprt)
		return 0;
	return BPF_CORE_READ(best, rq_task, tk_start);
}

static __always_inline __u32 qlen_read(struct rpc_wait_queue *q)
{
	__u32 qlen = 0;

	bpf_probe_read_kernel(&qlen,
			      bpf_core_field_size(struct rpc_wait_queue, qlen),
			      (void *)q + bpf_core_field_offset(
						  struct rpc_wait_queue, qlen));
	return qlen;
}

/* Run by user space, with an rpc_xprt's address: a look at what no event tells,
 * above all at the calls of a server that has stopped answering. Requests are
 * numbered by xid as they come, so the lowest one in flight is the oldest;
 * after xprt->xid has wrapped, those at or above it are older still. */
SEC("raw_tp")
int rpc_probe(__u64 *ctx)
{
	struct rpc_xprt *xprt = (void *)ctx[0];
	struct rpc_probe *p = &rpc_probe_result;
	struct rb_root *root;
	__u32 next;

	p->connects = BPF_CORE_READ(xprt, stat.connect_count);
	p->max_slots = BPF_CORE_READ(xprt, max_reqs);
	p->slots = BPF_CORE_READ(xprt, num_reqs);
	p->pending = qlen_read(&xprt->pending);
	p->queued[RPC_LIMIT_SLOT] = qlen_read(&xprt->backlog);
	p->queued[RPC_LIMIT_SEND] = qlen_read(&xprt->sending);
	next = BPF_CORE_READ(xprt, xid);
	root = &xprt->recv_queue;
	p->oldest_start = oldest_from(ctx[0], root, next) ?:
			  oldest_from(ctx[0], root, 0);
	return 0;
}
