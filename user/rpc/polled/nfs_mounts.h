/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The NFS mounts of process 1, or of this process if that one's are not readable, from
 * mountinfo. That file is in memory: no server is asked.
 */
#ifndef XIDSCOPE_NFS_MOUNTS_H
#define XIDSCOPE_NFS_MOUNTS_H

#include "snapshot/snapshot.h"

/* More mounts than this are left out, and counted. */
#define NFS_MOUNTS_MAX 256

struct nfs_mounts {
	struct snapshot seen; /* only its mounts are used */
	uint64_t left_out;
	bool read; /* anew by the last nfs_mounts_add() */
	int changes; /* descriptor that reports changes; negative: not open */
	char process[64]; /* path of its folder in proc */
};

/* Nothing is read yet. */
void nfs_mounts_init(struct nfs_mounts *m);
void nfs_mounts_free(struct nfs_mounts *m);

/* Adds the mounts to @s; reads them again only if the kernel reports a change. A mount
 * of another network namespace gets the name that its server has in @s, if the connections there
 * show exactly one such name. @root: before the paths of proc, "" for the system itself. Returns 0 or -ENOMEM. */
int nfs_mounts_add(struct nfs_mounts *m, const char *root, struct snapshot *s);

#endif
