/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what both BPF sources record in the same form: series, errors, depths.
 */
#ifndef XIDSCOPE_RPC_SERIES_H
#define XIDSCOPE_RPC_SERIES_H

#include <stdint.h>

#include "kernel/bpf_hooks.h"
#include "model/snapshot.h"

/* How one element of the map of series is read. */
struct rpc_series_reader {
	/* Copies number @index to @to; 0 or -errno. */
	int (*fetch)(void *context, uint32_t index, struct rpc_series *to);
	void *context;
	struct rpc_series *copy[2];
};

/* Allocates the copies: 0 or -ENOMEM. rpc_series_close() in either case. */
int rpc_series_open(struct rpc_series_reader *r);
void rpc_series_close(struct rpc_series_reader *r);

/*
 * A copy in which every call that was begun is finished, if there is a moment
 * when none is being written: all calls that had begun when the copy after it
 * was taken were finished when the copy before it was taken. Valid until the
 * next call. NULL: the map cannot be read.
 */
const struct rpc_series *rpc_series_read(struct rpc_series_reader *r, uint32_t index);

/* Adds a copy's figures to @op. */
void rpc_series_add(struct rpc_op *op, const struct rpc_series *copy);

/* The kernel side records only waits that happened. Puts the calls that waited
 * for no time at all into the waits' first buckets, when all have been added. */
void rpc_series_complete(struct snapshot *s);

/* Calls @add for each error in the map behind @fd, in the order in which they were
 * first seen. Returns 0 or -errno, also that of @add. */
int rpc_errors_read(int fd,
		    int (*add)(void *context, uint32_t series, const char *status, uint64_t count),
		    void *context);

/* The greatest depth within interval @epoch. */
uint32_t rpc_peak_of(const struct rpc_peak *peak, uint32_t epoch);

/* Adds a server's depths of one shard, with the peaks of interval @epoch. */
void rpc_depths_add(struct rpc_server_state *server, const struct rpc_server_stats *stats,
		    uint32_t epoch);

/* Raise *@max to @value, and to the age of what is there since @since (0:
 * nothing). */
void rpc_raise(uint32_t *max, uint32_t value);
void rpc_raise_age(uint64_t *max, uint64_t now, uint64_t since);

/* The greatest value so far, kept in *@maximum. A counter that is the sum of
 * several reads may lack for a moment what moves from one to the other; what is
 * reported must not fall. */
uint64_t rpc_monotonic(uint64_t *maximum, uint64_t value);

/* Adds what was dropped, by reason (of RPC_DROPS), to @s. */
void rpc_drops_add(struct snapshot *s, const __u64 *dropped);

/* Adds the memory and the runs of the loaded programs to @s. */
void rpc_cost_add(struct snapshot *s, const struct bpf_hooks *h);

#endif
