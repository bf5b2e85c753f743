/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the calls of each client of sunrpc by each owner from the maps of bpf/rpc_clients.bpf.h and bpf/rpc_owners.bpf.h,
 * which both BPF sources have. shares.c explains how entries that have ended are freed. */
#pragma once

#include "kernel/bpf_support.h"
#include "owners/mount_calls.h"

struct share_maps {
	const struct bpf_map *client_info, *share_info, *share_stats, *free_clients, *free_shares;
	volatile __u16 *client, *share; /* rpc_client_entry, rpc_share */
	/* For owners; `owners` is NULL if they are not counted. */
	const struct bpf_map *owners, *owner_index, *free_owners;
	volatile struct rpc_owner_cell *cell; /* rpc_owner_cell */
	volatile __u64 *task; /* rpc_task_owner, or NULL */
};

/* The maps of a skeleton of either source. */
#define SHARE_MAPS(bpf)                                                                   \
	.client_info = (bpf)->maps.client_info, .share_info = (bpf)->maps.share_info,     \
	.share_stats = (bpf)->maps.share_stats, .free_clients = (bpf)->maps.free_clients, \
	.free_shares = (bpf)->maps.free_shares, .client = (bpf)->bss->rpc_client_entry,   \
	.share = (bpf)->bss->rpc_share,                                                   \
	.owners = (bpf)->rodata->rpc_owners ? (bpf)->maps.owners : NULL,                  \
	.owner_index = (bpf)->maps.owner_index, .free_owners = (bpf)->maps.free_owners,   \
	.cell = (bpf)->bss->rpc_owner_cell

#define SHARE_NAMED UINT64_MAX /* the name is final */

struct share_reader {
	struct share_maps maps;
	uint32_t shards;
	struct rpc_client_info *client_info; /* mapped */
	struct rpc_share_info *info; /* mapped */
	/* Mapped between shares_map() and shares_unmap(); of @stats those of the shares that were in use then. */
	struct rpc_share_stats *stats;
	struct rpc_owner *owners; /* NULL: not needed so far, or not known */
	uint32_t share_count;
	uint32_t readings;
	bool ending; /* the last look at the owners has ended some */
	bool misses_ends; /* the kernel does not report the ends of all processes */
	uint64_t id[RPC_MAX_SHARES], client_id[RPC_CLIENT_ENTRIES]; /* 0: not yet given */
	uint64_t calls[RPC_MAX_SHARES], rest_ns[RPC_MAX_SHARES]; /* as last read */
	/* The last reading found that it has ended: */
	bool share_ended[RPC_MAX_SHARES], client_ended[RPC_CLIENT_ENTRIES],
		owner_ended[RPC_MAX_OWNERS];
	struct helper names; /* see cgroup_ask_names() */
	const char *variables; /* the same; the caller may set it after shares_open(). NULL: none */
	char label[RPC_MAX_OWNERS][LABEL_SIZE]; /* names of the owners; "": not yet made */
	uint64_t began_ns; /* the present reading */
	uint64_t asked[RPC_MAX_OWNERS]; /* reading that first looked; 0: none; or SHARE_NAMED */
};

/* @maps are loaded maps that outlive *@r, which is all zeros: most of it is touched only where there are many owners.
 * Returns 0 or -errno; call shares_close() in either case. */
int shares_open(struct share_reader *r, const struct share_maps *maps, uint32_t shards);
void shares_close(struct share_reader *r);

/* What follows is called between these, for each reading: mapped pages count as resident memory. shares_map() returns 0 or
 * -errno; call shares_unmap() in either case. */
int shares_map(struct share_reader *r);
void shares_unmap(struct share_reader *r);

/* Adds all shares to @to, and frees what has ended. @server returns the label of a server, "" if it is not known yet. */
void shares_read(struct share_reader *r, struct client_list *to,
		 const char *(*server)(const void *context, uint32_t server), const void *context);

/* Sets the owners of the errors in @c, and the clients, whose mounts mount_calls_add() finds. */
void shares_name_errors(struct share_reader *r, struct calls *c);

/* Ends the clients of a server that has none any more. Returns whether a number of a client or share still belongs to it: later
 * readings free these. */
bool shares_end_server(struct share_reader *r, uint32_t server);

/* Shows in @to that this owner's oldest unanswered call is @age ns old. If the owner has no name, it does not show. */
void shares_show_oldest(struct share_reader *r, struct client_list *to, const char *server,
			uint32_t owner, uint64_t age);

/* The name of an owner; "": not known. Valid until the next reading. */
const char *shares_owner(struct share_reader *r, uint32_t owner);

/* The same, but "" if the number @owner is no longer that of the control group with the number @group. */
const char *shares_owner_of_group(struct share_reader *r, uint32_t owner, uint64_t group);
