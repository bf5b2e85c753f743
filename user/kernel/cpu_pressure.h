/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How busy the CPUs are, as the kernel's pressure stall information has it. */
#ifndef XIDSCOPE_CPU_PRESSURE_H
#define XIDSCOPE_CPU_PRESSURE_H

#include <stdint.h>

/* For how long at least one task of the system waited for a CPU, in ns since the boot, from
 * /proc/pressure/cpu (the kernel's accounting/psi.rst) below @root ("": this system). 0: unknown;
 * the kernel is older than 4.20, or does not account for it (psi=0). */
uint64_t cpu_pressure_waiting_ns(const char *root);

#endif
