// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that bpf/tcp_sockets.bpf.c finds the kernel's own connections to the given ports wherever they are in the table, and
 * reads a socket only as long as it is connected. */
#include "bpf_natively.h"

#define BPF_CORE_READ_BITFIELD_PROBED(pointer, field) ((pointer)->field)
#include "tcp_sockets.bpf.c"
#include "unit.h"

#define BUCKETS (4 * TCP_BUCKETS)
#define SOCKETS (2 * TCP_STEPS)
#define NFS 0x0108 /* 2049 in the network's byte order */
#define END ((struct hlist_nulls_node *)1)

static struct inet_ehash_bucket buckets[BUCKETS];
static union {
	struct sock sk;
	struct tcp_sock tcp;
	char room[512];
} sockets[SOCKETS];
static unsigned int used;
static struct inet_hashinfo all = { buckets, BUCKETS - 1 };
static struct net net = { .ipv4.tcp_death_row.hashinfo = &all };
static struct nsproxy nsproxy = { &net };
static struct task_struct task = { .nsproxy = &nsproxy };

BEFORE_EACH()
{
	for (int i = 0; i < BUCKETS; i++)
		buckets[i].chain.first = END;
	memset(sockets, 0, sizeof(sockets));
	used = tcp_count = 0;
	memset(tcp_ports, 0, sizeof(tcp_ports));
	tcp_ports[NFS / 64] |= (__u64)1 << NFS % 64;
	self_now = &task;
}

static struct sock *put(unsigned int bucket, __u16 port, unsigned char state, unsigned int kernel)
{
	struct sock *sk = &sockets[used++].sk;

	sk->__sk_common.skc_family = AF_INET;
	sk->__sk_common.skc_daddr = 7;
	sk->__sk_common.skc_dport = port;
	sk->__sk_common.skc_state = state;
	sk->__sk_common.skc_nulls_node.next = buckets[bucket].chain.first;
	buckets[bucket].chain.first = &sk->__sk_common.skc_nulls_node;
	sk->sk_kern_sock = kernel;
	return sk;
}

/* Runs the program until it has looked at all, and returns how often. */
static unsigned int find(void)
{
	__u64 bucket = 0;
	unsigned int runs = 0;

	do
		bucket = (__u32)tcp_find(&bucket);
	while (++runs < 100 && bucket);
	return runs;
}

TEST(only_the_kernels_own_connections_to_the_ports_are_found)
{
	static const struct {
		__u16 port;
		unsigned char state;
		unsigned int kernel, found;
	} cases[] = {
		{ NFS, TCP_ESTABLISHED, 1, 1 },
		{ NFS, 6, 1, 0 }, /* TIME_WAIT */
		{ NFS, TCP_ESTABLISHED, 0, 0 },
		{ NFS + 1, TCP_ESTABLISHED, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		tcp_count = 0;
		buckets[5].chain.first = END;
		put(5, cases[i].port, cases[i].state, cases[i].kernel);
		assert_int_equal(find(), BUCKETS / TCP_BUCKETS);
		assert_int_equal(tcp_count, cases[i].found);
	}
}

TEST(each_bucket_is_looked_at)
{
	const struct sock *first = put(0, NFS, TCP_ESTABLISHED, 1);
	const struct sock *second = put(0, NFS, TCP_ESTABLISHED, 1);
	const struct sock *last = put(BUCKETS - 1, NFS, TCP_ESTABLISHED, 1);

	put(BUCKETS - 1, NFS + 1, TCP_ESTABLISHED, 1);
	find();
	assert_int_equal(tcp_count, 3);
	assert_ptr_equal((void *)tcp_found[0], second);
	assert_ptr_equal((void *)tcp_found[1], first);
	assert_ptr_equal((void *)tcp_found[2], last);
	all.ehash_mask = TCP_BUCKETS / 2 - 1; /* a smaller table than one run takes */
	tcp_count = 0;
	assert_int_equal(find(), 1);
	assert_int_equal(tcp_count, 2);
	all.ehash_mask = BUCKETS - 1;
}

TEST(a_long_chain_takes_more_runs_and_an_endless_one_is_left)
{
	for (int i = 0; i < TCP_STEPS - 5; i++)
		put(100, NFS + 1, TCP_ESTABLISHED, 1);
	put(100, NFS, TCP_ESTABLISHED, 1);
	put(TCP_BUCKETS - 1, NFS, TCP_ESTABLISHED, 1);
	assert_int_equal(find(), BUCKETS / TCP_BUCKETS + 2);
	assert_int_equal(tcp_count, 3); /* the first one twice */
	assert_ptr_equal((void *)tcp_found[2], &sockets[used - 1]);
	sockets[0].sk.__sk_common.skc_nulls_node.next = buckets[100].chain.first;
	tcp_count = 0;
	assert_true(find() < 100);
	assert_ptr_equal((void *)tcp_found[tcp_count - 1], &sockets[used - 1]);
}

TEST(no_more_are_noted_than_there_is_room_for)
{
	for (int i = 0; i < TCP_SOCKETS_MAX + 3; i++)
		put((unsigned int)i, NFS, TCP_ESTABLISHED, 1);
	find();
	assert_int_equal(tcp_count, TCP_SOCKETS_MAX);
}

TEST(without_a_table_nothing_is_found)
{
	self_now = NULL;
	put(0, NFS, TCP_ESTABLISHED, 1);
	assert_int_equal(find(), 1);
	assert_int_equal(tcp_count, 0);
}

TEST(a_socket_is_read_as_long_as_it_is_connected)
{
	struct sock *sk = put(0, NFS, TCP_ESTABLISHED, 1);
	__u64 address = (__u64)sk;

	sk->__sk_common.skc_num = 800;
	assert_true(tcp_read(&address));
	assert_int_equal(tcp_socket.ends.local.port, 800);
	assert_int_equal(tcp_socket.ends.remote.port, 2049);
	assert_int_equal(tcp_socket.ends.remote.bytes[0], 7);
	sk->__sk_common.skc_state = 6;
	assert_false(tcp_read(&address));
}
