// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sunrpc's client: where each NFS call spends its time, and which limit it waits for.
 *
 * A call counts once, when the kernel books it for mountstats (rpc_stats_latency). Its phases are differences of the
 * kernel's own time stamps, except the waits, which are measured from sleep to wake-up. `setup` is the time that is
 * left: the phases always add up to the total. A call that does not wait needs no look-up per task. */
#include "rpc_record.bpf.h"
#include "rpc_probe.bpf.h"
#include "rpc_find.bpf.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* ---- waits ---- */

/* The client of a task that is an NFS call, or NULL. */
static __always_inline const struct rpc_clnt *nfs_client(const struct rpc_task *task)
{
	const struct rpc_clnt *client = FIELD(task, tk_client);

	return client && FIELD(client, cl_prog) == RPC_NFS_PROGRAM ? client : NULL;
}

/* Eight bytes of the session, @at bytes behind its queue @q; 0: that is not known, and they are @none. */
static __always_inline __u64 session_word(const struct rpc_wait_queue *q, __s64 at, __u64 none)
{
	if (at)
		bpf_probe_read_kernel(&none, sizeof(none), (void *)(number_of(q) + at));
	return none;
}

/* Whether the state manager drains the session's slots: then tasks wait on the same queue although slots are free. */
static __always_inline bool session_draining(const struct rpc_wait_queue *q)
{
	return session_word(q, rpc_session_state_offset, 0) & 1; /* NFS4_SLOT_TBL_DRAINING */
}

/* What a task waits for on @q, which is not the pending queue; RPC_PHASE_SETUP: credentials; RPC_WAITS: nothing that
 * is measured. Finds the transport's queues by address, others by name. */
static __always_inline __u32 wait_of(const struct rpc_xprt *xprt, const struct rpc_wait_queue *q)
{
	__u64 name = 0, where;

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
	where = (__u64)FIELD(q, name);
	if (where && where == rpc_session_name)
		return RPC_PHASE_SESSION;
	bpf_probe_read_kernel(&name, sizeof(name), (void *)where);
	if (name == NAME_SESSION) {
		rpc_session_name = where;
		return RPC_PHASE_SESSION;
	}
	if (name == NAME_SESSION_4_0)
		return RPC_PHASE_SESSION;
	if (IS_DELAY(name))
		return RPC_PHASE_DELAY;
	if (name == NAME_UPCALL)
		return RPC_PHASE_SETUP;
	return RPC_WAITS;
}

/* All transports of a client share its session: its waits count for the first one. @xprt: the task's own, or NULL. */
static __always_inline const struct rpc_xprt *xprt_of_wait(const struct rpc_task *task,
							   const struct rpc_xprt *xprt, __u32 wait)
{
	const struct rpc_clnt *client;

	if (wait != RPC_PHASE_SESSION && xprt)
		return xprt;
	client = FIELD(task, tk_client);
	return client ? FIELD(client, cl_xprt) : NULL;
}

/* A period in which tasks waited ends. @period: an enum rpc_limit, or RPC_DRAINING. */
static __always_inline void period_end(struct rpc_transport *t, __u32 period, __u64 now)
{
	__u64 since;

	/* An atomic whose value is used is ordered: other CPUs see the period end before its time is added. A
	 * reader between the two finds too little, which the next read corrects, and never the same time twice. */
	since = __sync_lock_test_and_set(&t->saturated_since[period], 0);
	if (since && now > since)
		t->saturated_ns[period] += now - since;
}

/* A task joins a limit's queue of @qlen tasks. The kernel holds the queue's lock, so figures per queue need no atomics. */
static __always_inline void limit_enter(const struct rpc_xprt_ref *ref, __u32 limit, __u32 qlen,
					__u32 slots, __u64 now)
{
	__u32 index = shard_index(ref->server, shard());
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
	if (limit == RPC_LIMIT_SESSION && t->saturated_since[RPC_DRAINING])
		period_end(t, RPC_DRAINING, now);
	peak_raise(&t->peak[limit], rpc_epoch, qlen + 1);
	if (slots)
		t->session_slots = slots;
}

/* The last task leaves the queue. */
static __always_inline void limit_leave(const struct rpc_xprt *xprt, __u32 limit, __u64 now)
{
	struct rpc_transport *t = transport_of(xprt);

	if (!t || limit >= RPC_LIMITS)
		return;
	period_end(t, limit, now);
	if (t->saturated_since[RPC_DRAINING])
		period_end(t, RPC_DRAINING, now);
}

