/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the slow calls that bpf/slow_calls.bpf.h reports, and finds out whose they were. */
#pragma once

#include "snapshot/snapshot.h"
#include "slow_call.h"

struct ring_buffer;

/* The number of calls that a session keeps. When it has so many, only slower calls are reported. */
#define SLOW_CALLS_KEPT 100

struct slow_calls {
	struct ring_buffer *ring; /* NULL: none are wanted */
	volatile __u64 *threshold; /* ns, of the program */
	struct rpc_slow_call *taken; /* since the last snapshot */
	size_t taken_count;
	uint64_t slowest[SLOW_CALLS_KEPT]; /* the longest so far, ns, descending; 0: no more */
};

/* @map: descriptor of the ring buffer; @threshold: the program's variable, which is already set. Returns 0 or
 * -errno; call slow_calls_close() in either case. */
int slow_calls_open(struct slow_calls *c, int map, volatile __u64 *threshold);
void slow_calls_close(struct slow_calls *c);

/* Takes what the ring buffer has into .taken, which stays until slow_calls_clear(). */
void slow_calls_take(struct slow_calls *c);
void slow_calls_clear(struct slow_calls *c);

/* Adds one call to @s; @server: its label. Its phases add up to its duration, as those of
 * phases_record() in bpf/rpc_phases.bpf.h. Returns 0 or -ENOMEM. */
int slow_calls_add(struct snapshot *s, const struct rpc_slow_call *from, const char *server,
		   const char *owner);

struct mount_calls_state;

/* Finds the mount point of each of the slow calls of @s: that of its client, or the only one of its server. */
void slow_calls_find_mounts(struct snapshot *s, const struct mount_calls_state *mounts);
