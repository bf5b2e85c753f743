/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is mounted where. */
#pragma once

#include "base/std.h"

/* The number of the mount on which the open file @fd is; -1: unknown. */
long mounts_number(int fd);

/* Whether a mount depends on a server or on a process (FUSE), which may stop answering. The mount is the one with this
 * @number, or the one to which the absolute @path leads (NULL: none); symbolic links are not followed. An overlay counts
 * by its upper layer, with @lower also by its lower ones, in which names are looked up. If true, writes what is mounted, such as "nas:/export", to @source, of @size bytes. Reads the list
 * of mounts from proc below @root ("": this system). This asks no server; opening the path could wait for one. */
bool mounts_find_network(const char *root, long number, const char *path, bool lower, char *source,
			 size_t size);

/* Whether anything has been mounted or unmounted since the last call. @fd: an open mountinfo of proc; the first call
 * compares with the time when it was opened. */
bool mounts_changed(int fd);
