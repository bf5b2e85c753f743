/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few core kernel types that the programs touch, by hand: a header dumped
 * from one kernel would have two megabytes, and no sunrpc, which is a module. Only the named fields matter; CO-RE finds their offsets.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
typedef __s64 ktime_t;

#define NULL ((void *)0)
#define true 1
#define false 0

/* Values that user space and BPF share with the kernel's UAPI. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_MMAPABLE = 1 << 10,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
};

enum {
	AF_INET = 2,
	AF_INET6 = 10,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct list_head list; /* of all network namespaces; its head is in none */
	void *gen; /* struct net_generic: an array of pointers to what each module has there */
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_rcv_saddr;
	__u16 skc_num; /* the local port, in the CPU's byte order */
	unsigned short skc_family;
	struct in6_addr skc_v6_rcv_saddr; /* with IPV6 */
};

struct sock {
	struct sock_common __sk_common;
};

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

/* The struct sock of a TCP connection is its first member. */
struct tcp_sock {
	__u64 bytes_received;
	__u32 rcv_wnd; /* for how many bytes the peer may send more */
	struct minmax rtt_min; /* us, of the last 5 minutes */
	__u32 srtt_us; /* a round trip, smoothed; times 8 */
	__u32 write_seq; /* the end of what was written ... */
	__u32 snd_nxt; /* ... and of what was sent */
	__u32 segs_in;
	__u32 segs_out;
	__u32 total_retrans; /* segments sent again */
	__u32 rcv_ooopack; /* segments received after later ones; from 5.4 */
};

typedef struct {
	__s64 counter;
} atomic_long_t;

#pragma clang attribute pop
