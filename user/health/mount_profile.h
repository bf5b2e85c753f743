/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a site wants NFS to be mounted: lines "MOUNT OPTION WANTED", which the rule mount_profile compares with what is. Pure
 * functions. docs/HEALTH.md describes the file. */
#pragma once

#include "snapshot/calls.h"

/* Behind the options of struct nfs_mount. */
enum profile_option {
	PROFILE_VERSION = NFS_OPTIONS,
	PROFILE_READAHEAD, /* bytes */
	PROFILE_MOUNT_OPTIONS,
	/* Of the node: builds or origins of modules. */
	PROFILE_SUNRPC = PROFILE_MOUNT_OPTIONS,
	PROFILE_NFS,
	PROFILE_RPCRDMA,
	PROFILE_OPTIONS,
};

const char *profile_option_name(int option);

struct mount_wish {
	char mount[LABEL_SIZE]; /* pattern of mount points; "node" */
	int option; /* an nfs_option or profile_option */
	char wanted[96];
};

/* Initialise with {}, free() the list. */
struct mount_profile {
	struct mount_wish *wishes;
	size_t count;
};

/* Reads a file's text. Returns 0, -ENOMEM, or -EINVAL with the reason in @error. */
int mount_profile_read(struct mount_profile *p, const char *text, size_t len, char *error,
		       size_t error_size);

/* What is wanted of the mount point, or of the "node": the last line that says it; NULL: none does. */
const struct mount_wish *mount_profile_find(const struct mount_profile *p, const char *mountpoint,
					    int option);

/* Whether the value is wanted: "VALUE", "LOW-HIGH", or several of them with | between. */
bool mount_profile_wants(const struct mount_wish *wish, const char *value);

/* The value of a mount's option; "": not known. @text: room for a number. */
const char *mount_profile_value(const struct nfs_mount *mount, int option, char text[24]);

/* Writes the mounts and modules as they are, in that form. */
void mount_profile_write(FILE *out, const struct calls *c);
