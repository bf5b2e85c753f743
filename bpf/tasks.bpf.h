/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A table of tasks, which both BPF sources use: from a key, which is not 0 and belongs to one task while that lasts, to an
 * entry.
 *
 * A BPF hash map would cost some 300 instructions for each insertion and 250 for each deletion. This is a set-associative
 * table in two arrays instead: a task's key selects one bucket (a cache line of eight keys). A look-up that finds nothing
 * costs about forty instructions.
 *
 * sunrpc's locking makes the events of one task come one after the other: only the claiming of a way needs to be atomic.
 *
 * Define before including it: TASK_ENTRY, the type of an entry; and
 *   __u32 task_bucket_of(__u64 key): a bucket's number, of RPC_TASK_BUCKETS
 *   bool task_claim(__u64 *way, __u64 key): takes a way that was free; false if another CPU was faster
 *   void task_release(__u64 *way, __u64 key): frees it
 *   void tasks_count(__u64 change): 1 before a claim, -1 after a failed one */
#pragma once

#include "maps.bpf.h"
#include "rpc.h"

BPF_MAPPED_ARRAY(task_keys, RPC_TASK_BUCKETS, struct rpc_task_bucket);
BPF_MAPPED_ARRAY(tasks, RPC_MAX_TASKS, TASK_ENTRY);

/* Whether a bucket has no key, as most. That takes half of the instructions of a search. */
static __always_inline bool bucket_is_empty(const struct rpc_task_bucket *b)
{
	__u64 any = 0;

	for (int i = 0; i < RPC_TASK_WAYS; i++)
		any |= *(const volatile __u64 *)&b->task[i];
	return !any;
}

/* The way of @key in its bucket, or -1. */
static __always_inline int task_way(const struct rpc_task_bucket *b, __u64 key)
{
#pragma unroll
	for (int i = 0; i < RPC_TASK_WAYS; i++)
		if (b->task[i] == key)
			return i;
	return -1;
}

/* Where a task is; NULL: it is not in the table. */
struct task_place {
	TASK_ENTRY *entry;
	struct rpc_task_bucket *bucket; /* of its key */
};

static __always_inline struct task_place task_find(__u64 key)
{
	__u32 bucket = task_bucket_of(key), index;
	struct rpc_task_bucket *b = bpf_map_lookup_elem(&task_keys, &bucket);
	int i = b ? task_way(b, key) : -1;

	if (i < 0)
		return (struct task_place){};
	index = bucket * RPC_TASK_WAYS + i;
	return (struct task_place){ bpf_map_lookup_elem(&tasks, &index), b };
}

/* The task's entry; NULL if the bucket is full. *@found: whether it was there; a new entry still has the values of an
 * earlier task. */
static __always_inline TASK_ENTRY *task_find_or_add(__u64 key, bool *found)
{
	__u32 bucket = task_bucket_of(key), index;
	struct rpc_task_bucket *b = bpf_map_lookup_elem(&task_keys, &bucket);
	int i;

	*found = true;
	if (!b)
		return NULL;
	i = bucket_is_empty(b) ? -1 : task_way(b, key);
	if (i < 0) {
		*found = false;
		tasks_count(1);
		for (i = 0; i < RPC_TASK_WAYS; i++)
			if (!b->task[i] && task_claim(&b->task[i], key))
				break;
		if (i == RPC_TASK_WAYS) {
			tasks_count(-1);
			return NULL;
		}
	}
	index = bucket * RPC_TASK_WAYS + i;
	return bpf_map_lookup_elem(&tasks, &index);
}

/* Removes the task, if it is in the table. Its way is searched again: for the verifier a pointer to each way would be a state. */
static __always_inline void task_drop(struct task_place place, __u64 key)
{
	int i = place.bucket ? task_way(place.bucket, key) : -1;

	if (i >= 0)
		task_release(&place.bucket->task[i], key);
}
