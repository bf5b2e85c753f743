/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel counts for each NFS mount: /proc/PID/mountstats, in the form
 * of fs/nfs/super.c (nfs_show_stats) and net/sunrpc/stats.c
 * (rpc_clnt_show_stats), and the mounts' identity from /proc/PID/mountinfo and
 * /proc/PID/net/nfsfs/volumes.
 * Pure: no allocation, no I/O.
 */
#ifndef XIDSCOPE_MOUNTSTATS_TEXT_H
#define XIDSCOPE_MOUNTSTATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/label.h"
#include "base/span.h"
#include "rpc.h"

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
	char path[256]; /* mount point, as the kernel escapes it; may be cut */
	uint64_t age; /* seconds since the mount */
	struct mountstats_op ops[RPC_MAX_OP]; /* only those with calls */
	size_t op_count;
	struct mountstats_transport transports[MOUNTSTATS_TRANSPORTS];
	size_t transport_count;
};

/* Reads the next NFS mount of @text and skips what it does not understand. False:
 * there is none. */
bool mountstats_next(struct span *text, struct mountstats_mount *mount);

/* One NFS mount of mountinfo (proc(5)). */
struct mountinfo_mount {
	uint64_t device; /* of the superblock, which several mounts may share */
	char path[256]; /* as in struct mountstats_mount */
	char server[LABEL_SIZE]; /* likewise */
	struct span export, point, version; /* within the text; the first two as escaped there */
	char address[RPC_ADDRESS_LEN]; /* of the server; "" if unknown */
	uint32_t port; /* of the server */
	bool kerberos;
};

/* The same for the text of mountinfo. */
bool mountinfo_next(struct span *text, struct mountinfo_mount *mount);

/* The device, as in struct mountinfo_mount, of the next mount of /proc/PID/net/nfsfs/volumes
 * (nfs_volume_list_show() in fs/nfs/client.c), which lists the mounts of one network namespace. */
bool nfs_volumes_next(struct span *text, uint64_t *device);

/* Makes a label of @size bytes from a name as these files show it: blanks, newlines,
 * backslashes and # appear as a backslash and three octal digits. */
void mount_label(char *label, size_t size, struct span name);

#endif
