/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tasks that have waited: for what, and how long. With rpc_record_at_release also those whose call has ended.
 * Their keys are their addresses. */
#pragma once

#include "rpc_tables.bpf.h"

/* How many waiters there are, or more for a moment. Alone in its cache line. With rpc_record_at_release every call is a waiter, and
 * all CPUs would write it: it is 1 from the start, set by user space, and does not count. */
struct {
	__u64 count;
	__u64 pad[7];
} rpc_waiters_in_use __attribute__((aligned(64))) = {};

static __always_inline void tasks_count(__u64 change)
{
	if (!rpc_record_at_release)
		counter_add(&rpc_waiters_in_use.count, change);
}

/* Fibonacci hashing (Knuth, 6.4). The lowest bits are left out: tasks are in slabs, and differ little there. */
static __always_inline __u32 task_bucket_of(__u64 task)
{
	return ((__u32)number_of((void *)task) >> 5) * 0x9e3779b1u >> 20;
}

_Static_assert(RPC_TASK_BUCKETS == 1 << (32 - 20), "task_bucket_of");

static __always_inline bool task_claim(__u64 *way, __u64 task)
{
	__u64 before = __sync_val_compare_and_swap(way, 0, task);

	barrier_var(before); /* otherwise the comparison takes five instructions */
	return !before;
}

/* Frees the way of @task, unless another CPU has done so. */
static __always_inline void task_release(__u64 *way, __u64 task)
{
	if (__sync_val_compare_and_swap(way, task, 0) == task)
		tasks_count(-1);
}

#define TASK_ENTRY struct rpc_waiter
#include "tasks.bpf.h"

/* Where @task is, if it has waited. Usually nobody waits: that costs four instructions. */
static __always_inline struct task_place waiter_find(const struct rpc_task *task)
{
	return *(volatile __u64 *)&rpc_waiters_in_use.count ? task_find((__u64)task) :
							      (struct task_place){};
}

/* @task's entry, an existing or a new one; NULL if the bucket is full. Resets that of an earlier task in the same memory. */
static __always_inline struct rpc_waiter *waiter_get(const struct rpc_task *task)
{
	bool found;
	struct rpc_waiter *w = task_find_or_add((__u64)task, &found);
	__u64 start;

	if (!w) {
		drop(RPC_DROP_WAITER);
		return NULL;
	}
	start = FIELD(task, tk_start);
	if (!found || w->start != start) {
		w->start = start;
		w->waits = (struct rpc_waits){};
	}
	return w;
}
