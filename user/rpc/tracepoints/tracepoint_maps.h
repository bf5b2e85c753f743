/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the maps of bpf/rpc_events.bpf.c into a snapshot, and fills in the servers of
 * clients, which only user space can find.
 */
#ifndef XIDSCOPE_TRACEPOINT_MAPS_H
#define XIDSCOPE_TRACEPOINT_MAPS_H

#include <stdint.h>

#include "base/label.h"
#include "rpc_events.h"
#include "rpc/rpc_series.h"
#include "snapshot/snapshot.h"

struct rpc_events_bpf;

/* What is known of a server in addition to the map's entry. */
struct rpc_event_label {
	char server[LABEL_SIZE]; /* "" until it is looked up */
	char address[RPC_ADDRESS_LEN]; /* "" if it has been named by its client's number */
	char transport[16]; /* protocol; "" if not known */
	bool named; /* by name or address, not by the client's number */
	uint64_t saturated_ns[RPC_LIMITS]; /* as last reported */
	/* Begin of the period of waiting that the last snapshot found without a waiting task, or 0. */
	uint64_t idle_since[RPC_LIMITS];
};

struct tracepoint_maps {
	struct rpc_events_bpf *bpf;
	uint32_t shards;
	/* All but the clients are mapped only while a snapshot is read: mapped pages
	 * count as memory of this process. */
	struct rpc_event_client *clients;
	struct rpc_event_server *servers;
	struct rpc_event_series_key *series_info;
	struct rpc_task_bucket *keys;
	struct rpc_event_task *tasks;
	struct rpc_series_reader reader;
	struct rpc_event_label labels[RPC_MAX_SERVERS + 1];
};

/* @bpf must be loaded and outlive @m; @shards: copies of the hot maps. Returns 0 or
 * -errno; call tracepoint_maps_close() in either case. */
int tracepoint_maps_open(struct tracepoint_maps *m, struct rpc_events_bpf *bpf, uint32_t shards);
void tracepoint_maps_close(struct tracepoint_maps *m);

/* Finds the servers of the existing clients, before they have calls. */
void tracepoint_maps_find_clients(struct tracepoint_maps *m);

/* The label of the server at @address since the last reading; NULL: there is none. */
const char *tracepoint_maps_label(const struct tracepoint_maps *m, const char *address);

/* Adds all that the maps hold to @s, and begins a new interval for the peak
 * depths. Returns 0 or -errno. */
int tracepoint_maps_read(struct tracepoint_maps *m, struct snapshot *s);

#endif
