/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is mounted where.
 */
#ifndef XIDSCOPE_MOUNTS_H
#define XIDSCOPE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the folder of the file @path is on NFS; it must exist. If so, writes server
 * and export to @source (of @size bytes). Reads the list of mounts from proc below
 * @root ("": this system). */
bool mounts_find_nfs(const char *root, const char *path, char *source, size_t size);

#endif
