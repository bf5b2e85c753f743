/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the transports of calls that began before the programs were attached. If a server has not answered since then, perhaps
 * no event shows it. Once its transport is known, rpc_probe reads the age of its oldest call at each snapshot: a call that
 * hangs would appear in no metric before its end. */
#pragma once

#include "rpc_tables.bpf.h"

/* The most modules with a part of a network namespace, and the most tasks of a client, the oldest first. */
#define NETNS_PARTS 128
#define CLIENT_TASKS 32

/* Where the walk is. Addresses, 0: none yet. */
struct {
	__u64 first, net; /* a struct net */
	__u64 clients, client; /* the list of its clients, and the last one that was looked at */
} rpc_walk = {};

static __always_inline __u64 list_next(__u64 list)
{
	return (__u64)BPF_CORE_READ((struct list_head *)list, next);
}

static __always_inline struct rpc_clnt *client_at(__u64 entry)
{
	return (void *)(entry - bpf_core_field_offset(struct rpc_clnt, cl_clients));
}

/* The list of the clients in a namespace, if it has any. sunrpc's part of the namespace is recognised by its contents. */
static __always_inline __u64 clients_of(const struct net *net)
{
	__u64 parts = (__u64)BPF_CORE_READ(net, gen), part, list, entry;

	for (__u32 i = 0; i < NETNS_PARTS; i++) {
		part = 0;
		bpf_probe_read_kernel(&part, sizeof(part), (void *)(parts + i * sizeof(part)));
		list = part + bpf_core_field_offset(struct sunrpc_net, all_clients);
		entry = list_next(list);
		if (part && entry != list &&
		    (__u64)BPF_CORE_READ((struct list_head *)entry, prev) == list &&
		    BPF_CORE_READ(client_at(entry), cl_xprt, xprt_net) == net)
			return list;
	}
	return 0;
}

/* Adds one transport of the client's calls that is not yet known. Returns false if all are known. */
static __always_inline bool find_transport(const struct rpc_clnt *client, const struct net *net)
{
	__u64 tasks = (__u64)client + bpf_core_field_offset(struct rpc_clnt, cl_tasks);
	__u64 entry = tasks, key;
	const struct rpc_task *task;
	const struct rpc_xprt *xprt;

	if (BPF_CORE_READ(client, cl_prog) != RPC_NFS_PROGRAM)
		return false;
	for (__u32 i = 0; i < CLIENT_TASKS; i++) {
		entry = list_next(entry);
		if (!entry || entry == tasks)
			break;
		task = (void *)(entry - bpf_core_field_offset(struct rpc_task, tk_task));
		xprt = BPF_CORE_READ(task, tk_xprt);
		/* The task may have ended meanwhile. */
		key = (__u64)xprt;
		if (!xprt || BPF_CORE_READ(xprt, xprt_net) != net ||
		    bpf_map_lookup_elem(&xprts, &key))
			continue;
		xprt_make(xprt);
		return bpf_map_lookup_elem(&xprts, &key);
	}
	return false;
}

/* Looks at one client, or goes to the next namespace. User space runs it until it returns 0, but not more often than a limit: the
 * lists change meanwhile, and what is read may be garbage. */
SEC("raw_tp")
int rpc_find(__u64 *ctx)
{
	const struct task_struct *self = (void *)bpf_get_current_task();
	const __u64 list = bpf_core_field_offset(struct net, list);
	__u64 client;

	/* Without this the source still counts. */
	if (!bpf_core_type_exists(struct sunrpc_net) || !bpf_core_type_exists(struct task_struct) ||
	    !bpf_core_type_exists(struct nsproxy) || !HAS(rpc_task, tk_xprt) ||
	    !HAS(rpc_task, tk_task) || !HAS(rpc_clnt, cl_tasks) || !HAS(rpc_clnt, cl_clients) ||
	    !HAS(net, gen) || !HAS(net, list))
		return 0;
	if (!rpc_walk.net)
		rpc_walk.first = rpc_walk.net = (__u64)BPF_CORE_READ(self, nsproxy, net_ns);
	if (!rpc_walk.clients)
		rpc_walk.client = rpc_walk.clients = clients_of((void *)rpc_walk.net);
	client = list_next(rpc_walk.client);
	if (client && client != rpc_walk.clients) {
		if (!find_transport(client_at(client), (void *)rpc_walk.net))
			rpc_walk.client = client;
		return 1;
	}
	rpc_walk.net = list_next(rpc_walk.net + list) - list;
	rpc_walk.clients = 0;
	return rpc_walk.net != rpc_walk.first;
}
