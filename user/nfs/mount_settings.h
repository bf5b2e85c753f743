/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How NFS is mounted, and by which modules, as it is in force: what differs from node to node where nobody meant it. */
#pragma once

#include "snapshot/snapshot.h"

/* How often the agent reads it, beside at each mount and unmount: readahead changes without one, connections and bytes with calls.
 * With many mounts more seldom: readings are at least this many times as far apart as one takes. */
#define MOUNT_SETTINGS_NS 60000000000ull
#define MOUNT_SETTINGS_APART 100000

/* The places of what is used in mountstats: include/linux/nfs_iostat.h of the kernel. */
enum mount_bytes {
	MOUNT_DIRECT_WRITTEN = 3, /* by applications */
	MOUNT_SERVER_READ, /* by READs */
	MOUNT_SERVER_WRITTEN,
	MOUNT_PAGES_READ, /* into the page cache */
	MOUNT_BYTES,
};
enum mount_events { MOUNT_READAHEADS = 9, MOUNT_EVENTS };

struct mount_setting {
	uint64_t device; /* as in struct nfs_mount: all mounts of a device have the same */
	unsigned int connections; /* 0: not known */
	uint64_t readahead_bytes;
	bool readahead_known;
	uint64_t bytes[MOUNT_BYTES], events[MOUNT_EVENTS]; /* since it was mounted */
	uint64_t window_bytes;
	bool direct_writes;
};

/* Initialise with {}. */
struct mount_settings {
	uint64_t period_ns; /* of reading */
	uint64_t due_ns;
	uint64_t version; /* of the mounts that were read last */
	uint64_t moved; /* READs, WRITEs and COMMITs at the last reading of mountstats */
	uint64_t writes; /* WRITEs and COMMITs at the last snapshot ... */
	uint64_t written_ns; /* ... and when there were more; 0: never */
	struct mount_setting *mounts;
	size_t count;
	struct client_module modules[3];
	size_t module_count;
};

void mount_settings_free(struct mount_settings *m);

/* Adds to @s, in which the mounts are, how they are mounted; reads it from proc and sysfs below @root if that is due. It asks
 * no server. Returns 0 or -ENOMEM. */
int mount_settings_add(struct mount_settings *m, const char *root, struct snapshot *s);
