/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the process may do. */
#pragma once

#include <linux/capability.h>

#include "base/std.h"

#define CAPABILITY(number) (1ull << (number))

/* The process's effective capabilities, from proc below @root ("": this system): a set of CAPABILITY(CAP_...). */
uint64_t effective_capabilities(const char *root);

/* Gives up all capabilities but those of @keep, for good: no program that the process might start gets more. What the
 * process does not have it does not get. Returns 0; or -errno if some could not be given up. */
int capabilities_keep(uint64_t keep);
