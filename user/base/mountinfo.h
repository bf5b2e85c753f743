/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mounts as the kernel lists them: the fields of a line of /proc/PID/mountinfo (proc(5)), and the escapes of that
 * file, mountstats and fstab. Pure functions. */
#pragma once

#include "base/span.h"

/* Parts of the line, as they are escaped there. */
struct mountinfo_line {
	struct span number, device, point, options, type, source, super_options;
};

/* Reads a line without its newline. False: it is not one of a mount. */
bool mountinfo_read_line(struct mountinfo_line *m, struct span line);

/* Whether the kernel's NFS has this type. */
bool mount_is_nfs(struct span type);

/* Reads "MAJOR:MINOR" as major number << 32 | minor. */
bool mount_device(struct span field, uint64_t *device);

/* Writes the bytes that a field stands for, in which a backslash and three octal digits are one
 * byte; returns how many, at most @size. */
size_t mount_unescape(char *bytes, size_t size, struct span field);

/* The same for a path, which is terminated. False: it does not fit, is empty or holds a NUL. */
bool mount_path(char *path, size_t size, struct span field);

/* Whether @path is the mount point @point or lies below it. "/" has only itself: it would have every path. */
bool mount_leads_to(const char *path, const char *point);

/* Which lines of /proc/PID/mountstats begin a mount: "device nas:/x mounted on /m with fstype nfs4 ...".
 *
 * In the part of an NFS mount, the kernel prints a name and a domain that the server has chosen, with their newlines
 * (show_implementation_id() in fs/nfs/super.c). So a line there may be the server's and look like the begin of
 * another mount. It is known by its place: the kernel takes 1,024 bytes of each, and what it prints of a mount behind
 * them is longer, for it has a line for each of NFSv4.1's ops. */
struct mountstats_place { /* initialise with {} */
	bool chosen; /* the mount's part has had the server's text */
	size_t left; /* bytes that may still be of it */
};

/* Whether @line, the next one, begins a mount. */
bool mountstats_is_head(struct mountstats_place *p, struct span line);
