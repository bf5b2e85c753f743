/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time, in the two forms that the program uses. */
#pragma once

#include "base/std.h"

/* CLOCK_MONOTONIC, ns: the clock of BPF programs and trace events. */
uint64_t monotonic_ns(void);

/* This thread's time on a CPU, ns. */
uint64_t thread_cpu_ns(void);

/* For how long not to do again what began at @begin, a thread_cpu_ns(): @times as long as it has taken. */
uint64_t apart_ns(uint64_t begin, uint64_t times, uint64_t least, uint64_t most);

/* How long a wait took in which this process could look: of a turn that took longer than @turn_ns, only that counts.
 * The rest of it the process had no CPU, and so probably had none for whom it waits. */
struct waited {
	uint64_t begin_ns, last_ns; /* CLOCK_MONOTONIC */
	uint64_t sum_ns;
};

struct waited wait_begin(void);
void wait_turn(struct waited *w, uint64_t turn_ns);

/* Seconds since the epoch. */
double wall_seconds(void);

/* A wall time that is so much later than the present one may come from the clock of another machine, a file server's
 * or a person's. One that is later still does not tell how long ago it was. */
#define CLOCK_SLACK_SECONDS 10.0

/* How the clocks differ. CLOCK_MONOTONIC stops while the machine is suspended, CLOCK_BOOTTIME does not; both run
 * alike otherwise, whatever the wall clock is set to. */
struct clock_offsets {
	double boot_to_wall; /* seconds from CLOCK_BOOTTIME to the epoch: changes only when the wall clock is set */
	int64_t monotonic_to_boot; /* ns: the time that the machine was suspended */
};

/* Seconds since the boot, CLOCK_BOOTTIME, at a CLOCK_MONOTONIC in ns. */
double boot_seconds(const struct clock_offsets *o, uint64_t monotonic_ns);

/* Measures them, again if it is interrupted. False: each of ten times; the last measurement is inexact. */
bool clock_offsets_read(struct clock_offsets *o);
