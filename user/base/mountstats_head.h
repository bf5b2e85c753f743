/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which lines of /proc/PID/mountstats begin a mount: "device nas:/x mounted on /m with fstype nfs4 ...".
 *
 * In the part of an NFS mount, the kernel prints a name and a domain that the server has chosen, with their newlines
 * (show_implementation_id() in fs/nfs/super.c). So a line there may be the server's and look like the begin of
 * another mount. It is known by its place: the kernel takes 1,024 bytes of each, and what it prints of a mount behind
 * them is longer, for it has a line for each of NFSv4.1's ops. */
#ifndef XIDSCOPE_MOUNTSTATS_HEAD_H
#define XIDSCOPE_MOUNTSTATS_HEAD_H

#include "base/span.h"

/* Initialise with {}. */
struct mountstats_place {
	bool chosen; /* the mount's part has had the server's text */
	size_t left; /* bytes that may still be of it */
};

/* Whether @line, the next one, begins a mount. */
bool mountstats_is_head(struct mountstats_place *p, struct span line);

#endif
