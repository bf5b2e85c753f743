/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls by file and directory, for `trace --files`: without it the verifier removes all of this.
 *
 * The arguments of a call lead to a file handle or an inode, which has one. The handle is the key: no two files of a server share
 * one, not even a new file with the inode number of a removed one. The inode has the names. An op on a file that concerns its
 * names and attributes, as GETATTR, counts for the directory that contains it.
 *
 * Nothing here trusts what it reads: an inode must be one of NFS, and the bytes of a handle are copied first. */
#pragma once

#include "rpc_clients.bpf.h"
#include "rpc_owners.bpf.h"

#define S_IFMT 0170000
#define S_IFDIR 0040000
#define NFS_HANDLE 128 /* bytes of a handle at most: struct nfs_fh has their number before them */

/* Set before loading. */
const volatile bool rpc_files = false;

/* Calls count from then on. */
volatile bool rpc_files_count = false;

volatile struct rpc_file_op rpc_file_ops[RPC_FILE_OPS] = {};

/* Bytes from nfs_inode.fh to .vfs_inode; 0: unknown. */
volatile __s64 rpc_nfs_inode = 0;

/* Calls of files without room. */
__u64 rpc_files_lost = 0;

/* Memory is taken as files are met. */
BPF_TABLE(files, BPF_MAP_TYPE_HASH, RPC_MAX_FILES, __type(key, struct rpc_file_key);
	  __type(value, struct rpc_file); __uint(map_flags, BPF_F_NO_PREALLOC););

const struct rpc_file rpc_file_new = {};

/* The inode whose handle is at @handle, or NULL. */
static __always_inline const struct inode *inode_of_handle(__u64 handle)
{
	const struct inode *inode = (void *)(handle + rpc_nfs_inode);

	return rpc_nfs_inode && BPF_CORE_READ(inode, i_sb, s_magic) == NFS_SUPER_MAGIC ? inode :
											 NULL;
}

/* The name of an inode, of several the first; NULL: it has none. */
static __always_inline const struct dentry *dentry_of(const struct inode *inode)
{
	const struct hlist_node *link = NULL;

	if (inode)
		link = BPF_CORE_READ(inode, i_dentry.first);
	if (link && HAS(dentry, d_u.d_alias))
		return (void *)link - bpf_core_field_offset(struct dentry, d_u.d_alias);
	if (link && HAS(dentry___flat, d_alias))
		return (void *)link - bpf_core_field_offset(struct dentry___flat, d_alias);
	return NULL;
}

