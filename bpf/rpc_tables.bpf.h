/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of bpf/rpc.bpf.c, what user space sets, and the numbers of servers, transports and series. Look-ups that
 * make an entry are rare. */
#pragma once

#include "rpc_clients.bpf.h"
#include "rpc_read.bpf.h"

/* Set before loading if tracepoints can be preempted: from 7.0 on SRCU guards them, and preemption stays enabled. Such a kernel
 * drops an event if another task of the same CPU was preempted within the same program. Therefore the end of a call is only noted,
 * by two programs: the second notes what the first has missed. The call is recorded when it releases its request, where the kernel
 * holds a spin lock. A call without a note is recorded as if it had ended at that moment. */
const volatile bool rpc_record_at_release = false;

/* Set by user space at any time: bytes from nfs4_slot_table.slot_tbl_waitq to .slot_tbl_state and .max_slotid; 0 without nfsv4. */
volatile __s64 rpc_session_state_offset = 0;
volatile __s64 rpc_session_slots_offset = 0;

/* Address of the name of a session's queue, once a task has waited there; user
 * space clears it at each snapshot, because nfsv4 may be unloaded. */
volatile __u64 rpc_session_name = 0;

/* How many numbers were given out, also those that are free again. Of a full array it may be too high by one for each CPU. */
__u32 rpc_server_count = 0;
__u32 rpc_transport_count = 0;
__u32 rpc_series_count = 1; /* 0 is "other" */

/* Entries of `xprts`. */
__u32 rpc_xprt_count = 0;

/* The numbers of a transport without room in `xprts`. */
const struct rpc_xprt_ref rpc_xprt_beyond = { RPC_MAX_TRANSPORTS, RPC_MAX_SERVERS };

struct rpc_probe rpc_probe_result = {};

/* Where rpcrdma keeps the local address of a connection, for NFS over RDMA. rpcrdma has types of its own and may be loaded
 * after these programs, therefore user space sets this at any time. Bytes from an rpc_xprt to the pointer to its
 * rpcrdma_ep, from there to the pointer to its rdma_cm_id, from there to the address; all 0 while unknown. */
volatile __s64 rpc_rdma_local[3] = {};

BPF_HASH(xprts, RPC_MAX_XPRTS, __u64, struct rpc_xprt_ref);

/* Not a map, because each call looks here twice: an address needs no check. */
struct rpc_xprt_cached rpc_xprt_cache[RPC_XPRT_CACHE] = {};

BPF_ARRAY(transports, RPC_MAX_TRANSPORTS, struct rpc_transport);
BPF_QUEUE(free_transports, RPC_MAX_TRANSPORTS); /* of servers that have ended */

/* Index: shard. */
BPF_MAPPED_ARRAY(replies, RPC_MAX_SHARDS, struct rpc_replies);
BPF_HASH(server_index, RPC_MAX_SERVERS, struct rpc_server, __u32);
BPF_ARRAY(servers, RPC_MAX_SERVERS, struct rpc_server);
BPF_HASH(series_index, RPC_OP_SERIES, struct rpc_series_key, __u32);
BPF_ARRAY(series_info, RPC_OP_SERIES, struct rpc_series_info);

/* Index: series * shards + shard. */
BPF_MAPPED_ARRAY(series, RPC_SERIES_ENTRIES, struct rpc_series);

/* A pointer as a number: the verifier allows arithmetic with the result of a byte
 * swap, not with pointers to the kernel's types. */
static __always_inline __u64 number_of(const void *pointer)
{
	__u64 number = (__u64)pointer;

	asm volatile("%0 = be64 %0\n\t%0 = be64 %0" : "+r"(number));
	return number;
}

/* Whether fewer than @max numbers are given out. Called first, so that the count of a full table does not wrap. @count: numbers
 * given out. */
static __always_inline bool is_left(const __u32 *count, __u32 max)
{
	return *(const volatile __u32 *)count < max;
}

/* A number below @max, one that is free again or a new one; @max: there is none. */
#define NUMBER_TAKE(free, count, max)                                                         \
	({                                                                                    \
		__u32 number_ = max;                                                          \
		if (bpf_map_pop_elem(free, &number_))                                         \
			number_ = is_left(count, max) ? __sync_fetch_and_add(count, 1) : max; \
		number_;                                                                      \
	})

/* The server of a transport. Garbage if the transport is gone. */
static __always_inline void server_read(struct rpc_server *server, const struct rpc_xprt *xprt)
{
	server->netns = BPF_CORE_READ(xprt, xprt_net, ns.inum);
	server->port = port_of(BPF_CORE_READ(xprt, address_strings[RPC_DISPLAY_PORT]));
	bpf_probe_read_kernel_str(server->name, sizeof(server->name),
				  BPF_CORE_READ(xprt, servername));
}

