/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The time, in the two forms that the program uses. */
#ifndef XIDSCOPE_CLOCK_H
#define XIDSCOPE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, ns: the clock of BPF programs and trace events. */
uint64_t monotonic_ns(void);

/* Seconds since the epoch. */
double wall_seconds(void);

/* The time of boot by the wall clock, in seconds since the epoch. It changes only when
 * that clock is set, not by a suspend. False: an interruption made the measurement
 * inexact. */
bool wall_clock_origin(double *seconds);

#endif
