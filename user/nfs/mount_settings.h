/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How NFS is mounted, and by which modules, as it is in force: what differs from node to node where nobody meant it. */
#pragma once

#include "base/span.h"
#include "snapshot/snapshot.h"

/* How often to read it, beside at each mount and unmount: settings of sysfs change without one. */
#define MOUNT_SETTINGS_NS 60000000000ull

struct mount_setting {
	uint64_t device; /* as in struct nfs_mount: all mounts of a device have the same */
	char options[NFS_OPTIONS][NFS_OPTION_SIZE];
	uint64_t readahead_bytes;
	bool readahead_known;
};

/* Initialise with { .changes = -1 }. */
struct mount_settings {
	int changes; /* of mountinfo, open */
	uint64_t due_ns;
	struct mount_setting *mounts;
	size_t count;
	struct client_module modules[3];
	size_t module_count;
};

void mount_settings_free(struct mount_settings *m);

/* Adds to @s, in which the mounts are, how they are mounted; reads it from proc and sysfs below @root if that is due. It asks
 * no server. Returns 0 or -ENOMEM. */
int mount_settings_add(struct mount_settings *m, const char *root, struct snapshot *s);

/* Takes the options from those of a file system in mountinfo. What the kernel leaves out has its default, if that is known. */
void mount_settings_options(char options[NFS_OPTIONS][NFS_OPTION_SIZE], struct span text);
