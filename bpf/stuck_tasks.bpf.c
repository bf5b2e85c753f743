// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which tasks are in uninterruptible or killable sleep, for how long, and in which functions: an iterator over all tasks,
 * whose text user/nfs/stuck_tasks.c reads. From 5.9 on.
 *
 * Any user can have thousands of tasks in such sleep, by vfork(). They must cost little and hide no task that hangs in NFS,
 * and only user space knows whether a stack is the NFS client's, by the names of its functions. Therefore the text is read in
 * parts. After each part user space writes the hashes of stacks that are not the client's into other_stacks, and tasks with
 * such a stack are left out of the rest: of 10,000 vfork()s about 30 are printed. Tasks in the client for which user space
 * has no room are counted.
 *
 * A task that waits for a call of its own does not sleep all the time: it wakes at each timeout, and every 3 s while connecting
 * fails. The kernel does not show since when a task is in its system call. Therefore each look notes the registers and the
 * stack of each task, and how often it had slept: if the next look finds both unchanged, and few sleeps since, it may be the
 * same call. Only user space, which knows the calls' ages, can be sure of it. */
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
/* Of the last look, by the lower bits of the task's number. */
struct stuck_call calls[STUCK_CALLS] = {};

/* From 5.15 (dd6e10fbd9fb). */
enum bpf_func_id___regs { BPF_FUNC_task_pt_regs___regs = 175 };

static __always_inline struct pt_regs *registers_of(struct task_struct___sleeping *task)
{
	if (!bpf_core_enum_value_exists(enum bpf_func_id___regs, BPF_FUNC_task_pt_regs___regs))
		return NULL;
	return (void *)bpf_task_pt_regs((void *)task);
}

/* The device of the NFS whose file is the first argument of the task's system call; 0: none. Of other file systems a user may
 * have thousands, each of which would make another hash of one stack. */
static __always_inline __u32 device_of(struct task_struct___sleeping *task, struct pt_regs *regs)
{
	__s64 call = CALL_NUMBER(regs);
	__u64 number = ARGUMENT_1(regs);
	const struct super_block *super;
	struct file *file = NULL;
	struct fdtable *table;

	table = BPF_CORE_READ(task, files, fdt);
	if (call < 0 || IS_AMBIGUOUS(call) || !table || number >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + number);
	super = file ? BPF_CORE_READ(file, f_inode, i_sb) : NULL;
	return super && BPF_CORE_READ(super, s_magic) == NFS_SUPER_MAGIC ?
		       BPF_CORE_READ(super, s_dev) :
		       0;
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

/* Notes the system call @call of @task, which has slept for @asleep ns. If the last look found it in the same one, with few
 * sleeps since: returns the note of when the task was first found there. Otherwise NULL. */
static __always_inline struct stuck_call *same_call(const struct task_struct___sleeping *task,
						    __u64 call, __u64 switches, __u64 asleep)
{
	struct stuck_call *c = &calls[task->pid & (STUCK_CALLS - 1)];
	__u64 now = bpf_ktime_get_ns();

	if (c->call == call && (switches - c->switches) * STUCK_SWITCH_NS <= now - c->since)
		return c;
	c->call = call;
	c->switches = switches;
	c->since = now - asleep;
	return NULL;
}

/* A line of numbers, and one for each function of the stack. */
SEC("iter/task")
int stuck_tasks(struct bpf_iter__task *ctx)
{
	static const char line[] = "%d %d %llu %llu %llu %llu %llu %llu %llu\n";
	struct task_struct___sleeping *task = ctx->task;
	__u64 state, values[9] = {}, frames[STUCK_FRAMES] = {}, hash, call;
	struct seq_file *to = ctx->meta->seq;
	struct stuck_call *same;
	struct pt_regs *regs;

	if (!task)
		return 0;
	state = state_of(task);
	if (!(state & TASK_UNINTERRUPTIBLE) || state & TASK_NOLOAD)
		return 0;
	values[3] = task->nvcsw + task->nivcsw;
	values[4] = asleep_ns(task);
	regs = registers_of(task);
	hash = values[5] = regs ? device_of(task, regs) : 0;
	bpf_get_task_stack((void *)task, frames, sizeof(frames), 0);
	for (int i = 0; i < STUCK_FRAMES; i++)
		hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	if (other_stacks[hash & (STUCK_OTHERS - 1)] == hash)
		return 0;
	call = hash ^ task->start_boottime;
	if (regs)
		call ^= RETURN_TO(regs) ^ BPF_CORE_READ(regs, sp) << 16;
	same = same_call(task, call, values[3], values[4]);
	if (same) {
		values[7] = same->switches;
		values[8] = same->since;
	} else if (values[4] && values[4] < least_asleep_ns) {
		return 0;
	}
	if (full) {
		no_room++;
		return 0;
	}
	values[0] = task->pid;
	values[1] = task->tgid;
	values[2] = task->start_boottime;
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