/* A task waits until the client has recovered its state. The period ends when the last task leaves the queue, or when a task
 * joins it after the recovery. */
static __always_inline int drain_enter(const struct rpc_xprt *xprt, __u64 now)
{
	struct rpc_transport *t = transport_get(xprt);

	if (t && !t->saturated_since[RPC_DRAINING])
		t->saturated_since[RPC_DRAINING] = now;
	return 0;
}

/* A wait for credentials ends. It is part of `setup` and also counted by itself. */
static __always_inline void credentials_end(const struct rpc_waiter *w, __u64 now)
{
	struct rpc_transport *t = transport_of((const struct rpc_xprt *)w->xprt);

	if (t && now > w->waits.since)
		counter_add(&t->credentials_ns, now - w->waits.since);
}

/* @task begins to wait. Returns its entry; NULL: there is no room. */
static __always_inline struct rpc_waiter *
waiter_begin(const struct rpc_task *task, const struct rpc_xprt *xprt, __u32 wait, __u64 now)
{
	struct rpc_waiter *w = waiter_get(task);

	if (!w)
		return NULL;
	w->xprt = (__u64)xprt;
	waits_begin(&w->waits, wait, now);
	return w;
}

/* Whether @q is the queue of the tasks that wait for a reply from @xprt, which may be NULL. */
#define IS_PENDING(q, xprt) \
	((__u64)xprt + bpf_core_field_offset(struct rpc_xprt, pending) == (__u64)q)

/* A task begins to wait on @q for @wait. @slots: those of the session that it waits for, or 0. */
static __always_inline int waits_on(const struct rpc_task *task, const struct rpc_xprt *xprt,
				    const struct rpc_wait_queue *q, __u32 wait, __u32 slots,
				    __u64 now)
{
	if (limit_of(wait) < RPC_LIMITS)
		limit_enter(xprt_get(xprt), limit_of(wait), FIELD(q, qlen), slots, now);
	waiter_begin(task, xprt, wait, now);
	return 0;
}

/* A task begins to wait on @q, for another thing than a reply, or its transport is not known. Rare ways are not inlined: a program
 * then saves no registers. */
static __noinline int sleeps_rarely(const struct rpc_task *task, const struct rpc_xprt *xprt,
				    const struct rpc_wait_queue *q)
{
	__u64 now = bpf_ktime_get_ns(); /* before all that takes time */
	__u32 wait, slots = 0;

	if (!nfs_client(task))
		return 0;
	if (q == &xprt->backlog) /* the constants save 40 instructions */
		return waits_on(task, xprt, q, RPC_PHASE_SLOT, 0, now);
	if (IS_PENDING(q, xprt)) {
		xprt_get(xprt); /* nobody may answer its first call: rpc_probe must find it */
		return 0;
	}
	wait = wait_of(xprt, q);
	if (wait == RPC_WAITS)
		return 0;
	xprt = xprt_of_wait(task, xprt, wait);
	if (!xprt)
		return 0;
	if (wait == RPC_PHASE_SESSION) {
		if (session_draining(q))
			return drain_enter(xprt, now);
		slots = (__u32)session_word(q, rpc_session_slots_offset, -1) + 1; /* .max_slotid */
	}
	return waits_on(task, xprt, q, wait, slots, now);
}

TRACEPOINT("rpc_task_sleep")
int BPF_PROG(rpc_task_sleep, const struct rpc_task *task, const struct rpc_wait_queue *q)
{
	const struct rpc_xprt *xprt;

	if (!task || !q)
		return 0;
	xprt = FIELD(task, tk_xprt);
	if (IS_PENDING(q, xprt) && xprt_cached(xprt)->xprt == (__u64)xprt)
		return 0;
	return sleeps_rarely(task, xprt, q);
}

/* Tasks that waited for a connection wake with @error. Those of connect(), as errno on x86 and arm64: EADDRNOTAVAIL, ENETDOWN,
 * ENETUNREACH; ECONNREFUSED, EHOSTDOWN, EHOSTUNREACH. */
static __always_inline void connect_failed(const struct rpc_xprt *xprt, int error)
{
	bool of_connect = (error >= 99 && error <= 101) || (error >= 111 && error <= 113);
	struct rpc_transport *t = of_connect ? transport_of(xprt) : NULL;

	if (!t)
		return;
	t->connect_error = error;
	t->connect_failed = bpf_ktime_get_ns();
}