/* The number of a transport's server; RPC_MAX_SERVERS: there is no room. */
static __always_inline __u32 server_make(const struct rpc_xprt *xprt)
{
	struct rpc_server server = {};
	__u32 *known, index;

	server_read(&server, xprt);
	known = bpf_map_lookup_elem(&server_index, &server);
	if (known)
		return *known;
	index = NUMBER_TAKE(&free_servers, &rpc_server_count, RPC_MAX_SERVERS);
	if (index < RPC_MAX_SERVERS && !bpf_map_update_elem(&servers, &index, &server, BPF_ANY) &&
	    !bpf_map_update_elem(&server_index, &server, &index, BPF_NOEXIST))
		return index;
	/* Another CPU was faster, or there was no number. */
	known = bpf_map_lookup_elem(&server_index, &server);
	if (index < RPC_MAX_SERVERS) {
		server.name[0] = 0;
		bpf_map_update_elem(&servers, &index, &server, BPF_ANY);
		bpf_map_push_elem(&free_servers, &index, BPF_ANY);
	}
	if (known)
		return *known;
	drop(RPC_DROP_SERVER);
	return RPC_MAX_SERVERS;
}

static __always_inline void transport_proto(char *proto, const struct rpc_xprt *xprt)
{
	if (bpf_core_field_exists(xprt->xprtsec) &&
	    BPF_CORE_READ(xprt, xprtsec.policy) != RPC_XPRTSEC_NONE) {
		__builtin_memcpy(proto, "tls", 4);
		return;
	}
	bpf_probe_read_kernel_str(proto, sizeof(__u64),
				  BPF_CORE_READ(xprt, address_strings[RPC_DISPLAY_PROTO]));
}

/* How many entries are searched in one group. */
#define TRANSPORT_GROUP 32

/* The first entry, of a group from @first on, that is of an earlier transport of the same server and protocol; RPC_MAX_TRANSPORTS:
 * none is. A global function because the verifier checks that once, not for each group. */
__noinline __u32 transport_free_among(__u32 first, __u32 server, __u64 proto)
{
	for (__u32 i = 0; i < TRANSPORT_GROUP; i++) {
		__u32 index = first + i;
		struct rpc_transport *t = bpf_map_lookup_elem(&transports, &index);

		if (t && !t->xprt && t->proto_number == proto && t->server == server)
			return index;
	}
	return RPC_MAX_TRANSPORTS;
}

/* An entry for a transport. The CPU that makes it takes it first, so that no other does, and publishes it last, so that none
 * reads a part of it. */
static __always_inline __u32 transport_make(const struct rpc_xprt *xprt, __u32 server)
{
	__u32 index = RPC_MAX_TRANSPORTS, first = 0;
	struct rpc_transport *t;
	__u64 proto = 0;

	transport_proto((char *)&proto, xprt);
	for (; first < RPC_MAX_TRANSPORTS && index == RPC_MAX_TRANSPORTS; first += TRANSPORT_GROUP)
		index = transport_free_among(first, server, proto);
	t = bpf_map_lookup_elem(&transports, &index);
	if (!t || __sync_val_compare_and_swap(&t->xprt, 0, RPC_XPRT_FILLED)) {
		index = NUMBER_TAKE(&free_transports, &rpc_transport_count, RPC_MAX_TRANSPORTS);
		t = bpf_map_lookup_elem(&transports, &index);
		if (!t) {
			drop(RPC_DROP_TRANSPORT);
			return RPC_MAX_TRANSPORTS;
		}
		__sync_lock_test_and_set(&t->xprt, RPC_XPRT_FILLED);
		t->server = server;
	}
	/* Atomic for their barriers. */
	__sync_lock_test_and_set(&t->proto_number, proto);
	__sync_lock_test_and_set(&t->xprt, (__u64)xprt);
	return index;
}

/* The entry of rpc_xprt_cache that @xprt's address selects. */
static __always_inline struct rpc_xprt_cached *xprt_cached(const struct rpc_xprt *xprt)
{
	__u32 index = ((__u32)number_of(xprt) >> 6) * 0x9e3779b1u >> 21;

	return &rpc_xprt_cache[index];
}

_Static_assert(RPC_XPRT_CACHE == 1 << (32 - 21), "xprt_cached");

/* The entry of a transport's address if the cache has it, or NULL. */
static __always_inline const struct rpc_xprt_ref *xprt_in_cache(const struct rpc_xprt *xprt)
{
	struct rpc_xprt_cached *cached = xprt_cached(xprt);
	const struct rpc_xprt_ref *ref = &cached->ref;
	__u64 read = cached->xprt, found = read;

	barrier_var(found);
	if (found != (__u64)xprt)
		return NULL;
	/* The address of the entry now depends on the key that was read: no CPU reads the entry before
	 * the key. BPF has no ordered read. */
	asm volatile("%1 &= 0\n\t%0 += %1" : "+r"(ref), "+r"(read));
	if (!ref)
		__builtin_unreachable();
	return ref;
}

static __always_inline const struct rpc_xprt_ref *xprt_in_map(const struct rpc_xprt *xprt)
{
	__u64 key = (__u64)xprt;

	return bpf_map_lookup_elem(&xprts, &key);
}

/* The entry of a transport's address, which the cache does not have. One function, not five: each takes a page of memory in each
 * program that calls it. */
