/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The owner of a call: the control group of the process that made its task.
 *
 * A call may end in a kernel thread, therefore the current process is not always its owner. The task has the number of the
 * process that made it (tk_owner). Finding the process and its control group takes many reads of kernel memory, and
 * rpc_owner_cell caches the result: the lower bits of the number select a cell, and the last process to take it keeps it.
 * An exit, or a move to another control group, ends the cell.
 *
 * Numbers are reused, and calls outlive their process: readahead of a killed job ends when the server answers.
 * A call belongs to the process that lived when the call began. Therefore a cell has the times when its process began and
 * ended, and a process that is found must have begun before the call. An exit keeps the cell, for the calls in flight.
 *
 * A kernel thread that writes back dirty pages makes tasks for others. The owner is then the memory cgroup that was charged
 * for the first page, if the types of sunrpc and nfs are known.
 *
 * An owner has a number below RPC_MAX_OWNERS, and owner_index leads from a control group to it. If no number is free, the
 * calls count for owner 0, and the drop is counted: the sum over owners stays the server's. user/owners/shares.c frees
 * numbers, and explains why that takes two readings.
 *
 * Invariant: nothing here trusts what it reads. A process, a page or a cgroup may be freed and its memory reused at any
 * time, therefore each object is checked by a value that leads back: a process by its number, a cgroup by kn->priv.
 *
 * Example: process 1234 in /system.slice/slurmstepd.scope/job_4711/step_0 calls. Its cell is 1234 & 4095. On the first call
 * the cell is empty: owner_find() reads its cgroup and owner_make() takes number 17. Later calls read (1234 << 32 | 17). The
 * process ends at 100 s. A new process 1234 begins at 101 s: its calls begin after the cell's end, and owner_find() looks
 * again. A call of the old one that ends at 102 s began before 101 s: it is the kernel's, for job 4711 no longer has the cell.
 *
 * Kernels before 5.12 have no atomics that return a value: of two CPUs that make the same owner, the second finds the entry
 * and gives its number back. */
#pragma once

#include "cgroup.bpf.h"
#include "rpc_phases.bpf.h"
#include "rpc_read.bpf.h"

#define PF_KTHREAD 0x00200000
#define PF_EXITING 0x00000004

/* Set before loading. */
const volatile bool rpc_owners = false;

/* By the lower bits of the process number. */
volatile struct rpc_owner_cell rpc_owner_cell[RPC_OWNER_CELLS] = {};

/* Offsets in bytes, which user space sets at any time, because nfs has types of its own: from a struct nfs_pgio_header to
 * its task and to its first request, and from the request to its page. All 0: unknown. */
volatile __u64 rpc_nfs_write[3] = {};

BPF_STACK(free_owners, RPC_MAX_OWNERS);
BPF_HASH(owner_index, RPC_MAX_OWNERS, struct rpc_owner_key, __u32);
BPF_MAPPED_ARRAY(owners, RPC_MAX_OWNERS, struct rpc_owner);

/* ---- a control group ---- */

/* Makes a new owner, the group of @node. Returns its number, or 0. */
static __always_inline __u32 owner_make(const struct kernfs_node *node,
					const struct rpc_owner_key *key)
{
	const struct kernfs_node *parent;
	struct rpc_owner *owner;
	__u32 index, *known;

	if (bpf_map_pop_elem(&free_owners, &index)) {
		drop(RPC_DROP_OWNER);
		return 0;
	}
	owner = bpf_map_lookup_elem(&owners, &index);
	if (!owner)
		return 0;
	for (int i = 0; i < RPC_OWNER_LEVELS; i++) {
		parent = node ? kernfs_parent(node) : NULL;
		owner->path[i][0] = 0;
		if (parent)
			bpf_probe_read_kernel_str(owner->path[i], RPC_OWNER_NAME,
						  BPF_CORE_READ(node, name));
		node = parent;
	}
	owner->key = *key;
	if (!bpf_map_update_elem(&owner_index, key, &index, BPF_NOEXIST))
		return index;
	/* Another CPU was faster. */
	owner->key.root = 0;
	bpf_map_push_elem(&free_owners, &index, BPF_ANY);
	known = bpf_map_lookup_elem(&owner_index, key);
	return known ? *known : 0;
}

