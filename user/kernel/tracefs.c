// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the kernel's tracing files are. */
#include "kernel/trace.h"

#include <unistd.h>

#include "base/file_text.h"

/* The kernel creates both folders; they are empty until tracefs is mounted. */
static const char *const paths[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static enum tracefs_state look(const char *path)
{
	if (!access(PATHF("%s/instances", path), F_OK))
		return TRACEFS_MOUNTED;
	if (errno == EACCES)
		return TRACEFS_FORBIDDEN;
	return access(path, F_OK) ? TRACEFS_ABSENT : TRACEFS_UNMOUNTED;
}

enum tracefs_state tracefs_find(const char *root, char *path, size_t size)
{
	enum tracefs_state best = TRACEFS_ABSENT, state;

	path[0] = 0;
	for (size_t i = 0; i < COUNT(paths); i++) {
		const char *full = PATHF("%s%s", root, paths[i]);

		state = look(full);
		if (state <= best)
			continue;
		best = state;
		if (state != TRACEFS_UNMOUNTED)
			snprintf(path, size, "%s", full);
	}
	return best;
}
