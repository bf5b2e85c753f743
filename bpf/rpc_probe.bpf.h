/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that user space runs, to read what no event shows. */
#pragma once

#include <bpf/bpf_endian.h>
#include "rpc_owners.bpf.h"
#include "waiters.bpf.h"

/* tk_start of the first request in @root with an xid of at least @from, or 0; *@of: its task. The tree changes
 * meanwhile: every read may fail or return garbage, therefore the walk is bounded and its result is checked. */
static __always_inline __u64 oldest_from(__u64 xprt, struct rb_root *root, __u32 from,
					 struct rpc_task **of)
{
	struct rb_node *node = BPF_CORE_READ(root, rb_node);
	struct rpc_rqst *rqst, *best = NULL;
	struct rpc_task *task;
	__u64 start;

	for (int depth = 0; depth < 40 && node; depth++) {
		rqst = (void *)node - bpf_core_field_offset(struct rpc_rqst, rq_recv);
		if (BPF_CORE_READ(rqst, rq_xid) >= from) {
			best = rqst;
			node = BPF_CORE_READ(node, rb_left);
		} else {
			node = BPF_CORE_READ(node, rb_right);
		}
	}
	if (!best)
		return 0;
	task = BPF_CORE_READ(best, rq_task);
	start = BPF_CORE_READ(task, tk_start);
	*of = task;
	/* Checked after the read: a task that has ended has given its request up, and its memory may be another task's by now. */
	if (BPF_CORE_READ(task, tk_rqstp) != best || BPF_CORE_READ(best, rq_task) != task ||
	    (__u64)BPF_CORE_READ(best, rq_xprt) != xprt)
		return 0;
	return start;
}

/* Notes who made the oldest call, @task, which may end meanwhile. */
static __always_inline void probe_oldest(struct rpc_probe *p, const struct rpc_task *task)
{
	p->oldest_pid = BPF_CORE_READ(task, tk_owner);
	p->oldest_op[0] = 0;
	bpf_probe_read_kernel_str(p->oldest_op, sizeof(p->oldest_op),
				  BPF_CORE_READ(task, tk_msg.rpc_proc, p_name));
	if ((__u64)BPF_CORE_READ(task, tk_start) != p->oldest_start)
		p->oldest_start = 0;
	p->oldest_owner =
		rpc_owners && p->oldest_start ? owner_of(p->oldest_pid, p->oldest_start) : 0;
}

/* Whether the rpc_xprt at @t's address is still one of @t's server. The kernel drops the event
 * of its end in rare cases (see rpc_record_at_release), and uses the memory again. */
static __always_inline bool is_same_server(const struct rpc_transport *t)
{
	struct rpc_server server = {};
	__u32 *known;

	server_read(&server, (const struct rpc_xprt *)t->xprt);
	known = bpf_map_lookup_elem(&server_index, &server);
	return (known ? *known : RPC_MAX_SERVERS) == t->server;
}

/* Whether @t's server has no number, and one may be free: then its next call tries again. */
static __always_inline bool looks_again(const struct rpc_transport *t)
{
	__u32 number;

	return t->server == RPC_MAX_SERVERS && (is_left(&rpc_server_count, RPC_MAX_SERVERS) ||
						!bpf_map_peek_elem(&free_servers, &number));
}

static __always_inline __u32 qlen_read(struct rpc_wait_queue *q)
{
	__u32 qlen = 0;

	bpf_probe_read_kernel(&qlen, bpf_core_field_size(struct rpc_wait_queue, qlen),
			      (void *)q + bpf_core_field_offset(struct rpc_wait_queue, qlen));
	return qlen;
}

static __always_inline void local_of_socket(struct rpc_address *to, const struct sock *sk)
{
	*to = (struct rpc_address){ .family = BPF_CORE_READ(sk, __sk_common.skc_family),
				    .port = BPF_CORE_READ(sk, __sk_common.skc_num) };
	if (to->family == AF_INET)
		bpf_core_read(to->bytes, 4, &sk->__sk_common.skc_rcv_saddr);
	else if (bpf_core_field_exists(sk->__sk_common.skc_v6_rcv_saddr))
		bpf_core_read(to->bytes, 16, &sk->__sk_common.skc_v6_rcv_saddr);
}

static __always_inline void tcp_of(struct rpc_tcp *to, const struct sock *sk)
{
	const struct tcp_sock *tcp = (const void *)sk;
	__u32 segments;

	to->segments = (__u64)BPF_CORE_READ(tcp, segs_in) + BPF_CORE_READ(tcp, segs_out);
	to->segments_lost = BPF_CORE_READ(tcp, total_retrans);
	if (bpf_core_field_exists(tcp->rcv_ooopack))
		to->segments_lost += BPF_CORE_READ(tcp, rcv_ooopack);
	if (!bpf_core_field_exists(tcp->bytes_received))
		return; /* a file of types from elsewhere may lack it */
	to->received_bytes = BPF_CORE_READ(tcp, bytes_received);
	to->rcv_wnd = BPF_CORE_READ(tcp, rcv_wnd);
	to->min_rtt = BPF_CORE_READ(tcp, rtt_min.s[0].v);
	to->srtt = BPF_CORE_READ(tcp, srtt_us) >> 3;
	to->unsent = BPF_CORE_READ(tcp, write_seq) - BPF_CORE_READ(tcp, snd_nxt);
	if (!bpf_core_type_exists(struct inet_connection_sock) ||
	    !bpf_core_field_exists(tcp->out_of_order_queue))
		return;
	to->timeouts = BPF_CORE_READ((const struct inet_connection_sock *)sk, icsk_retransmits);
	to->unacked = BPF_CORE_READ(tcp, snd_nxt) - BPF_CORE_READ(tcp, snd_una);
	to->unacked_segments = BPF_CORE_READ(tcp, packets_out);
	segments = BPF_CORE_READ(tcp, data_segs_out) - BPF_CORE_READ(tcp, total_retrans) -
		   to->unacked_segments;
	if ((__s32)segments > 0)
		to->acked_segment = BPF_CORE_READ(tcp, bytes_acked) / segments;
	to->behind =
		BPF_CORE_READ(tcp, sacked_out) | !!BPF_CORE_READ(tcp, out_of_order_queue.rb_node);
}