/* A task that waited for a reply wakes with @error. If it was transmitted, its waits from now on may be part of `resend`. */
static __noinline int wakes_with(int error, const struct rpc_task *task,
				 const struct rpc_xprt *xprt)
{
	const struct rpc_rqst *rqst = FIELD(task, tk_rqstp);
	struct rpc_waiter *w;

	connect_failed(xprt, error);
	if (!rqst || !FIELD(rqst, rq_ntrans) || !nfs_client(task))
		return 0;
	/* If a server has hung since before the attach, only the timeouts of its calls show that it exists. */
	xprt_get(FIELD(rqst, rq_xprt));
	w = waiter_get(task);
	if (w && !w->waits.first)
		waits_first_transmit(&w->waits, FIELD(rqst, rq_xtime));
	return 0;
}

/* A task wakes that was not seen to fall asleep: it has slept since before the attach. Returns its entry, or NULL. */
static __always_inline struct rpc_waiter *slept_before(const struct rpc_task *task,
						       const struct rpc_xprt *xprt,
						       const struct rpc_wait_queue *q, __u64 now)
{
	__u64 since = unseen_since(now);
	struct rpc_transport *t;
	__u32 wait, limit;

	if ((__u64)FIELD(task, tk_start) >= since || !nfs_client(task))
		return NULL;
	wait = wait_of(xprt, q);
	if (wait == RPC_WAITS || (wait == RPC_PHASE_SESSION && session_draining(q)))
		return NULL;
	xprt = xprt_of_wait(task, xprt, wait);
	if (!xprt)
		return NULL;
	limit = limit_of(wait);
	if (limit < RPC_LIMITS) {
		/* Its queue has not been empty since then. */
		t = transport_get(xprt);
		if (t)
			t->saturated_since[limit] = since;
	}
	return waiter_begin(task, xprt, wait, since);
}

/* A task wakes that waited on @q, for another thing than a reply. */
static __noinline int wakes_elsewhere(const struct rpc_task *task, const struct rpc_xprt *xprt,
				      const struct rpc_wait_queue *q)
{
	__u64 now = bpf_ktime_get_ns(), start, since;
	struct rpc_waiter *w = waiter_find(task).entry ?: slept_before(task, xprt, q, now);
	__u32 wait;

	if (FIELD(q, qlen) == 1) {
		wait = wait_of(xprt, q);
		if (limit_of(wait) < RPC_LIMITS)
			limit_leave(xprt_of_wait(task, xprt, wait), limit_of(wait), now);
	}
	if (!w || !w->waits.asleep)
		return 0;
	start = FIELD(task, tk_start);
	if (w->start != start) {
		/* The task was restarted in its sleep (rpc_delay, then rpc_restart_call): the new attempt began within the wait. */
		since = w->waits.since;
		wait = w->waits.last;
		*w = (struct rpc_waiter){ .start = start, .xprt = w->xprt };
		waits_begin(&w->waits, wait, since < start ? start : since);
	}
	if (w->waits.last == RPC_PHASE_SETUP)
		credentials_end(w, now);
	waits_end(&w->waits, now);
	/* The task was killed before it had a request: it will not be booked. */
	if (FIELD(task, tk_rpc_status) && !FIELD(task, tk_rqstp))
		task_drop(task_find((__u64)task), (__u64)task);
	return 0;
}

TRACEPOINT("rpc_task_wakeup")
int BPF_PROG(rpc_task_wakeup, const struct rpc_task *task, const struct rpc_wait_queue *q)
{
	const struct rpc_xprt *xprt;

	if (!task || !q)
		return 0;
	xprt = FIELD(task, tk_xprt);
	if (!IS_PENDING(q, xprt))
		return wakes_elsewhere(task, xprt, q);
	return FIELD(task, tk_status) < 0 ? wakes_with(-FIELD(task, tk_status), task, xprt) : 0;
}

/* ---- the end of a call ---- */

/* Counts a call of @task to the lock manager of a server, by its name: the port is another than NFS'. A global function because
 * the verifier checks that once. */
__noinline int lock_call(__u64 address, __u64 total)
{
	const struct rpc_task *task = (void *)address;
	const struct rpc_clnt *client = BPF_CORE_READ(task, tk_client);
	struct rpc_server_stats *s;
	struct rpc_server server = {};
	__u32 *known, index;

	if (!client || BPF_CORE_READ(client, cl_prog) != RPC_NLM_PROGRAM)
		return 0;
	server_read(&server, BPF_CORE_READ(client, cl_xprt));
	server.port = 0;
	known = bpf_map_lookup_elem(&server_index, &server);
	index = shard_index(known ? *known : RPC_MAX_SERVERS, shard());
	s = bpf_map_lookup_elem(&server_stats, &index);
	if (!known || !s)
		return 0;
	counter_add(&s->lock_calls, 1);
	counter_add(&s->lock_ns, total);
	if (BPF_CORE_READ(task, tk_status) < 0)
		counter_add(&s->lock_errors, 1);
	return 0;
}

