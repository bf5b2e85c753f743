// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which task each CPU runs, and the stack of a task that runs: see user/faults/spinners.c. And the control groups of tasks that
 * were killed: a task that oopses has ended before its report is read. */
#include "task.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "cgroup.bpf.h"
#include "spinning.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define OF_KERNEL 0x00200010 /* PF_KTHREAD; PF_IO_WORKER, which vhost and io_uring have */

struct spin_task spin_tasks[SPIN_CPUS] = {};
/* The stack of the task @spin_wanted, the innermost first. 0: no task, or it has left the kernel or ended. */
__u32 spin_wanted = 0;
__u64 spin_frames[SPIN_FRAMES] = {};
/* Of each CPU its struct rq; 0: not known, or there is no such CPU. */
__u64 spin_queues[SPIN_CPUS] = {};

/* Prints the functions of @spin_frames, and looks for the queues. Each CPU has tasks of the kernel that stay on it, and a task has a
 * pointer to its queue. The variable runqueues would be simpler, but has types only where the kernel was built with pahole 1.18
 * and all symbols. */
SEC("iter/task")
int look_at_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct___sleeping *task = ctx->task;
	struct rq *rq = task && bpf_core_field_exists(task->se.cfs_rq) ?
				BPF_CORE_READ(task, se.cfs_rq, rq) :
				NULL;
	__u32 cpu = rq ? BPF_CORE_READ(rq, cpu) : SPIN_CPUS;
	static const char line[] = "%pB\n";
	__u64 frame;

	if (cpu < SPIN_CPUS)
		spin_queues[cpu] = (__u64)rq;
	/* Behind the last task. */
	for (int i = 0; !task && i < SPIN_FRAMES && spin_frames[i]; i++) {
		frame = spin_frames[i];
		bpf_seq_printf(ctx->meta->seq, line, sizeof(line), &frame, sizeof(frame));
	}
	return 0;
}

/* Run by user space. */
SEC("raw_tp")
int running_tasks(void *ctx)
{
	for (__u32 cpu = 0; cpu < SPIN_CPUS; cpu++) {
		const struct rq *rq = (void *)spin_queues[cpu];
		struct task_struct___running *task;
		struct spin_task *s = &spin_tasks[cpu];

		if (!rq)
			continue;
		task = BPF_CORE_READ(rq, curr);
		s->pid = BPF_CORE_READ(task, pid);
		s->began = BPF_CORE_READ(task, start_boottime);
		s->outside = BPF_CORE_READ(task, utime);
		if (bpf_core_field_exists(task->ioac.syscr))
			s->outside +=
				BPF_CORE_READ(task, ioac.syscr) + BPF_CORE_READ(task, ioac.syscw);
		s->system_ns = BPF_CORE_READ(task, stime);
		s->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
		s->of_kernel = BPF_CORE_READ(task, flags) & OF_KERNEL;
	}
	return 0;
}

/* In the timer's interrupt of any CPU. */
SEC("raw_tp/hrtimer_expire_entry")
int running_stack(void *ctx)
{
	if ((__u32)bpf_get_current_pid_tgid() == spin_wanted && !spin_frames[0])
		bpf_get_stack(ctx, spin_frames, sizeof(spin_frames), 0);
	return 0;
}

SEC("raw_tp/sys_enter")
int makes_call(void *ctx)
{
	if ((__u32)bpf_get_current_pid_tgid() == spin_wanted)
		spin_wanted = 0;
	return 0;
}

struct dead_task dead_tasks[DEAD_TASKS] = {};
SEC("raw_tp/sched_process_exit")
int task_dies(__u64 *ctx)
{
	const struct task_struct___running *task = (void *)ctx[0];
	__u32 signal = BPF_CORE_READ(task, exit_code) & 0x7f, pid = BPF_CORE_READ(task, pid);
	const struct kernfs_node *node;
	struct dead_task *d = &dead_tasks[pid & (DEAD_TASKS - 1)];

	if (pid == spin_wanted)
		spin_wanted = 0;
	if (signal != 9 && signal != 11)
		return 0;
	d->pid = 0;
	node = BPF_CORE_READ(cgroup_of((void *)task), kn);
	for (int i = 0; i < DEAD_LEVELS; i++) {
		bpf_probe_read_kernel_str(d->groups[i], sizeof(d->groups[i]),
					  BPF_CORE_READ(node, name)); /* "" of the root, or NULL */
		node = kernfs_parent(node);
	}
	d->pid = (__s32)pid;
	return 0;
}
