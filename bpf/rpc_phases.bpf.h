/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of a call, on plain numbers, and the tables for its results: the same for both BPF sources. It uses
 * no atomics that return a value, because kernels before 5.12 have none. */
#pragma once

#include "maps.bpf.h"
#include "rpc.h"

/* Set before loading: number of shards - 1; one less than a power of two. */
const volatile __u32 rpc_shard_mask = 0;

/* Number of the present interval; user space increments it. */
volatile __u32 rpc_epoch = 0;

/* rpc_attached: when all programs had been attached (CLOCK_MONOTONIC, ns; 0: not yet). rpc_age: time since then at the last
 * snapshot: a shorter call began after rpc_attached. */
volatile __u64 rpc_attached = 0;
volatile __u64 rpc_age = 0;

__u64 rpc_dropped[RPC_DROPS] = {};

/* Index: server * shards + shard; the last server is "other". */
BPF_MAPPED_ARRAY(server_stats, (RPC_MAX_SERVERS + 1) * RPC_MAX_SHARDS, struct rpc_server_stats);
BPF_HASH(errors, RPC_MAX_ERRORS, struct rpc_error_key, struct rpc_error_count);

/* Free numbers of servers and series. Source btf: used before, or lost when two CPUs took one at the same time. Source
 * tracepoints: all, as a counter would need an atomic add that returns the value. */
BPF_QUEUE(free_servers, RPC_MAX_SERVERS);
BPF_QUEUE(free_series, RPC_OP_SERIES);

static __always_inline void counter_add(__u64 *counter, __u64 n)
{
#ifdef __bpf__ /* the compiler's own form overwrites the register of @n */
	asm volatile("lock *(u64 *)%0 += %1" : "+m"(*counter) : "r"(n));
#else
	__sync_fetch_and_add(counter, n);
#endif
}

static __always_inline void drop(enum rpc_drop reason)
{
	counter_add(&rpc_dropped[reason], 1);
}

/* How many copies an entry has, and the one that this CPU writes. */
struct shard {
	__u32 count, mine;
};

static __always_inline struct shard shard(void)
{
	__u32 mask = rpc_shard_mask;

	return (struct shard){ mask + 1, bpf_get_smp_processor_id() & mask };
}

/* Index of this CPU's copy of entry @number. */
static __always_inline __u32 shard_index(__u32 number, struct shard shard)
{
	return number * shard.count + shard.mine;
}

/* The first eight bytes of a name as a (little-endian) number. */
#define NAME(s)                                                                              \
	((__u64)(__u8)(s)[0] | (__u64)(__u8)(s)[1] << 8 | (__u64)(__u8)(s)[2] << 16 |        \
	 (__u64)(__u8)(s)[3] << 24 | (__u64)(__u8)(s)[4] << 32 | (__u64)(__u8)(s)[5] << 40 | \
	 (__u64)(__u8)(s)[6] << 48 | (__u64)(__u8)(s)[7] << 56)

/* The queues of the NFS client, by the first bytes of their names: "ForeChannel
 * Slot table", "NFSv4.0 transport Slot table", "delayq". */
#define NAME_SESSION NAME("ForeChan")
#define NAME_SESSION_4_0 NAME("NFSv4.0 ")
#define IS_DELAY(name) (((name)&NAME("\xff\xff\xff\xff\xff\xff\xff")) == NAME("delayq\0"))
/* GSS's "RPCSEC_GSS upcall waitq": a task waits until user space has got credentials. */
#define NAME_UPCALL NAME("RPCSEC_G")
/* The port of a server, as a text, as rpc_server has it. NFSv3 asks for the port when it connects. */
static __always_inline __u64 port_of(const void *text)
{
	__u64 port = 0;

	bpf_probe_read_kernel_str(&port, sizeof(port), text);
	return port == NAME("2049\0\0\0\0") || port == NAME("0\0\0\0\0\0\0\0") ? 0 : port;
}