/* The kernel has booked the call of @task. */
static __always_inline int book(const struct rpc_task *task, ktime_t backlog, ktime_t rtt,
				ktime_t execute, bool again)
{
	struct call_times times = { .total = execute, .before = backlog, .rtt = rtt };
	const struct rpc_clnt *client = task ? nfs_client(task) : NULL;
	const struct rpc_rqst *rqst;
	struct rpc_waiter *w;

	if (!client)
		return again ? 0 : lock_call(number_of(task), times.total);
	rqst = FIELD(task, tk_rqstp);
	if (!rqst)
		return 0;
	if (!rpc_record_at_release) {
		/* The kernel also gives 0 for a call that was never transmitted. */
		if ((__s64)times.before <= 0)
			times.before = time_before(task, rqst, times.total);
		call_record(task, client, rqst, waiter_find(task), times, false);
		return 0;
	}
	w = waiter_get(task);
	if (!w || w->waits.booked)
		return 0;
	/* Clipped now: at its release the task may already sleep before its next
	 * attempt, and the wait to clip would no longer be the last one. */
	if (!w->waits.first && FIELD(rqst, rq_xtime))
		waits_clip(&w->waits, FIELD(rqst, rq_xtime));
	w->total = times.total;
	w->waits.status = FIELD(task, tk_status);
	w->waits.booked = 1;
	return 0;
}

TRACEPOINT("rpc_stats_latency")
int BPF_PROG(rpc_stats_latency, const struct rpc_task *task, ktime_t backlog, ktime_t rtt,
	     ktime_t execute)
{
	return book(task, backlog, rtt, execute, false);
}

/* Only with rpc_record_at_release: notes a call whose end the program above has missed, unless it misses it too. */
TRACEPOINT("rpc_stats_latency")
int BPF_PROG(rpc_stats_latency_again, const struct rpc_task *task, ktime_t backlog, ktime_t rtt,
	     ktime_t execute)
{
	return book(task, backlog, rtt, execute, true);
}

#include "slow_calls.bpf.h"

/* A task releases the write lock. The last time it also releases its request: only then its action is NULL. */
static __always_inline int release(const struct rpc_task *task)
{
	const struct rpc_clnt *client = task ? nfs_client(task) : NULL;
	const struct rpc_rqst *rqst = client ? FIELD(task, tk_rqstp) : NULL;
	struct task_place place = rqst ? waiter_find(task) : (struct task_place){};
	struct rpc_waiter *w = place.entry;
	bool booked = w && w->waits.booked;
	struct call_times times;

	if (!rqst || (!booked && FIELD(task, tk_action)))
		return 0;
	times.rtt = FIELD(rqst, rq_rtt);
	times.total = booked ? w->total : bpf_ktime_get_ns() - FIELD(task, tk_start);
	times.before = time_before(task, rqst, times.total);
	call_record(task, client, rqst, place, times, booked);
	return 0;
}

TRACEPOINT("xprt_release_xprt")
int BPF_PROG(xprt_release_xprt, const struct rpc_xprt *xprt, const struct rpc_task *task)
{
	return release(task);
}

/* The same for a transport with congestion control: UDP, RDMA. */
TRACEPOINT("xprt_release_cong")
int BPF_PROG(xprt_release_cong, const struct rpc_xprt *xprt, const struct rpc_task *task)
{
	return release(task);
}

TRACEPOINT("rpc_clnt_new")
int BPF_PROG(rpc_clnt_new, const struct rpc_clnt *client)
{
	if (client)
		client_begins(FIELD(client, cl_clid));
	return 0;
}

/* ---- transports ---- */

TRACEPOINT("xprt_disconnect_done")
int BPF_PROG(xprt_disconnect_done, const struct rpc_xprt *xprt)
{
	struct rpc_transport *t = transport_of(xprt);

	if (t)
		counter_add(&t->disconnects, 1);
	return 0;
}

TRACEPOINT("xprt_destroy")
int BPF_PROG(xprt_destroy, const struct rpc_xprt *xprt)
{
	struct rpc_transport *t;

	if (!xprt)
		return 0;
	t = transport_of(xprt);
	if (t)
		counter_add(&t->connects, FIELD(xprt, stat.connect_count));
	xprt_forget(xprt, t);
	return 0;
}
