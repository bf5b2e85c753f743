/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The core kernel types that the programs read, written by hand: a header dumped from one kernel would have two megabytes, and
 * would lack sunrpc, which is a module. Only the named fields matter: CO-RE finds their offsets.
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

/* The places of a function's first two arguments in struct pt_regs (arch/x86/include/uapi/asm/ptrace.h,
 * arch/arm64/include/uapi/asm/ptrace.h): a fixed form. */
#ifdef __TARGET_ARCH_x86
enum { REGISTER_1 = 14, REGISTER_2 = 13 };
#else
enum { REGISTER_1, REGISTER_2 };
#endif

#define true 1
#define false 0

/* Values that user space and BPF share with the kernel's UAPI. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
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
	struct list_head list; /* of all network namespaces; its head is outside of them */
	void *gen; /* struct net_generic: an array of pointers, one for each module */
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct kernfs_node {
	__u64 id;
	const char *name;
	struct kernfs_node *parent;
	void *priv; /* in the folder of a control group: that group */
};

/* From 6.15 on. */
struct kernfs_node___rcu {
	__u64 id;
	const char *name;
	struct kernfs_node *__parent;
};

struct cgroup {
	int level; /* 0: the root */
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[4]; /* as many as there are controllers */
	struct cgroup *dfl_cgrp; /* in v2's hierarchy */
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
};

struct obj_cgroup {
	struct mem_cgroup *memcg;
};

/* The first page of a folio, before there were folios. */
struct page {
	unsigned long compound_head; /* in another page: 1 + the address of the first page */
	unsigned long memcg_data; /* from 5.11 */
	struct mem_cgroup *mem_cgroup; /* before */
};

struct folio {
	unsigned long memcg_data;
};

struct xarray {
	void *xa_head;
};

struct xa_node {
	unsigned char shift;
	void *slots[64]; /* 16 on small machines */
};

struct idr {
	struct xarray idr_rt;
};

struct pid_namespace {
	struct idr idr;
};

struct upid {
	struct pid_namespace *ns;
};

struct hlist_node {
	struct hlist_node *next;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

struct pci_dev {
	struct device dev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct pid {
	struct hlist_head tasks[4]; /* the first: the thread with this number */
	struct upid numbers[1];
};

struct task_struct {
	unsigned int flags;
	int pid, tgid;
	struct task_struct *group_leader;
	__u64 start_time; /* CLOCK_MONOTONIC */
	struct pid *thread_pid;
	struct hlist_node pid_links[4];
	struct nsproxy *nsproxy;
	struct css_set *cgroups;
	char comm[16];
};

#define NFS_SUPER_MAGIC 0x6969 /* linux/magic.h */

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	struct hlist_head i_dentry; /* of dentry.d_u.d_alias */
};

struct qstr {
	const char *name;
};

struct dentry {
	struct dentry *d_parent; /* of the root: itself */
	void *d_fsdata; /* of a root of NFS: where it is, "nas:/x" (fs/nfs/getroot.c) */
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};

/* 7.3: the union has no name. */
struct dentry___flat {
	struct hlist_node d_alias;
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

/* Follows a struct sock. */
struct inet_connection_sock {
	__u8 icsk_retransmits; /* timeouts in a row, each with a segment that is sent again */
};

/* The struct sock of a TCP connection is its first member; its struct inet_connection_sock is at the same address. */
struct tcp_sock {
	__u64 bytes_received;
	__u32 rcv_wnd; /* bytes that the peer may still send */
	struct minmax rtt_min; /* us, of the last 5 minutes */
	__u32 srtt_us; /* a round trip, smoothed; times 8 */
	__u32 write_seq; /* the end of what was written ... */
	__u32 snd_nxt; /* ... and of what was sent, ... */
	__u32 snd_una; /* ... and of what was acknowledged */
	__u64 bytes_acked;
	__u32 data_segs_out; /* segments with data, also those sent again */
	__u32 packets_out; /* segments that are not acknowledged */
	__u32 sacked_out; /* of these: behind a missing one, the other side has them */
	struct rb_root out_of_order_queue; /* segments received behind a missing one */
	__u32 segs_in;
	__u32 segs_out;
	__u32 total_retrans; /* segments sent again */
	__u32 rcv_ooopack; /* segments received after later ones; from 5.4 */
};

struct module {
	char name[56];
};

/* From 6.13 on the first member of the struct that the event mce_record has (include/uapi/asm/mce.h in arch/x86). */
struct mce {
	__u64 status, addr;
	__u32 extcpu;
	__u8 bank;
};

/* As the trace buffer has it. */
struct trace_event_raw_mark_victim {
	unsigned long total_vm; /* from 6.9 on, when the event's argument became the task */
};

typedef struct {
	__s64 counter;
} atomic_long_t;

#pragma clang attribute pop
