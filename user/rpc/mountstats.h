/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source mountstats: no programs in the kernel; its own statistics are polled, those of
 * the NFS mounts (mountstats) and of the transports (sysfs, from 5.14). Both
 * tell sums and counts: no distribution, and of the phases `rtt` alone.
 *
 * The mounts are those of process 1 if they may be read (with the host's
 * process namespace: the host's), else our own. What a mount counts between the
 * last poll and its end is lost. A server's transports of one protocol are
 * shown as one, which bears the protocol's name.
 */
#ifndef XIDSCOPE_MOUNTSTATS_H
#define XIDSCOPE_MOUNTSTATS_H

#include "model/snapshot.h"

struct rpc_poll;

/* Counts from now on: what the mounts have counted before is left out. @root,
 * which must outlive it, is before the paths of proc and sysfs: "", or a folder
 * of a test. NULL: no memory. */
struct rpc_poll *rpc_poll_new(const char *root);
void rpc_poll_free(struct rpc_poll *p);

/* Polls, and adds what there is to @s, with what cannot be told in
 * @s->unknown. Returns 0 or -ENOMEM. */
int rpc_poll_snapshot(struct rpc_poll *p, struct snapshot *s);

#endif
