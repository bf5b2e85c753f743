/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What proc shows of the process that the kernel has named by its number. Another process
 * may have the number by the time of reading.
 */
#ifndef XIDSCOPE_PROCESS_H
#define XIDSCOPE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the beginning of /proc/@pid/@file ("cgroup", "comm"), at most @size bytes with the
 * NUL. "" and false unless that process is proved to be the one that
 * had the number at @time_ns (CLOCK_MONOTONIC): it must have begun before, and this
 * program must see the kernel's own numbers. One that began less than a tick of proc's
 * (10 ms) before is not proved.
 */
bool process_text(int pid, uint64_t time_ns, const char *file, char *text, size_t size);
/* The same for the first line, without its newline. */
bool process_first_line(int pid, uint64_t time_ns, const char *file, char *line, size_t size);

/* Reads from the text of /proc/PID/stat when the process began, in ticks of proc's since the
 * boot (CLOCK_BOOTTIME), rounded down. False: it does not say. */
bool process_start_ticks(const char *stat, uint64_t *ticks);

#endif