static __noinline const struct rpc_xprt_ref *xprt_make(const struct rpc_xprt *xprt)
{
	const struct rpc_xprt_ref *known = xprt_in_map(xprt);
	struct rpc_xprt_ref ref = {};
	__u64 key = (__u64)xprt;
	struct rpc_xprt_cached *cached;
	struct rpc_transport *t;

	if (known)
		return known;
	/* A transport without room comes here with each call: this must take few instructions. */
	if (!is_left(&rpc_xprt_count, RPC_MAX_XPRTS)) {
		drop(RPC_DROP_SERVER);
		return &rpc_xprt_beyond;
	}
	ref.server = server_make(xprt);
	ref.transport = transport_make(xprt, ref.server);
	if (bpf_map_update_elem(&xprts, &key, &ref, BPF_NOEXIST)) {
		/* Another CPU was faster, or has taken the last entry. */
		t = bpf_map_lookup_elem(&transports, &ref.transport);
		if (t)
			t->xprt = 0;
	} else {
		__sync_fetch_and_add(&rpc_xprt_count, 1);
		cached = xprt_cached(xprt);
		if (!__sync_val_compare_and_swap(&cached->xprt, 0, RPC_XPRT_FILLED)) {
			cached->ref = ref;
			/* Atomic for its barrier: whoever reads the address can read the rest. */
			__sync_lock_test_and_set(&cached->xprt, key);
		}
	}
	known = xprt_in_map(xprt);
	if (known)
		return known;
	drop(RPC_DROP_SERVER);
	return &rpc_xprt_beyond;
}

/* The entry of a transport's address; makes one if there is none. */
static __always_inline const struct rpc_xprt_ref *xprt_get(const struct rpc_xprt *xprt)
{
	return xprt_in_cache(xprt) ?: xprt_make(xprt);
}

static __always_inline struct rpc_transport *transport_get(const struct rpc_xprt *xprt)
{
	return bpf_map_lookup_elem(&transports, &xprt_get(xprt)->transport);
}

/* The transport is gone. @t: its entry, which the next one may take from then on, or NULL. */
static __always_inline void xprt_forget(const struct rpc_xprt *xprt, struct rpc_transport *t)
{
	struct rpc_xprt_cached *cached = xprt_cached(xprt);
	__u64 key = (__u64)xprt;

	__sync_val_compare_and_swap(&cached->xprt, key, 0);
	if (!bpf_map_delete_elem(&xprts, &key))
		__sync_fetch_and_add(&rpc_xprt_count, -1);
	if (!t)
		return;
	for (int i = 0; i < RPC_LIMITS; i++)
		t->saturated_since[i] = 0;
	t->session_slots = 0;
	__sync_val_compare_and_swap(&t->xprt, key, 0);
}

/* The entry of a transport that is known already, or NULL. */
static __always_inline struct rpc_transport *transport_of(const struct rpc_xprt *xprt)
{
	const struct rpc_xprt_ref *ref = xprt_in_cache(xprt) ?: xprt_in_map(xprt);

	return ref ? bpf_map_lookup_elem(&transports, &ref->transport) : NULL;
}

/* A new series. @of: the address of its rpc_procinfo. A global function, as share_make(). */
__noinline __u32 series_make(__u32 server, __u64 of, __u32 version)
{
	const struct rpc_procinfo *proc = (const void *)of;
	struct rpc_series_info info = {};
	__u32 *known, index;

	info.key.server = server;
	info.key.version = version;
	info.key.op = BPF_CORE_READ(proc, p_statidx);
	known = bpf_map_lookup_elem(&series_index, &info.key);
	if (known)
		return *known;
	if (bpf_probe_read_kernel_str(info.name, sizeof(info.name), BPF_CORE_READ(proc, p_name)) <
	    0)
		__builtin_memcpy(info.name, "NULL", 5);
	index = NUMBER_TAKE(&free_series, &rpc_series_count, RPC_OP_SERIES);
	if (index < RPC_OP_SERIES)
		series_set_kind(index, info.name);
	if (index < RPC_OP_SERIES && !bpf_map_update_elem(&series_info, &index, &info, BPF_ANY) &&
	    !bpf_map_update_elem(&series_index, &info.key, &index, BPF_NOEXIST))
		return index;
	known = bpf_map_lookup_elem(&series_index, &info.key);
	if (index < RPC_OP_SERIES)
		bpf_map_push_elem(&free_series, &index, BPF_ANY);
	return known ? *known : rest_series(server);
}

/* The series of a call to @server, whose shard is @s. */
static __always_inline __u32 series_get(struct rpc_server_stats *s, __u32 server,
					const struct rpc_procinfo *proc, __u32 version)
{
	__u32 op = FIELD(proc, p_statidx);
	__u32 table = version - 3;
	__u32 index;

	if (op >= RPC_MAX_OP || table > 1)
		return series_make(server, number_of(proc), version);
	index = s->series[table][op];
	if (index)
		return index - 1;
	index = series_make(server, number_of(proc), version);
	s->series[table][op] = index + 1;
	return index;
}
