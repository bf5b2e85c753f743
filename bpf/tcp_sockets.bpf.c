// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's own connections of TCP to some ports, in all network namespaces: programs that user space runs. (An iterator
 * shows those of one namespace.) Must load on 5.10. */
#include "tcp.bpf.h"
#include "rpc_tracepoints.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before a look: a bit for each port, as a number in the network's byte order. */
__u64 tcp_ports[(1 << 16) / 64] = {};

/* Addresses of the sockets that it finds. */
__u64 tcp_found[TCP_SOCKETS_MAX] = {};
__u32 tcp_count = 0;

struct tcp_socket tcp_socket = {};

static __u64 heads[TCP_BUCKETS];
static __u32 begin, bucket, end; /* of the run */

static __always_inline const struct inet_hashinfo *connections(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct net *net = BPF_CORE_READ(task, nsproxy, net_ns);

	if (bpf_core_field_exists(net->ipv4.tcp_death_row.hashinfo))
		return BPF_CORE_READ(net, ipv4.tcp_death_row.hashinfo);
	return BPF_CORE_READ((const struct net___pointer *)net, ipv4.tcp_death_row, hashinfo);
}

static __always_inline void look_at(const struct sock *sk)
{
	__u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);

	if (!(tcp_ports[port / 64] >> port % 64 & 1) ||
	    BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_ESTABLISHED ||
	    !BPF_CORE_READ_BITFIELD_PROBED(sk, sk_kern_sock) || tcp_count >= TCP_SOCKETS_MAX)
		return;
	tcp_found[tcp_count & (TCP_SOCKETS_MAX - 1)] = (__u64)sk;
	tcp_count++;
}

/* Goes on from @node, by some empty buckets or a socket, which it looks at. Returns the next node, odd at the end of a chain; 0:
 * all of the run's buckets are done. Not static: the verifier follows it once, not at each call. */
__noinline __u64 tcp_step(__u64 node)
{
	__u32 from = begin, at = bucket, to = end;

	for (int i = 0; i < 8 && node & 1; i++) {
		if (at >= to)
			return 0;
		node = heads[(at++ - from) & (TCP_BUCKETS - 1)];
	}
	bucket = at;
	if (!node || node & 1)
		return 1;
	look_at((const void *)node - bpf_core_field_offset(struct sock_common, skc_nulls_node));
	return (__u64)BPF_CORE_READ((struct hlist_nulls_node *)node, next) ?: 1;
}

/* Run with the number of a bucket: looks at some from there on, and returns the next one; 0: there is none. A chain may change
 * meanwhile: what it leads to is checked by tcp_read. */
SEC("raw_tp")
int tcp_find(__u64 *ctx)
{
	const struct inet_hashinfo *all = connections();
	__u32 count = all ? BPF_CORE_READ(all, ehash_mask) + 1 : 0;
	__u64 node = 1;

	begin = bucket = ctx[0];
	end = count - begin < TCP_BUCKETS ? count : begin + TCP_BUCKETS;
	bpf_probe_read_kernel(heads, sizeof(heads), BPF_CORE_READ(all, ehash) + begin);
	for (int i = 0; i < TCP_STEPS; i++) {
		node = tcp_step(node);
		if (!node)
			return end < count ? end : 0;
	}
	/* The last one is looked at again, unless it alone has taken all steps. */
	return bucket > begin + 1 ? bucket - 1 : bucket;
}

/* Run with the address of a socket that was found: reads it, and returns whether it is connected. Its memory may be used for
 * another one by now, hence the ends are read last. */
SEC("raw_tp")
int tcp_read(__u64 *ctx)
{
	const struct sock *sk = (const void *)ctx[0];

	tcp_of(&tcp_socket.tcp, sk);
	ends_of(&tcp_socket.ends, sk);
	return BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_ESTABLISHED;
}
