/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of each client of sunrpc by each owner, for both BPF sources. Each mounted file system (superblock) has a client
 * of its own: these are the calls by mount, and by owner. No atomics that return a value are used, because kernels before 5.12
 * have none. */
#pragma once

#include "rpc_phases.bpf.h"

/* The entry of each client by its number in the kernel; 0: none yet. If the kernel uses a number again, the new client gets
 * another entry. Two CPUs may make entries or shares for one client at the same time: all count, and user space adds them. */
volatile __u16 rpc_client_entry[RPC_MAX_CLIENTS] = {};

/* An enum rpc_kind for each series, with RPC_SERIES_WRITES. Room for each value of a byte: an index needs no check. */
volatile __u8 rpc_series_kind[256] = {
	[0] = RPC_KIND_OTHER,
	[RPC_OP_SERIES... RPC_MAX_SERIES - 1] = RPC_KIND_OTHER,
};

_Static_assert(RPC_MAX_SERIES <= 256, "rpc_series_kind");

/* The share of each client's entry and owner; 0: none yet. */
volatile __u16 rpc_share[RPC_CLIENT_ENTRIES * RPC_MAX_OWNERS] = {};

BPF_STACK(free_clients, RPC_CLIENT_ENTRIES);
BPF_STACK(free_shares, RPC_MAX_SHARES);
/* Variables, because a map that user space reads in place takes two pages more. */
volatile struct rpc_client_info rpc_client_info[RPC_CLIENT_ENTRIES] = {};
volatile struct rpc_share_info rpc_share_info[RPC_MAX_SHARES] = {};

/* Index: share * shards + shard. */
BPF_MAPPED_ARRAY(share_stats, RPC_MAX_SHARES *RPC_MAX_SHARDS, struct rpc_share_stats);

/* @client is below RPC_MAX_CLIENTS, which the verifier may have forgotten. */
static __always_inline volatile __u16 *client_entry(__u32 client)
{
	barrier_var(client);
	return &rpc_client_entry[client & (RPC_MAX_CLIENTS - 1)];
}

/* A client with the kernel's number @client begins: the calls of an earlier one with this number have ended. */
static __always_inline void client_begins(__u32 client)
{
	if (client < RPC_MAX_CLIENTS)
		*client_entry(client) = 0;
}

/* Whoever reads one of the two also reads the other. */
static __always_inline void store_both(volatile void *to, __u32 first, __u32 second)
{
	*(volatile __u64 *)to = first | (__u64)second << 32;
}

/* A new entry for a client, or 0. */
static __always_inline __u32 client_make(__u32 client, __u32 server)
{
	__u32 entry = 0;

	if (client >= RPC_MAX_CLIENTS || bpf_map_pop_elem(&free_clients, &entry))
		return 0;
	store_both(&rpc_client_info[entry & (RPC_CLIENT_ENTRIES - 1)], 1 + client, server);
	*client_entry(client) = entry;
	return entry;
}

/* The place of the share of an entry and an owner. */
static __always_inline volatile __u16 *share_of(__u32 entry, __u32 owner)
{
	__u32 index = entry * RPC_MAX_OWNERS + owner;

	barrier_var(index);
	return &rpc_share[index & (RPC_CLIENT_ENTRIES * RPC_MAX_OWNERS - 1)];
}

/* A new share. If there is none left, the owner's calls are the kernel's. A global function, because the verifier
 * checks that once, not once per call. */
__noinline __u32 share_make(__u32 client, __u32 server, __u32 owner)
{
	__u32 entry = client < RPC_MAX_CLIENTS ? *client_entry(client) : 0, share = 0;

	if (!entry)
		entry = client_make(client, server);
	if (entry && owner && bpf_map_pop_elem(&free_shares, &share)) {
		drop(RPC_DROP_OWNER);
		owner = 0;
	}
	if (!entry) {
		drop(RPC_DROP_CLIENT);
		return 0;
	}
	share = share ?: RPC_KERNEL_SHARE(entry);
	store_both(&rpc_share_info[share & (RPC_MAX_SHARES - 1)], entry, owner);
	*share_of(entry, owner) = share;
	return share;
}

/* The figures of a client that calls @server, for @owner. *@share: the number of these. */
static __always_inline struct rpc_share_stats *share_get(__u32 client, __u32 server, __u32 owner,
							 struct shard my_shard, __u32 *share)
{
	__u32 copy;

	/* The row of entry 0 has no shares. */
	*share = *share_of(client < RPC_MAX_CLIENTS ? *client_entry(client) : 0, owner);
	if (!*share)
		*share = share_make(client, server, owner);
	copy = shard_index(*share, my_shard);
	return bpf_map_lookup_elem(&share_stats, &copy);
}

/* Marks a series of WRITEs. */
#define RPC_SERIES_WRITES 0x80

/* The kind of a series' calls, an enum rpc_kind. */
static __always_inline __u32 kind_of_series(__u32 series)
{
	return rpc_series_kind[series & 255] & (RPC_KINDS - 1);
}

/* Records a call without its phases. It has no branches, because the verifier would follow each of them through all that comes
 * after. In the source tracepoints, which has no bytes, the bytes are constants. */
static __always_inline void client_record(struct rpc_share_stats *c, __u32 kind, __u64 total,
					  __u64 sent, __u64 received)
{
	counter_add(&c->sums.calls[kind], 1);
	counter_add(&c->sums.total_ns[kind], total);
	if (__builtin_constant_p(sent))
		return;
	counter_add(&c->sums.sent_bytes[kind], sent);
	counter_add(&c->sums.received_bytes[kind], received);
}

/* Records that a call of this share, series and kind has failed. */
static __always_inline void call_failed(struct rpc_share_stats *c, __u32 share, __u32 kind,
					__u32 series, int status)
{
	counter_add(&c->sums.errors[kind], 1);
	error_record(series, status, share);
}

/* Sets the kind of a series' calls, before the first one. @op: the name, of RPC_OP_LEN bytes, the rest of them 0. */
static __always_inline void series_set_kind(__u32 series, const char *op)
{
	__u64 name = *(const __u64 *)op;
	__u8 kind = RPC_KIND_METADATA;

	if (name == NAME("READ\0\0\0\0") || name == NAME("READ_PLUS"))
		kind = RPC_KIND_READ;
	else if (name == NAME("WRITE\0\0\0") || name == NAME("COMMIT\0\0"))
		kind = RPC_KIND_WRITE | (name == NAME("WRITE\0\0\0") ? RPC_SERIES_WRITES : 0);
	rpc_series_kind[series & 255] = kind;
}
