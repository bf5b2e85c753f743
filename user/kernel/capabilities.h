/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capabilities of the process. */
#pragma once

#include <linux/capability.h>

#include "base/std.h"

#define CAPABILITY(number) (1ull << (number))

/* The effective capabilities of the process, from proc below @root ("": this system), as a set of CAPABILITY(CAP_...). */
uint64_t effective_capabilities(const char *root);

/* Gives up all capabilities except those in @keep, permanently, also for programs that the process starts. It adds none. Returns 0;
 * or -errno if some could not be given up. */
int capabilities_keep(uint64_t keep);
