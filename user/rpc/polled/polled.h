/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own statistics of the NFS client, polled: mountstats, mountinfo and sysfs. The source mountstats
 * consists of them; the other sources take from here what they cannot see themselves. */
#pragma once

#include "base/safe_text.h"
#include "base/span.h"
#include "owners/mount_calls.h"
#include "rpc.h"
#include "snapshot/snapshot.h"

/* ---- mountstats_text.c: the texts of the kernel: /proc/PID/mountstats, in the form of fs/nfs/super.c (nfs_show_stats) and
 * net/sunrpc/stats.c (rpc_clnt_show_stats), and the mounts' identity from /proc/PID/mountinfo and /proc/PID/net/nfsfs/volumes.
 * Pure: no allocation, no I/O. ---- */

/* Counts since the mount; times in ms, rounded down. */
struct mountstats_op {
	char name[RPC_OP_LEN];
	uint64_t calls;
	uint64_t transmits; /* at least one for each call */
	uint64_t timeouts; /* major timeouts */
	uint64_t sent_bytes;
	uint64_t received_bytes;
	uint64_t rtt_ms; /* last transmit to reply */
	uint64_t total_ms; /* task start to end */
	uint64_t errors; /* calls with a negative task status; from 5.3 */
};

struct mountstats_transport {
	char protocol[RPC_PROTO_LEN]; /* "tcp", "udp", "rdma" */
	uint32_t port; /* the local one; 0 if unknown */
	uint64_t connects;
};

/* More transports than this (nconnect: 16, more by trunking) are left out. */
#define MOUNTSTATS_TRANSPORTS 32

struct mountstats_mount {
	char server[LABEL_SIZE]; /* as given at mount, without brackets */
	char mountpoint[LABEL_SIZE];
	uint64_t age; /* seconds since the mount */
	struct mountstats_op ops[RPC_MAX_OP]; /* only those with calls */
	size_t op_count;
	struct mountstats_transport transports[MOUNTSTATS_TRANSPORTS];
	size_t transport_count;
};

/* Reads the next NFS mount of @text and skips what it does not understand. False: there is none. */
bool mountstats_next(struct span *text, struct mountstats_mount *mount);

/* The same for the text of mountinfo. Sets all but .elsewhere and what user/nfs/ finds. */
bool mountinfo_next(struct span *text, struct nfs_mount *mount);

/* The device, as in struct nfs_mount, of the next mount of /proc/PID/net/nfsfs/volumes
 * (nfs_volume_list_show() in fs/nfs/client.c), which lists the mounts of one network namespace. */
bool nfs_volumes_next(struct span *text, uint64_t *device);

/* ---- mountstats.c: what sources that count the calls themselves cannot see ---- */

struct mountstats;
struct client_list;

/* The label of the server at an address and port, or NULL: then it is the name of the mount. */
typedef const char *mountstats_label(void *context, const char *address, uint32_t port);

/* Begins to count. @root: before the paths of proc and sysfs: "", or a folder of a test; it must
 * outlive the result. @label may be NULL. Returns NULL without memory. */
struct mountstats *mountstats_open(const char *root, mountstats_label *label, void *context);

/* @mountstats: what mountstats_open() returned. */
void mountstats_close(void *mountstats);

/* Adds the bytes sent and received since mountstats_open() to the ops of @s, and by mount to @mounts. Adds the slots of the
 * existing transports for each server and protocol. Takes these facts out of @s->unknown, unless mountstats could not be
 * read. */
void mountstats_add_rest(struct mountstats *m, struct snapshot *s, struct client_list *mounts);

/* ---- nfs_mounts.c: the mounts of process 1, or of this process if those are not readable. mountinfo is in memory: no server
 * is asked. ---- */

/* The most mounts that are read, and that are shown. Others are counted. */
#define NFS_MOUNTS_READ 2048
#define NFS_MOUNTS_MAX 256

/* If there are more mounts than are shown, those that change are read again after so many times the CPU time that the last
 * reading took: finding their clients and settings takes 20 times as long. */
#define NFS_MOUNTS_APART 10000
#define NFS_MOUNTS_APART_NS 300000000000

/* Initialise with { .changes = -1 }. */
struct nfs_mounts {
	struct mount_list list;
	uint64_t left_out;
	bool changed; /* mountinfo, since it was read */
	uint64_t due_ns; /* not before, in snapshots' time */
	uint64_t version; /* how often it was read */
	int changes; /* descriptor that reports changes; negative: not open */
};

void nfs_mounts_free(struct nfs_mounts *m);

/* Adds the mounts to @s; reads them again only if the kernel reports a change. A mount
 * of another network namespace gets the name that its server has in @s, if the connections there
 * show exactly one such name. @root: before the paths of proc, "" for the system itself. */
void nfs_mounts_add(struct nfs_mounts *m, const char *root, struct snapshot *s);

/* Leaves NFS_MOUNTS_MAX mounts in @s, which has the calls by mount: those of servers that hang, then those that were in use last. */
void nfs_mounts_limit(struct snapshot *s);

/* ---- transports.c: connects from mountstats, slots from sysfs (5.14). A server's transports of one protocol are shown as one,
 * with the protocol's name. ---- */

struct transport;

/* Initialise with {}. */
struct transports {
	struct transport *list; /* of the last poll and this one */
	size_t count;
};

/* Begins a poll. */
void transports_clear(struct transports *t);

/* Adds the transports of @mount. Those that it shares with another mount count once. */
void transports_add(struct transports *t, const struct mountstats_mount *mount,
		    const struct nfs_mount *info);

/* Ends a poll: adds the connects of each transport since the last poll to @totals, or only stores
 * their number if counting has not @begun. */
void transports_count_connects(struct transports *t, struct snapshot *totals, bool begun);

/* Adds the slots that sysfs shows below @root ("" for the system itself) to @s. */
void transports_add_slots(const struct transports *t, const char *root, struct snapshot *s);

/* A transport in sysfs, in the form of net/sunrpc/sysfs.c (5.14): ".../switch-0/xprt-7-tcp". A switch has the transports of one
 * client of sunrpc. */
struct xprt_file {
	uint32_t switch_number, number;
	char protocol[RPC_PROTO_LEN];
	struct endpoint remote; /* no port: unknown (from 5.18) */
	uint32_t slots_max;
	uint32_t slots_allocated;
	uint32_t pending; /* calls that wait for their reply */
	bool has_port; /* it is known (from 5.18), and 0 for a backchannel */
};

/* Takes slots and ports of a text of lines "name=number". False: one of the first three is missing. */
bool xprt_info_parse(struct xprt_file *f, const char *text);
