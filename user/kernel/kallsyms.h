/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's symbols. */
#pragma once

#include "base/span.h"

/* "ffffffffc0a1b000 t nfs_updatepage\t[nfs]" */
struct kernel_symbol {
	uint64_t address; /* 0: hidden */
	char type; /* one of "tTwW": a function */
	struct span name, module; /* @module of the kernel itself: empty */
};

/* Calls @take for each line of /proc/kallsyms, until it returns something else than 0. @root is put before the path. Returns what
 * @take returned last, or -errno; -EINVAL: a line has another form. */
int kallsyms_each(const char *root, int (*take)(void *context, const struct kernel_symbol *symbol),
		  void *context);
