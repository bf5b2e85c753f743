/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connections of the NFS mounts as sysfs shows them (net/sunrpc/sysfs.c, from 5.18),
 * for the sources that do not read the kernel's structs, and for what the source btf has not seen.
 */
#ifndef XIDSCOPE_XPRT_FILES_H
#define XIDSCOPE_XPRT_FILES_H

#include "snapshot/snapshot.h"

/* More connections than this are left out, and counted. */
#define XPRT_FILES_MAX 256

/*
 * Adds to @s the addresses of each connection to a server of @s->mounts, as a transport
 * that has nothing else: "tcp/0", numbered by the kernel's ids. Shown are those of this
 * network namespace. @root: before the path of sysfs, "" for the system itself. Returns 0
 * or -ENOMEM.
 */
int xprt_files_add(const char *root, struct snapshot *s);

/* Initialise with {}. */
struct xprt_unseen {
	struct snapshot found; /* only its transports are used */
	bool quiet; /* @found is all; clear it when a mount may have come, or a call unseen */
};

void xprt_unseen_free(struct xprt_unseen *u);

/*
 * The same for those servers whose connections @s has not: none of their calls has ended, or waited
 * since the programs are there. So they also have their slots, which are known of no other source
 * then. Where no call was in flight, none can come that the programs do not see: so it does not look
 * again as long as @u->quiet.
 */
int xprt_files_add_unseen(struct xprt_unseen *u, const char *root, struct snapshot *s);

#endif
