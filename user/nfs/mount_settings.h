/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of NFS mounts as they are in force, and the modules of the client. Nodes differ in them by accident. */
#pragma once

#include "snapshot/snapshot.h"

/* The agent reads them at each mount and unmount, and this often, because readahead changes without a mount, and connections
 * and bytes change with calls. With many mounts it reads less often: the time between two readings is at least
 * MOUNT_SETTINGS_APART times as long as a reading takes. */
#define MOUNT_SETTINGS_NS 60000000000ull
#define MOUNT_SETTINGS_APART 100000

/* Places of numbers in mountstats: the kernel's include/linux/nfs_iostat.h. */
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
	uint64_t bytes[MOUNT_BYTES], events[MOUNT_EVENTS]; /* since the mount */
	uint64_t window_bytes;
	bool direct_writes;
};

/* Initialise with {}; at the end, free .mounts. */
struct mount_settings {
	uint64_t period_ns; /* between readings */
	uint64_t due_ns;
	uint64_t version; /* of the list of mounts at the last reading */
	uint64_t moved; /* READs, WRITEs and COMMITs at the last reading of mountstats */
	uint64_t writes; /* WRITEs and COMMITs at the last snapshot ... */
	uint64_t written_ns; /* ... and when there were more; 0: never */
	struct mount_setting *mounts;
	size_t count;
	struct client_module modules[3];
	size_t module_count;
};

/* Adds the settings to the mounts in @s. Reads them from proc and sysfs below @root if a reading is due, which asks no server. */
void mount_settings_add(struct mount_settings *m, const char *root, struct snapshot *s);
