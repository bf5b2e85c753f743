/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the kernel's tracing files are. */
#ifndef XIDSCOPE_TRACEFS_H
#define XIDSCOPE_TRACEFS_H

#include "base/std.h"

enum tracefs_state {
	TRACEFS_ABSENT, /* the kernel has none */
	TRACEFS_UNMOUNTED,
	TRACEFS_FORBIDDEN, /* mounted, and this process may not read it */
	TRACEFS_MOUNTED,
};

/* Looks at the two paths where tracefs is usually mounted, below @root ("" for the system itself). Writes to @path
 * (of @size bytes) where it is mounted, even if this process may not read it; "" if it is not mounted. */
enum tracefs_state tracefs_find(const char *root, char *path, size_t size);

#endif
