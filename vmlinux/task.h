/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields that an iterator over tasks reads, written by hand: only the named fields matter.
 */
#pragma once

#include "kernel.h"

/* Bits of a task's state (include/linux/sched.h). */
#define TASK_UNINTERRUPTIBLE 0x2 /* killable sleep has it too */
#define TASK_NOLOAD 0x400 /* a kernel thread that is idle */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct sched_info {
	__u64 last_arrival; /* when it got its CPU, by the scheduler's clock; with CONFIG_SCHED_INFO */
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime; /* when it got its CPU; for a real-time task: earlier */
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED, also of other tasks */
};

/* The tasks of a control group on a CPU (kernel/sched/sched.h). */
struct cfs_rq {
	struct rq *rq;
};

struct task_struct___sleeping {
	unsigned int __state;
	__s32 pid, tgid;
	unsigned long nvcsw, nivcsw;
	__u64 start_boottime;
	struct sched_entity se;
	struct sched_info sched_info;
	struct files_struct *files;
};

/* With CONFIG_TASK_IO_ACCOUNTING (include/linux/task_io_accounting.h). */
struct task_io_accounting {
	__u64 syscr, syscw; /* calls of read and write that have returned */
};

struct task_struct___running {
	unsigned int flags;
	__s32 pid;
	int exit_code;
	__u64 utime, stime; /* ns */
	__u64 start_boottime;
	struct sched_entity se;
	struct task_io_accounting ioac;
};

/* Of each CPU (kernel/sched/sched.h). */
struct rq {
	/* Tasks that fell asleep there without TASK_NOLOAD, less those that woke there: only the sum over all CPUs is a number of
	 * tasks, modulo 2^32. */
	unsigned int nr_uninterruptible;
	struct task_struct___running *curr;
	int cpu;
};

/* Before 5.14 (2f064a59a11f). */
struct task_struct___state {
	volatile long state;
};

/* The registers at the entry of a system call (arch/x86/include/asm/ptrace.h, arch/arm64/include/asm/ptrace.h): which
 * call, or negative, its first argument, where it returns to, and its stack. Ambiguous are calls whose first argument is
 * no file (mmap), or one of two files (sendfile, splice, copy_file_range). */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, ip, sp;
	long orig_ax;
};
#define CALL_NUMBER(regs) BPF_CORE_READ(regs, orig_ax)
#define ARGUMENT_1(regs) BPF_CORE_READ(regs, di)
#define RETURN_TO(regs) BPF_CORE_READ(regs, ip)
#define IS_AMBIGUOUS(number) ((number) == 9 || (number) == 40 || (number) == 275 || (number) == 326)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 sp, pc, orig_x0;
	__s32 syscallno;
};
#define CALL_NUMBER(regs) BPF_CORE_READ(regs, syscallno)
#define ARGUMENT_1(regs) BPF_CORE_READ(regs, orig_x0)
#define RETURN_TO(regs) BPF_CORE_READ(regs, pc)
#define IS_AMBIGUOUS(number) \
	((number) == 222 || (number) == 71 || (number) == 76 || (number) == 285)
#endif

#pragma clang attribute pop

/* The arguments of an iterator's program (include/linux/bpf.h, kernel/bpf/task_iter.c): a fixed form. */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct___sleeping *task; /* NULL at the end */
};
