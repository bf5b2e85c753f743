// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which task each CPU runs, and the stack of a task that runs: see user/faults/spinners.c. */
#include "task.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "spinning.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define OF_KERNEL \
	0x00200010 /* PF_KTHREAD; PF_IO_WORKER, which vhost and io_uring have (include/linux/sched.h) */

struct spin_task spin_tasks[SPIN_CPUS] = {};
/* The stack of the task @spin_wanted, the innermost first. */
__u32 spin_wanted = 0;
__u64 spin_frames[SPIN_FRAMES] = {};

extern const struct rq runqueues __ksym __weak;

/* Run by user space. Returns the number of CPUs in spin_tasks; 0: the kernel does not show what they run. */
SEC("raw_tp")
int running_tasks(void *ctx)
{
	if (!&runqueues)
		return 0;
	for (__u32 cpu = 0; cpu < SPIN_CPUS; cpu++) {
		const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);
		struct task_struct___running *task;
		struct spin_task *s = &spin_tasks[cpu];

		if (!rq)
			return cpu;
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
	return SPIN_CPUS;
}

/* In the timer's interrupt of any CPU. */
SEC("raw_tp/hrtimer_expire_entry")
int running_stack(void *ctx)
{
	if ((__u32)bpf_get_current_pid_tgid() == spin_wanted && !spin_frames[0])
		bpf_get_stack(ctx, spin_frames, sizeof(spin_frames), 0);
	return 0;
}
