/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is mounted where. */
#pragma once

#include "base/std.h"

/* The number of the mount on which the open file @fd is; -1: unknown. */
long mounts_number(int fd);

/* Whether a mount depends on a server or on a process (FUSE), which may stop answering: the mount of this @number, or
 * the one to which the text of the absolute @path leads (NULL: none), without its symbolic links. An overlay counts by
 * its upper layer. If so, writes what is mounted, as in "nas:/export", to @source (of @size bytes). Reads the list of
 * mounts from proc below @root ("": this system), which asks no server, where opening the path may wait for one. */
bool mounts_find_network(const char *root, long number, const char *path, char *source,
			 size_t size);

/* Whether anything has been mounted or unmounted since the last call for @fd, an open mountinfo
 * of proc, or since that was opened. */
bool mounts_changed(int fd);
