/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is mounted where. */
#pragma once

#include "base/std.h"

/* The number of the mount on which the open file @fd is; -1: unknown. */
long mounts_number(int fd);

/* Whether a mount depends on a server or on a process (FUSE), which may stop answering. It asks no server; opening the path
 * could wait for one.
 * @root: the list of mounts is read from proc below it ("": this system)
 * @number, @path: of the mount: its number, or the absolute path that leads to it (NULL: none); links are not followed
 * @lower: an overlay counts by its upper layer, and also by the lower ones, in which names are looked up
 * @source, of @size bytes: if true, what is mounted, such as "nas:/export" */
bool mounts_find_network(const char *root, long number, const char *path, bool lower, char *source,
			 size_t size);

/* Whether anything has been mounted or unmounted since the last call. @fd: an open mountinfo of proc; the first call
 * compares with the time when it was opened. */
bool mounts_changed(int fd);