/* The first bytes of a group's name, at most 8. */
static __always_inline __u64 name_begin(const struct kernfs_node *node, __u32 bytes)
{
	__u64 name = 0;

	bpf_probe_read_kernel(&name, bytes, BPF_CORE_READ(node, name));
	return name;
}

/* The ancestor of the group @node_at, which is at @level, that is at RPC_OWNER_LEVELS at most. A global function, as the rest would be
 * verified for each number of steps. */
__noinline __u64 shown_ancestor(__u64 node_at, int level)
{
	const struct kernfs_node *node = (void *)node_at;

	for (int i = 0; HAS(kernfs_node, id) && i < 32 && level > RPC_OWNER_LEVELS; i++, level--)
		node = kernfs_parent(node);
	return (__u64)node;
}

/* The owner of a control group; 0: none, or a root. One owner has all groups of a Slurm job (one for each step and task), or
 * of a user below user.slice. */
static __always_inline __u32 owner_of_cgroup(const struct cgroup *cgroup)
{
	const struct kernfs_node *node = BPF_CORE_READ(cgroup, kn), *at, *second, *top = NULL;
	int level = BPF_CORE_READ(cgroup, level);
	struct rpc_owner_key key = {};
	__u64 differs;
	__u32 *known;

	if (level <= 0 || level > RPC_OWNER_LEVELS + 32)
		return 0;
	if (level > RPC_OWNER_LEVELS) {
		node = (void *)shown_ancestor((__u64)node, level);
		level = RPC_OWNER_LEVELS;
	}
	at = second = node;
	for (int i = 0; i < RPC_OWNER_LEVELS && level > 0; i++, level--) {
		if (level == 2)
			second = at;
		top = at;
		at = kernfs_parent(at);
		if (i > 2) /* a task's group is job_N/step_N/user/task_N, or without "user" */
			continue;
		/* Without a branch, which would double what the verifier follows. */
		differs = (name_begin(top, 5) ^ NAME("step_\0\0\0")) | (level < 2);
		differs = (differs | -differs) >> 63; /* 0 or 1 */
		barrier_var(differs);
		node = (void *)((__u64)node * differs + (__u64)at * (1 - differs));
	}
	if (name_begin(top, 8) == NAME("user.sli"))
		node = second;
	key.root = (__u64)at;
	key.id = BPF_CORE_READ(node, id);
	if (!key.root || !key.id)
		return 0;
	known = bpf_map_lookup_elem(&owner_index, &key);
	return known ? *known : owner_make(node, &key);
}

/* ---- a process ---- */

/* The process with this number in the first pid namespace, or NULL. */
static __always_inline const struct task_struct *process_of(__u32 tgid)
{
	const struct task_struct *self = (void *)bpf_get_current_task(), *process;
	const __u64 slots = bpf_core_field_size(struct xa_node, slots) / sizeof(void *);
	const struct pid_namespace *ns;
	const struct hlist_node *link;
	const struct xa_node *node;
	__u64 entry, slot = 0;

	if ((__u32)BPF_CORE_READ(self, tgid) == tgid)
		return self;
	ns = BPF_CORE_READ(self, thread_pid, numbers[0].ns);
	entry = (__u64)BPF_CORE_READ(ns, idr.idr_rt.xa_head);
	for (int i = 0; i < 6 && (entry & 3) == 2; i++) {
		node = (void *)(entry - 2);
		slot = tgid >> (BPF_CORE_READ(node, shift) & 31) & (slots - 1);
		entry = 0;
		bpf_core_read(&entry, sizeof(entry), &node->slots[0] + slot);
	}
	link = BPF_CORE_READ((const struct pid *)entry, tasks[0].first);
	if (!link)
		return NULL;
	process = (void *)link - bpf_core_field_offset(struct task_struct, pid_links);
	return (__u32)BPF_CORE_READ(process, tgid) == tgid ? process : NULL;
}

static __always_inline volatile struct rpc_owner_cell *cell_of(__u32 tgid)
{
	return &rpc_owner_cell[tgid & (RPC_OWNER_CELLS - 1)];
}