/* Reads the local address from the connection's rdma_cm_id: a sockaddr_in or a sockaddr_in6. */
static __always_inline void local_of_rdma(struct rpc_address *to, __u64 xprt)
{
	struct {
		__u16 family;
		__u16 port; /* in the network's byte order */
		__u8 v4[4]; /* or an IPv6 flow label */
		__u8 v6[16];
	} address = {};
	__u64 at = 0;

	if (!rpc_rdma_local[2])
		return;
	bpf_probe_read_kernel(&at, sizeof(at), (void *)(xprt + rpc_rdma_local[0]));
	bpf_probe_read_kernel(&at, sizeof(at), (void *)(at + rpc_rdma_local[1]));
	bpf_probe_read_kernel(&address, sizeof(address), (void *)(at + rpc_rdma_local[2]));
	to->family = address.family;
	to->port = bpf_ntohs(address.port);
	if (address.family == AF_INET)
		__builtin_memcpy(to->bytes, address.v4, sizeof(address.v4));
	else
		__builtin_memcpy(to->bytes, address.v6, sizeof(address.v6));
}

/* Run with a transport's number, its rpc_xprt's address and its enum rpc_local_kind. Reads what no event shows, above all the calls
 * to a server that has stopped answering. Each request gets the next xid, therefore the lowest one in flight is the oldest. After
 * xprt->xid has wrapped, xids at or above it are older. If another transport now has the address, the entry is freed. */
SEC("raw_tp")
int rpc_probe(__u64 *ctx)
{
	struct rpc_xprt *xprt = (void *)ctx[1];
	struct rpc_probe *p = &rpc_probe_result;
	const struct sock *sk;
	struct rpc_transport *t;
	__u32 index = ctx[0], next;
	struct rpc_task *oldest = NULL;
	struct rb_root *root;

	t = bpf_map_lookup_elem(&transports, &index);
	if (!t || t->xprt != (__u64)xprt)
		return 0;
	if (!is_same_server(t) || looks_again(t)) {
		xprt_forget(xprt, t);
		return 0;
	}
	p->connects = BPF_CORE_READ(xprt, stat.connect_count);
	p->max_slots = BPF_CORE_READ(xprt, max_reqs);
	p->slots = BPF_CORE_READ(xprt, num_reqs);
	p->pending = qlen_read(&xprt->pending);
	p->queued[RPC_LIMIT_SLOT] = qlen_read(&xprt->backlog);
	p->queued[RPC_LIMIT_SEND] = qlen_read(&xprt->sending);
	next = BPF_CORE_READ(xprt, xid);
	root = &xprt->recv_queue;
	p->oldest_start =
		oldest_from(ctx[1], root, next, &oldest) ?: oldest_from(ctx[1], root, 0, &oldest);
	if (p->oldest_start)
		probe_oldest(p, oldest);
	p->address[0] = p->port[0] = 0;
	bpf_probe_read_kernel_str(p->address, sizeof(p->address),
				  BPF_CORE_READ(xprt, address_strings[RPC_DISPLAY_ADDR]));
	bpf_probe_read_kernel_str(p->port, sizeof(p->port),
				  BPF_CORE_READ(xprt, address_strings[RPC_DISPLAY_PORT]));
	p->local.family = 0;
	p->tcp = (struct rpc_tcp){};
	p->reply_len = 0;
	if ((ctx[2] == RPC_LOCAL_SOCKET || ctx[2] == RPC_LOCAL_TCP) &&
	    bpf_core_type_exists(struct sock_xprt) && bpf_core_type_exists(struct sock)) {
		sk = BPF_CORE_READ((struct sock_xprt *)xprt, inet);
		local_of_socket(&p->local, sk);
		if (bpf_core_field_exists(((struct sock_xprt *)xprt)->recv))
			p->reply_len = BPF_CORE_READ((struct sock_xprt *)xprt, recv.len);
		if (ctx[2] == RPC_LOCAL_TCP && sk && bpf_core_type_exists(struct tcp_sock))
			tcp_of(&p->tcp, sk);
	} else if (ctx[2] == RPC_LOCAL_RDMA)
		local_of_rdma(&p->local, ctx[1]);
	return 0;
}

/* Run with the number of a waiter and the address of its task. Frees the waiter if the task had no request and therefore ended
 * without being booked. A tracepoint shows such ends, but all tasks pass it, which would cost 90 instructions each. If the task's
 * memory is now used for something else, tk_start has changed. */
SEC("raw_tp")
int rpc_sweep(__u64 *ctx)
{
	__u32 index = ctx[0], bucket = index / RPC_TASK_WAYS;
	struct rpc_task *task = (void *)ctx[1];
	struct rpc_task_bucket *b;
	struct rpc_waiter *w;

	w = bpf_map_lookup_elem(&tasks, &index);
	b = bpf_map_lookup_elem(&task_keys, &bucket);
	if (!w || !b || w->waits.asleep)
		return 0;
	if ((__u64)BPF_CORE_READ(task, tk_start) == w->start &&
	    (BPF_CORE_READ(task, tk_action) || BPF_CORE_READ(task, tk_rqstp)))
		return 0;
	task_release(&b->task[index % RPC_TASK_WAYS], (__u64)task);
	return 0;
}