static __always_inline void peak_raise(struct rpc_peak *peak, __u32 epoch, __u32 depth)
{
	__u64 *last = &peak->value[epoch & 1], value = (__u64)epoch << 32 | depth;

	if (*last < value)
		*last = value;
}

static __always_inline void value_record(__u64 *buckets, __u64 *sum, __u64 v, __u32 shift,
					 __u32 overflow)
{
	__u32 i = histogram_index(v, shift, overflow);

	if (i <= overflow) /* for the verifier */
		counter_add(&buckets[i], 1);
	counter_add(sum, v);
}

static __always_inline void depth_record(struct rpc_server_stats *s, __u32 queue, __u64 depth)
{
	value_record(s->depth[queue], &s->depth_sum[queue], depth, DEPTH_SHIFT, DEPTH_OVERFLOW);
}

/* Records that a call of share @c has spent @ns in @phase. */
static __always_inline void phase_record(struct rpc_series *s, struct rpc_share_stats *c,
					 enum rpc_phase phase, __u64 ns)
{
	/* The verifier does not know what the table holds. */
	counter_add(&s->phase[phase][phase_index(ns) & (PHASE_BUCKETS - 1)], 1);
	counter_add(&s->phase_ns[phase], ns);
	/* User space computes a share's rtt: the rest of its calls' time. */
	if (phase != RPC_PHASE_RTT)
		counter_add(&c->sums.phase_ns[phase], ns);
}

static __noinline void error_record(__u32 index, int status, __u32 share)
{
	struct rpc_error_key key = { .series = index, .status = status };
	struct rpc_error_count first = {}, *known = bpf_map_lookup_elem(&errors, &key);

	if (!known) {
		first.order = bpf_ktime_get_ns();
		bpf_map_update_elem(&errors, &key, &first, BPF_NOEXIST);
		known = bpf_map_lookup_elem(&errors, &key);
	}
	if (!known) {
		drop(RPC_DROP_ERROR);
		return;
	}
	counter_add(&known->count, 1);
	known->share = share;
}

/* The task falls asleep for @wait, an enum rpc_phase. */
static __always_inline void waits_begin(struct rpc_waits *w, __u32 wait, __u64 now)
{
	w->since = now;
	w->last = wait;
	w->asleep = 1 + wait;
}

/* The task wakes. From its first transmit on, its waits are part of `resend`. */
static __always_inline void waits_end(struct rpc_waits *w, __u64 now)
{
	__u64 wait = w->last;

	barrier_var(wait); /* see waits_clip() */
	w->asleep = RPC_ASLEEP_NO;
	w->until = now;
	if (w->first || wait >= RPC_WAITS || now < w->since)
		return;
	w->wait_ns[wait] += now - w->since;
}

/* Subtracts the part of the last wait after @when: the task still slept while another one transmitted its request. */
static __always_inline void waits_clip(struct rpc_waits *w, __u64 when)
{
	__u64 over, begin = w->since > when ? w->since : when;
	__u64 last = w->last;

	barrier_var(last); /* the verifier must know the bound of the register that is used */
	if (w->until <= when || last >= RPC_WAITS || begin >= w->until)
		return; /* the last: a new wait has begun meanwhile */
	over = w->until - begin;
	if (over > w->wait_ns[last])
		over = w->wait_ns[last];
	w->wait_ns[last] -= over;
	w->until = when;
}

/* The task was transmitted at @when, and may be sent again. */
static __always_inline void waits_first_transmit(struct rpc_waits *w, __u64 when)
{
	w->first = when;
	waits_clip(w, when);
}

/* A call, in ns, as its source has it. */
struct call_times {
	__u32 kind; /* enum rpc_kind */
	__u32 server; /* source btf: number */
	__u64 total;
	__u64 before; /* up to the last transmit */
	__u64 rtt; /* from then up to the reply, or RPC_NO_REPLY */
	__u64 xtime; /* when the last transmit was (CLOCK_MONOTONIC); 0: there was none */
	__u64 late; /* by which @xtime may be too late */
	__u64 start; /* source btf: when its task began */
};