/* Finds the owner of a process that called at @start, and whose cell is empty, or was taken by another process. */
__noinline __u32 owner_find(__u32 tgid, __u64 start)
{
	volatile struct rpc_owner_cell *cell = cell_of(tgid);
	const struct task_struct *process;
	__u32 owner = 0, flags;
	__u64 began;

	if (!HAS(task_struct, thread_pid) || !HAS(xa_node, slots) || !HAS(kernfs_node, id))
		return 0;
	process = process_of(tgid);
	/* This may be one of its threads. */
	began = process ? BPF_CORE_READ(process, group_leader, start_time) : 0;
	if (!process || began > start) {
		drop(RPC_DROP_OWNER_GONE);
		return 0;
	}
	flags = BPF_CORE_READ(process, flags);
	if (!(flags & PF_KTHREAD))
		owner = owner_of_cgroup(cgroup_of(process));
	cell->process = 0;
	cell->began = began;
	/* It may have passed owner_exits() already. */
	cell->life = flags & PF_EXITING ? bpf_ktime_get_ns() - began : RPC_OWNER_LIVES;
	cell->process = (__u64)tgid << 32 | owner;
	return owner;
}

/* The owner, below RPC_MAX_OWNERS, of the process that called at @start. */
#define OWNER_NOW (RPC_OWNER_LIVES >> 1) /* the process itself asks */
static __always_inline __u32 owner_of(__u32 tgid, __u64 start)
{
	const volatile struct rpc_owner_cell *cell = cell_of(tgid);
	__u64 process = cell->process;

	if (process >> 32 != tgid || start - cell->began > cell->life)
		process = owner_find(tgid, start);
	return process & (RPC_MAX_OWNERS - 1);
}

/* ---- pages that are written back ---- */

/* The control group of the memory cgroup at this address; NULL: there is none. */
static __always_inline const struct cgroup *group_of_memory(__u64 address)
{
	const struct cgroup *cgroup = BPF_CORE_READ((const struct mem_cgroup *)address, css.cgroup);

	return cgroup && BPF_CORE_READ(cgroup, kn, priv) == cgroup ? cgroup : NULL;
}

/* The group that was charged for a page. Newer kernels store an obj_cgroup there, as older ones do for slabs. */
static __always_inline const struct cgroup *group_of_page(const struct page *page)
{
	const struct cgroup *cgroup;
	__u64 head = 0, memory = 0;

	if (HAS(page, compound_head))
		head = BPF_CORE_READ(page, compound_head);
	if (head & 1)
		page = (void *)(head - 1);
	if (HAS(folio, memcg_data))
		memory = BPF_CORE_READ((const struct folio *)page, memcg_data) & ~7ull;
	else if (HAS(page, memcg_data))
		memory = BPF_CORE_READ(page, memcg_data) & ~7ull;
	else if (HAS(page, mem_cgroup))
		memory = (__u64)BPF_CORE_READ(page, mem_cgroup);
	cgroup = group_of_memory(memory);
	if (!cgroup && HAS(obj_cgroup, memcg))
		cgroup = group_of_memory(
			(__u64)BPF_CORE_READ((const struct obj_cgroup *)memory, memcg));
	return cgroup;
}

/* The owner of a WRITE's pages, which a kernel thread writes; @data: its tk_calldata. */
__noinline __u32 owner_of_pages(__u64 task, __u64 data)
{
	__u64 request = 0, page = 0;
	const struct cgroup *cgroup;

	if (!rpc_nfs_write[1] || task - data != rpc_nfs_write[0] || !HAS(mem_cgroup, css))
		return 0;
	bpf_probe_read_kernel(&request, sizeof(request), (void *)(data + rpc_nfs_write[1]));
	bpf_probe_read_kernel(&page, sizeof(page), (void *)(request + rpc_nfs_write[2]));
	cgroup = page ? group_of_page((void *)page) : NULL;
	return cgroup ? owner_of_cgroup(cgroup) : 0;
}

/* A process ends or enters another control group: calls that began before keep its owner. If only a thread ends, the next call
 * finds the process again. */
static __always_inline int owner_ends(const struct task_struct *process)
{
	__u32 tgid = BPF_CORE_READ(process, tgid);
	volatile struct rpc_owner_cell *cell = cell_of(tgid);

	if (cell->process >> 32 == tgid && cell->life == RPC_OWNER_LIVES)
		cell->life = bpf_ktime_get_ns() - cell->began;
	return 0;
}

SEC("raw_tp/sched_process_exit")
int owner_exits(__u64 *ctx)
{
	return owner_ends((void *)ctx[0]);
}

SEC("raw_tp/cgroup_attach_task")
int owner_moves(__u64 *ctx)
{
	return owner_ends((void *)ctx[2]);
}
