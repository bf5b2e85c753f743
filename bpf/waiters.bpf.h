/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of tasks that have waited: for what, and how long. With
 * rpc_record_at_release it also holds those whose call has ended.
 *
 * A BPF hash map would cost some 300 instructions for each insertion and 250 for each
 * deletion. This is a set-associative table in two arrays instead: a task's address
 * selects one bucket (a cache line of eight addresses). A look-up that finds nothing
 * costs about forty instructions, or four if the table is empty, the usual case.
 *
 * sunrpc's locking makes the events of one task come one after the other, so only the
 * claiming of a way needs to be atomic.
 */
#ifndef XIDSCOPE_WAITERS_BPF_H
#define XIDSCOPE_WAITERS_BPF_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "rpc.h"
#include "rpc_phases.bpf.h"
#include "rpc_tables.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* user space scans it in place */
	__uint(max_entries, RPC_WAITER_BUCKETS);
	__type(key, __u32);
	__type(value, struct rpc_waiter_bucket);
} waiter_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RPC_MAX_WAITERS);
	__type(key, __u32);
	__type(value, struct rpc_waiter);
} waiters SEC(".maps");

/* How many waiters there are, or more for a moment. Alone in its cache line. Not counted
 * with rpc_record_at_release: every call is a waiter then, and all CPUs would write it. */
struct {
	__u64 count;
	__u64 pad[7];
} rpc_waiters_in_use __attribute__((aligned(64))) = {};

static __always_inline void waiters_count(__u64 change)
{
	if (!rpc_record_at_release)
		add(&rpc_waiters_in_use.count, change);
}

static __always_inline bool waiters_none(void)
{
	return !rpc_record_at_release && !*(volatile __u64 *)&rpc_waiters_in_use.count;
}

/* Fibonacci hashing (Knuth, 6.4). The lowest bits are left out: tasks are in slabs, so
 * they differ little. */
static __always_inline __u32 waiter_bucket_of(__u64 task)
{
	return ((__u32)number_of((void *)task) >> 5) * 0x9e3779b1u >> 20;
}

_Static_assert(RPC_WAITER_BUCKETS == 1 << (32 - 20), "waiter_bucket_of");

/* The way of @task in its bucket, or -1. */
static __always_inline int waiter_way(const struct rpc_waiter_bucket *b, __u64 task)
{
#pragma unroll
	for (int i = 0; i < RPC_BUCKET_TASKS; i++)
		if (b->task[i] == task)
			return i;
	return -1;
}

/* @task's entry, or NULL if it has not waited. */
static __always_inline struct rpc_waiter *waiter_find(__u64 task)
{
	struct rpc_waiter_bucket *b;
	__u32 bucket, index;
	int i;

	if (waiters_none())
		return NULL;
	bucket = waiter_bucket_of(task);
	b = bpf_map_lookup_elem(&waiter_tasks, &bucket);
	if (!b)
		return NULL;
	i = waiter_way(b, task);
	if (i < 0)
		return NULL;
	index = bucket * RPC_BUCKET_TASKS + i;
	return bpf_map_lookup_elem(&waiters, &index);
}

/* @task's entry, an existing or a new one; NULL if the bucket is full. Resets an entry of
 * an earlier task in the same memory. */
static __always_inline struct rpc_waiter *waiter_get(__u64 task, __u64 start)
{
	__u32 bucket = waiter_bucket_of(task);
	struct rpc_waiter_bucket *b;
	struct rpc_waiter *w;
	bool found = true;
	__u32 index;
	int i;

	b = bpf_map_lookup_elem(&waiter_tasks, &bucket);
	if (!b)
		return NULL;
	i = waiter_way(b, task);
	if (i < 0) {
		found = false;
		waiters_count(1);
		for (i = 0; i < RPC_BUCKET_TASKS; i++)
			if (!b->task[i] && !__sync_val_compare_and_swap(&b->task[i], 0, task))
				break;
		if (i == RPC_BUCKET_TASKS) {
			waiters_count(-1);
			return NULL;
		}
	}
	index = bucket * RPC_BUCKET_TASKS + i;
	w = bpf_map_lookup_elem(&waiters, &index);
	if (w && (!found || w->start != start)) {
		w->start = start;
		waits_reset(&w->waits);
	}
	return w;
}

/* Frees the way of @task, unless another CPU has done so. */
static __always_inline void waiter_leave(__u64 *way, __u64 task)
{
	if (__sync_val_compare_and_swap(way, task, 0) == task)
		waiters_count(-1);
}

/* Removes @task, if it is in the table. */
static __always_inline void waiter_drop(__u64 task)
{
	__u32 bucket = waiter_bucket_of(task);
	struct rpc_waiter_bucket *b;
	int i;

	b = bpf_map_lookup_elem(&waiter_tasks, &bucket);
	if (!b)
		return;
	i = waiter_way(b, task);
	if (i >= 0)
		waiter_leave(&b->task[i], task);
}

#endif
