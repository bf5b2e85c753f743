/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clocks that the program uses, and how they differ. */
#pragma once

#include <time.h>

#include "base/std.h"

/* CLOCK_MONOTONIC, ns: the clock of BPF programs and trace events. CLOCK_MONOTONIC and CLOCK_BOOTTIME always mean the kernel's own,
 * without the offsets of this process's time namespace. */
uint64_t monotonic_ns(void);

/* What the time namespace adds to @clock for this process, also to times in proc, ns. It is read once. */
int64_t clock_shift_ns(clockid_t clock);

/* This thread's time on a CPU, ns. */
uint64_t thread_cpu_ns(void);

/* How long to wait before repeating work that began at thread_cpu_ns() @begin, ns: @times its length, from @least to @most. */
uint64_t apart_ns(uint64_t begin, uint64_t times, uint64_t least, uint64_t most);

/* The length of a wait, without time in which this process got no CPU: a turn that took longer than @turn_ns counts as @turn_ns.
 * The other process, for which it waits, probably got no CPU either. */
struct waited {
	uint64_t begin_ns, last_ns; /* CLOCK_MONOTONIC */
	uint64_t sum_ns;
};

struct waited wait_begin(void);
void wait_turn(struct waited *w, uint64_t turn_ns);

/* Seconds since the epoch. */
double wall_seconds(void);

/* A wall time this far in the future may come from the clock of another machine, such as a file server. A time further in the
 * future is wrong: it does not show how long ago it was. */
#define CLOCK_SLACK_SECONDS 10.0

/* CLOCK_MONOTONIC stops while the machine is suspended, CLOCK_BOOTTIME does not. Otherwise both run alike, and setting the wall
 * clock changes neither. */
struct clock_offsets {
	double boot_to_wall; /* wall time minus CLOCK_BOOTTIME, seconds: changes only when the wall clock is set */
	int64_t monotonic_to_boot; /* time for which the machine was suspended, ns */
};

/* Seconds since the boot, CLOCK_BOOTTIME, at a CLOCK_MONOTONIC in ns. */
double boot_seconds(const struct clock_offsets *o, uint64_t monotonic_ns);

/* The ID of the running kernel's boot, of less than BOOT_ID_SIZE bytes; "" if unknown. It is read once. */
#define BOOT_ID_SIZE 40
const char *boot_id(void);

/* Measures them, up to ten times if interrupted. False: each measurement was interrupted, and the last is inexact. */
bool clock_offsets_read(struct clock_offsets *o);
