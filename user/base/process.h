/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that the kernel has named by its number, and the wait of all for a CPU, from proc. Another process may
 * have the number by the time of reading. */
#pragma once

#include "base/std.h"

/* Reads the beginning of /proc/@pid/@file ("cgroup", "comm"), at most @size bytes with the NUL. "" and false unless
 * that process is proved to be the one that had the number at @time_ns (CLOCK_MONOTONIC): it must have begun before,
 * and this program must see the kernel's own numbers. One that began less than a tick of proc's (10 ms) before is not
 * proved. */
bool process_text(int pid, uint64_t time_ns, const char *file, char *text, size_t size);
/* The same for the first line, without its newline. */
bool process_first_line(int pid, uint64_t time_ns, const char *file, char *line, size_t size);

/* Reads from the text of /proc/PID/stat when the process began, in ticks of proc's since the
 * boot (CLOCK_BOOTTIME), rounded down. False: it does not say. */
bool process_start_ticks(const char *stat, uint64_t *ticks);

/* For how long at least one task of the system waited for a CPU, in ns since the boot, from
 * /proc/pressure/cpu (the kernel's accounting/psi.rst) below @root ("": this system). 0: unknown;
 * the kernel is older than 4.20, or does not account for it (psi=0). */
uint64_t cpu_pressure_waiting_ns(const char *root);