/* A hash of the handle, which is not 0. A global function because the verifier checks that once. */
__noinline __u64 handle_hash(__u64 handle)
{
	__u64 hash = 1, word;
	__u16 size = 0;

	bpf_probe_read_kernel(&size, sizeof(size), (void *)handle);
	for (__u32 at = 0; at < NFS_HANDLE && at < size; at += sizeof(word)) {
		__u32 left = size - at;

		word = 0;
		bpf_probe_read_kernel(&word, left < sizeof(word) ? left : sizeof(word),
				      (void *)(handle + sizeof(size) + at));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	return hash | 1;
}

/* Copies the names from @dentry up to the root of a mount, whose name is where it is on the server: "nas:/x". A mount may begin at
 * another directory than a root, and the roots of one superblock may lie in each other. */
static __noinline int names_copy(struct rpc_file *f, const struct dentry *dentry)
{
	const struct dentry *parent;
	const void *name;
	__u32 at = 0;
	long len;

	if (!f)
		return 0;
	for (int i = 0; i <= RPC_FILE_LEVELS && dentry && at < RPC_FILE_NAMES; i++) {
		parent = BPF_CORE_READ(dentry, d_parent);
		/* Without a known directory it is its own parent, as a root is, but has no place. */
		name = parent == dentry ? BPF_CORE_READ(dentry, d_fsdata) :
					  (const void *)BPF_CORE_READ(dentry, d_name.name);
		barrier_var(at); /* or the compiler leaves the mask out, which verifiers need */
		len = bpf_probe_read_kernel_str(f->names + (at & (RPC_FILE_NAMES - 1)),
						RPC_FILE_NAME, name);
		f->whole = parent == dentry && len > 0;
		if (f->whole || len <= 0)
			break;
		at += len & (2 * RPC_FILE_NAME - 1);
		dentry = parent;
	}
	return 0;
}

/* The index in rpc_file_ops of a procedure, or RPC_FILE_OPS. */
static __always_inline __u32 file_op(const struct rpc_procinfo *proc)
{
	__u64 name = 0;
	__u32 op;

	bpf_probe_read_kernel_str(&name, sizeof(name), BPF_CORE_READ(proc, p_name));
	for (op = 0; op < RPC_FILE_OPS; op++)
		if (name && name == rpc_file_ops[op].name)
			break;
	return op;
}

/* The address of the file handle in the arguments of a call, or of an op on data in the inode; 0: unknown. */
static __always_inline __u64 handle_of(const struct rpc_task *task, __u32 op, __u32 version)
{
	const volatile struct rpc_file_op *o = &rpc_file_ops[op & (RPC_FILE_OPS - 1)];
	__u64 argument = (__u64)BPF_CORE_READ(task, tk_msg.rpc_argp), pointer = 0;
	__u64 call = (__u64)BPF_CORE_READ(task, tk_calldata);
	__s32 at = o->handle[version & 1 ? 0 : 1];
	/* The COMMIT of a server's copy has the arguments alone. */
	bool in_call = o->args && argument - call == o->args;

	if (at == RPC_FILE_ARGUMENT)
		return argument;
	if (at)
		bpf_probe_read_kernel(&pointer, sizeof(pointer),
				      (void *)(in_call ? call + o->inode : argument + at - 1));
	return pointer - (in_call ? rpc_nfs_inode : 0);
}

/* The key of the file or directory of a call, and its name: NULL if that is unknown. Returns false if its op does not count. */
static __noinline bool file_of(const struct rpc_task *task, struct rpc_file_key *key,
			       const struct dentry **name)
{
	const struct dentry *dentry;
	const struct inode *inode;
	bool directory;
	__u64 handle;
	__u32 op;

	op = file_op(BPF_CORE_READ(task, tk_msg.rpc_proc));
	if (!key || !name || op >= RPC_FILE_OPS)
		return false;
	directory = rpc_file_ops[op & (RPC_FILE_OPS - 1)].of_directory;
	handle = handle_of(task, op, BPF_CORE_READ(task, tk_client, cl_vers));
	inode = inode_of_handle(handle);
	dentry = dentry_of(inode);
	if (directory ? !dentry : !inode) {
		handle = 0; /* the inode is being evicted */
	} else if (directory && (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFDIR) {
		dentry = BPF_CORE_READ(dentry, d_parent);
		handle = (__u64)BPF_CORE_READ(dentry, d_inode) - rpc_nfs_inode;
	}
	key->op = op;
	key->client = BPF_CORE_READ(task, tk_client, cl_clid);
	key->handle = handle_hash(handle);
	*name = dentry;
	return true;
}

/* A new entry, or NULL. */
static __always_inline struct rpc_file *file_make(const struct rpc_file_key *key, __u32 pid,
						  __u32 share, const struct dentry *dentry)
{
	__u32 number = rpc_share_info[share & (RPC_MAX_SHARES - 1)].owner;
	const struct rpc_owner *owner;
	struct rpc_file *f;

	bpf_map_update_elem(&files, key, &rpc_file_new, BPF_NOEXIST);
	f = bpf_map_lookup_elem(&files, key);
	if (!f)
		return NULL;
	f->pid = pid;
	f->owner = number;
	owner = bpf_map_lookup_elem(&owners, &number);
	f->group = owner ? owner->key.id : 0;
	bpf_probe_read_kernel_str(f->comm, sizeof(f->comm), BPF_CORE_READ(process_of(pid), comm));
	names_copy(f, dentry);
	if (dentry && !rpc_file_ops[key->op & (RPC_FILE_OPS - 1)].of_directory)
		f->directory = handle_hash((__u64)BPF_CORE_READ(dentry, d_parent, d_inode) -
					   rpc_nfs_inode);
	return f;
}

/* Counts a call of @task for its file. A global function because the verifier checks that once. */
__noinline int file_record(__u64 address, __u32 share, __u64 total, __u64 bytes)
{
	const struct rpc_task *task = (void *)address;
	const struct dentry *name = NULL;
	struct rpc_file_key key = {};
	struct rpc_file *f;

	if (!rpc_files || !rpc_files_count || !file_of(task, &key, &name))
		return 0;
	f = bpf_map_lookup_elem(&files, &key) ?:
		    file_make(&key, BPF_CORE_READ(task, tk_owner), share, name);
	if (!f) {
		counter_add(&rpc_files_lost, 1);
		return 0;
	}
	counter_add(&f->calls, 1);
	counter_add(&f->bytes, bytes);
	counter_add(&f->total_ns, total);
	return 0;
}
