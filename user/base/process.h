/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads proc: a process that the kernel has named by its number, and how long tasks waited for a CPU. When it is read, another
 * process may have the number. And this process's own memory and capabilities. */
#pragma once

#include <linux/capability.h>

#include "base/std.h"

/* Reads the beginning of /proc/@pid/@file ("cgroup"), at most @size bytes with the NUL. False and "" unless it is proved
 * that this process had the number at @time_ns (CLOCK_MONOTONIC): it must have begun a tick of proc (10 ms) before, and this
 * program must see the kernel's own process numbers. */
bool process_text(int pid, uint64_t time_ns, const char *file, char *text, size_t size);
/* The same for the process's name. */
bool process_comm(int pid, uint64_t time_ns, char *comm, size_t size);

/* Reads from the text of /proc/PID/stat when the process began, in whole ticks of proc since the boot (CLOCK_BOOTTIME). */
bool process_start_ticks(const char *stat, uint64_t *ticks);

/* The time since the boot in which at least one task of the system waited for a CPU, ns, from /proc/pressure/cpu below @root ("":
 * this system). 0: unknown, because the kernel is older than 4.20 or runs with psi=0. */
uint64_t cpu_pressure_waiting_ns(const char *root);

/* Kernel memory that the control group (v2) is charged, from the files below @root ("": this system). 0: unknown, as before 5.18, or
 * if the group has a process of another process group. */
uint64_t group_kernel_bytes(const char *root);

/* Releases the program's own pages, code and constants. The kernel maps those that are used again from its page cache.
 * @keep: then takes them into memory, if the limit of locked memory allows it: a disk that hangs could not give them back.
 * BPF objects and the page of `trace --html` stay on the disk. The other processes find the pages in memory. */
void memory_drop_program(bool keep);

/* ---- the capabilities of this process ---- */

#define CAPABILITY(number) (1ull << (number))

/* The effective capabilities of the process, from proc below @root ("": this system), as a set of CAPABILITY(CAP_...). */
uint64_t effective_capabilities(const char *root);

/* Gives up all capabilities except those in @keep, permanently, also for programs that the process starts. It adds none. Returns 0;
 * or -errno if some could not be given up. */
int capabilities_keep(uint64_t keep);
