// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which tasks are in uninterruptible or killable sleep, for how long, and in which functions: an iterator over all tasks,
 * whose text user/nfs/stuck_tasks.c reads. From 5.9 on.
 *
 * Any user can have thousands of tasks in such sleep, by vfork(). They must cost little and hide no task that hangs in NFS,
 * and only user space knows whether a stack is the NFS client's, by the names of its functions. Therefore the text is read in
 * parts. After each part user space writes the hashes of stacks that are not the client's into other_stacks, and tasks with
 * such a stack are left out of the rest: of 10,000 vfork()s about 30 are printed. Tasks in the client for which user space
 * has no room are counted. */
#include "task.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "stuck.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before each look: tasks that sleep for less are left out. */
__u64 least_asleep_ns = 0;
/* Set during a look; by the lower bits of the hash. */
volatile __u64 other_stacks[STUCK_OTHERS] = {};
volatile bool full = false;
__u64 no_room = 0;

/* The registers at the entry of a system call (arch/x86/include/asm/ptrace.h, arch/arm64/include/asm/ptrace.h): which
 * call, or negative, and its first argument. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di;
	long orig_ax;
};
#define ARGUMENT_1(regs) ((__s64)BPF_CORE_READ(regs, orig_ax) < 0 ? -1 : BPF_CORE_READ(regs, di))
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 orig_x0;
	__s32 syscallno;
};
#define ARGUMENT_1(regs) (BPF_CORE_READ(regs, syscallno) < 0 ? -1 : BPF_CORE_READ(regs, orig_x0))
#endif
#pragma clang attribute pop

/* From 5.15 (dd6e10fbd9fb). */
enum bpf_func_id___regs { BPF_FUNC_task_pt_regs___regs = 175 };

/* The device of the file system whose file is the first argument of the task's system call; 0: it has none. */
static __always_inline __u32 device_of(struct task_struct___sleeping *task)
{
	struct pt_regs *regs;
	struct file *file = NULL;
	struct fdtable *table;
	__u64 number;

	if (!bpf_core_enum_value_exists(enum bpf_func_id___regs, BPF_FUNC_task_pt_regs___regs))
		return 0;
	regs = (void *)bpf_task_pt_regs((void *)task);
	number = ARGUMENT_1(regs);
	table = BPF_CORE_READ(task, files, fdt);
	if (!table || number >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + number);
	return file ? BPF_CORE_READ(file, f_inode, i_sb, s_dev) : 0;
}

/* Nanoseconds since the task fell asleep, which is when it got its CPU for the last time and what it ran then; 0: not
 * known. By the scheduler's clock, whose present time is when the reader got its CPU. */
static __always_inline __u64 asleep_ns(const struct task_struct___sleeping *task)
{
	const struct task_struct___sleeping *reader = (void *)bpf_get_current_task();
	__u64 now, then;

	if (!bpf_core_field_exists(task->sched_info.last_arrival) ||
	    !bpf_core_field_exists(task->se.prev_sum_exec_runtime))
		return 0;
	now = BPF_CORE_READ(reader, sched_info.last_arrival);
	then = task->sched_info.last_arrival + task->se.sum_exec_runtime -
	       task->se.prev_sum_exec_runtime;
	return now > then ? now - then : 0;
}

static __always_inline __u64 state_of(struct task_struct___sleeping *task)
{
	return bpf_core_field_exists(task->__state) ? task->__state :
						      ((struct task_struct___state *)task)->state;
}

static __always_inline void print_stack(struct seq_file *to, const __u64 *frames)
{
	static const char line[] = " %pB\n";
	__u64 frame;

	for (int i = 0; i < STUCK_FRAMES && frames[i]; i++) {
		frame = frames[i];
		bpf_seq_printf(to, line, sizeof(line), &frame, sizeof(frame));
	}
}

/* A line of numbers, and one for each function of the stack. */
SEC("iter/task")
int stuck_tasks(struct bpf_iter__task *ctx)
{
	static const char line[] = "%d %d %llu %llu %llu %llu %llu\n";
	struct task_struct___sleeping *task = ctx->task;
	__u64 state, values[7], frames[STUCK_FRAMES] = {}, hash;
	struct seq_file *to = ctx->meta->seq;

	if (!task)
		return 0;
	state = state_of(task);
	if (!(state & TASK_UNINTERRUPTIBLE) || state & TASK_NOLOAD)
		return 0;
	values[4] = asleep_ns(task);
	if (values[4] && values[4] < least_asleep_ns)
		return 0;
	hash = values[5] = device_of(task);
	bpf_get_task_stack((void *)task, frames, sizeof(frames), 0);
	for (int i = 0; i < STUCK_FRAMES; i++)
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	if (other_stacks[hash & (STUCK_OTHERS - 1)] == hash)
		return 0;
	if (full) {
		no_room++;
		return 0;
	}
	values[0] = task->pid;
	values[1] = task->tgid;
	values[2] = task->start_boottime;
	values[3] = task->nvcsw + task->nivcsw;
	values[6] = hash;
	bpf_seq_printf(to, line, sizeof(line), values, sizeof(values));
	print_stack(to, frames);
	return 0;
}

/* From 5.10 on (eaa6bcb71ef6). */
enum bpf_func_id___per_cpu { BPF_FUNC_per_cpu_ptr___per_cpu = 153 };

extern const struct rq runqueues __ksym __weak;

/* Run by user space. Returns whether no task is in such sleep, by the kernel's count, which costs less than to look at all
 * tasks; 0 also if it cannot tell. */
SEC("raw_tp")
int nobody_sleeps(void *ctx)
{
	const struct rq *rq;
	__u32 sum = 0;

	if (!&runqueues ||
	    !bpf_core_enum_value_exists(enum bpf_func_id___per_cpu, BPF_FUNC_per_cpu_ptr___per_cpu))
		return 0;
	for (__u32 cpu = 0; cpu < STUCK_CPUS_MAX; cpu++) {
		rq = bpf_per_cpu_ptr(&runqueues, cpu);
		if (!rq)
			return !sum;
		sum += rq->nr_uninterruptible;
	}
	return 0;
}
