/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sunrpc's types: only the fields that the programs read, with the kernel's names. Checked against 6.1, 6.12, 6.18 and later.
 */
#pragma once

#include "kernel.h"

enum rpc_display_format_t {
	RPC_DISPLAY_ADDR = 0,
	RPC_DISPLAY_PORT,
	RPC_DISPLAY_PROTO,
	RPC_DISPLAY_HEX_ADDR,
	RPC_DISPLAY_HEX_PORT,
	RPC_DISPLAY_NETID,
	RPC_DISPLAY_MAX,
};

enum xprtsec_policies {
	RPC_XPRTSEC_NONE = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rpc_wait_queue {
	unsigned int qlen; /* unsigned short on older kernels; CO-RE adapts the load */
	const char *name; /* with SUNRPC_DEBUG or TRACEPOINTS */
};

struct xprtsec_parms {
	enum xprtsec_policies policy;
};

struct rpc_xprt {
	struct rpc_wait_queue binding;
	struct rpc_wait_queue sending;
	struct rpc_wait_queue pending;
	struct rpc_wait_queue backlog;
	unsigned int max_reqs;
	unsigned int num_reqs;
	__u32 xid; /* the next one to be given out */
	atomic_long_t xmit_queuelen;
	struct rb_root recv_queue; /* of rpc_rqst.rq_recv, by rq_xid */
	struct {
		unsigned long connect_count;
	} stat;
	struct net *xprt_net;
	const char *servername;
	const char *address_strings[RPC_DISPLAY_MAX];
	struct xprtsec_parms xprtsec; /* from 6.5 */
};

/* A transport over a socket. */
struct sock_xprt {
	struct rpc_xprt xprt;
	struct sock *inet; /* NULL while there is none */
	struct {
		__u32 len; /* of the message of which a part has been received, or 0 */
	} recv; /* from 5.0 on */
};

struct rpc_procinfo {
	__u32 p_statidx;
	const char *p_name; /* NULL for the NULL procedure */
};

struct rpc_message {
	const struct rpc_procinfo *rpc_proc;
	void *rpc_argp;
};

struct sunrpc_net {
	struct list_head all_clients; /* of rpc_clnt.cl_clients */
};

struct rpc_clnt {
	struct list_head cl_clients;
	struct list_head cl_tasks; /* of rpc_task.tk_task */
	struct rpc_xprt *cl_xprt;
	__u32 cl_clid;
	__u32 cl_prog;
	__u32 cl_vers;
};

struct rpc_rqst;

struct rpc_task {
	int tk_status;
	void (*tk_action)(struct rpc_task *); /* NULL once it has ended */
	struct rpc_message tk_msg;
	void *tk_calldata; /* of a WRITE: its struct nfs_pgio_header */
	struct rpc_clnt *tk_client; /* NULL for backchannel replies */
	struct rpc_xprt *tk_xprt;
	struct rpc_rqst *tk_rqstp;
	struct list_head tk_task;
	ktime_t tk_start;
	int tk_rpc_status; /* not 0: it was killed, or must end for another reason */
	int tk_owner; /* process that made the call */
	unsigned short tk_timeouts; /* major timeouts */
};

struct rpc_rqst {
	struct rpc_xprt *rq_xprt;
	struct rpc_task *rq_task;
	__be32 rq_xid;
	struct rb_node rq_recv;
	unsigned long rq_xmit_bytes_sent;
	unsigned long rq_reply_bytes_recvd;
	ktime_t rq_rtt;
	ktime_t rq_xtime; /* start of the last send call, partial ones included */
	int rq_ntrans;
};

#pragma clang attribute pop
