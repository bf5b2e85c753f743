/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the maps of bpf/rpc.bpf.c into a snapshot.
 */
#ifndef XIDSCOPE_BTF_MAPS_H
#define XIDSCOPE_BTF_MAPS_H

#include <stdint.h>

#include "rpc/rpc_series.h"
#include "rpc/slow_calls.h"
#include "snapshot/snapshot.h"

struct rpc_bpf;

struct btf_maps {
	struct rpc_bpf *bpf;
	uint32_t shards;
	uint32_t own_netns;
	const struct rpc_task_bucket *task_keys; /* mapped */
	const struct rpc_replies *replies; /* mapped, by shard */
	struct rpc_series_reader reader;
	struct slow_calls slow; /* for the owner to open, if they are wanted */
	/* Last reported values, by transport. */
	uint64_t saturated_ns[RPC_MAX_TRANSPORTS][RPC_LIMITS];
	uint64_t connects[RPC_MAX_TRANSPORTS];
	const struct snapshot *connected; /* see struct source_setup */
};

/* @bpf must be loaded and outlive @m; @shards: copies of the hot maps; @connected: see struct
 * source_setup. Returns 0 or -errno; call btf_maps_close() in either case. */
int btf_maps_open(struct btf_maps *m, struct rpc_bpf *bpf, uint32_t shards,
		  const struct snapshot *connected);
void btf_maps_close(struct btf_maps *m);

/* Adds all that the maps hold to @s, and begins a new interval for the peak
 * depths. Returns 0 or -errno. */
int btf_maps_read(struct btf_maps *m, struct snapshot *s);

#endif