/* Without a reply, all time after the last transmit counts as rtt. */
#define RPC_NO_REPLY (~(__u64)0)

/* Records the waits @w of a call. Returns what they leave of @left, its time up to the last transmit: its setup. */
static __always_inline __u64 waits_record(struct rpc_series *s, struct rpc_share_stats *c,
					  const struct call_times *call, struct rpc_waits *w,
					  __u64 left)
{
	__u64 ns;

	if (w->first && w->first < call->xtime) {
		ns = call->xtime - w->first;
		if (ns > left)
			ns = left;
		left -= ns;
		phase_record(s, c, RPC_PHASE_RESEND, ns);
	} else if (!w->first && call->xtime) {
		waits_clip(w, call->xtime);
	}
#pragma unroll
	for (int p = 0; p < RPC_WAITS; p++) {
		ns = w->wait_ns[p];
		if (!ns)
			continue;
		if (ns > left) {
			if (ns - left > call->late)
				drop(RPC_DROP_CLIPPED);
			ns = left;
		}
		left -= ns;
		phase_record(s, c, p, ns);
		if (limit_of(p) < RPC_LIMITS)
			counter_add(&c->sums.wait_ns[call->kind & (RPC_KINDS - 1)], ns);
	}
	return left;
}

/* Records the phases of @call after its last transmit. Returns the time before it, of which waits_record() takes the waits; what
 * is left is its setup. Both sources divide calls into phases only here. */
static __always_inline __u64 reply_phases_record(struct rpc_series *s, struct rpc_share_stats *c,
						 const struct call_times *call)
{
	__u64 before = call->before < call->total ? call->before : call->total;
	__u64 after = call->total - before;
	__u64 rtt = call->rtt < after ? call->rtt : after;

	value_record(s->total, &s->total_ns, call->total, TIME_SHIFT, TIME_OVERFLOW);
	phase_record(s, c, RPC_PHASE_RTT, rtt);
	phase_record(s, c, RPC_PHASE_FINISH, after - rtt);
	return before;
}

/* A longer gap between two replies counts as this one, a second. Sums of its square then do not overflow. */
#define MAX_GAP (1u << 20)

/* A reply to a call of @server came at @when (CLOCK_MONOTONIC, ns). If the call had waited for a slot, counts the time since the
 * reply before. Calls are recorded later, perhaps in another order: a reply before the last one does not count. */
static __always_inline void gap_record(__u32 server, const struct rpc_waits *w, __u64 when)
{
	__u32 copy = server * (rpc_shard_mask + 1); /* the first */
	struct rpc_server_stats *s;
	__u64 last, gap;

	if (!w->wait_ns[RPC_PHASE_SLOT] && !w->wait_ns[RPC_PHASE_SESSION])
		return;
	s = bpf_map_lookup_elem(&server_stats, &copy);
	if (!s || s->replied >= when)
		return;
	last = s->replied;
	s->replied = when;
	if (!last)
		return;
	gap = (when - last) >> RPC_GAP_SHIFT;
	if (gap > MAX_GAP)
		gap = MAX_GAP;
	counter_add(&s->gaps.count, 1);
	counter_add(&s->gaps.sum, gap);
	counter_add(&s->gaps.squares, gap * gap);
}

/* Records how much of @setup was before the programs were attached: waits were not seen then. @start: when the call began. */
static __always_inline void earlier_record(__u32 server, __u64 start, __u64 setup)
{
	__u64 attached = rpc_attached, ns = attached > start ? attached - start : 0;
	__u32 copy = shard_index(server, shard());
	struct rpc_server_stats *s = bpf_map_lookup_elem(&server_stats, &copy);

	if (s)
		counter_add(&s->earlier_ns, attached && ns < setup ? ns : setup);
}

/* The begin that is assumed for a wait whose begin was not seen. */
static __always_inline __u64 unseen_since(__u64 now)
{
	return rpc_attached ?: now;
}
