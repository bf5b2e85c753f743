/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mounts as the kernel lists them: the fields of a line of /proc/PID/mountinfo (proc(5)), and the escapes of that
 * file, mountstats and fstab. These are pure functions. */
#pragma once

#include "base/span.h"

/* The fields of the line, still escaped. */
struct mountinfo_line {
	struct span number, device, point, options, type, source, super_options;
	struct span tags; /* "shared:2 master:1": how mounts propagate */
};

/* Takes the next line of @text that describes a mount. False: there is none. */
bool mountinfo_next_line(struct span *text, struct mountinfo_line *m);

/* Whether this is a type of the kernel's NFS. */
bool mount_is_nfs(struct span type);

/* Reads "MAJOR:MINOR" as major number << 32 | minor. */
bool mount_device(struct span field, uint64_t *device);

/* Writes the bytes of a field, in which a backslash and three octal digits are one. Returns their number, at most @size. */
size_t mount_unescape(char *bytes, size_t size, struct span field);

/* The same for a path, with a NUL after it. False: it does not fit, is empty or holds a NUL. */
bool mount_path(char *path, size_t size, struct span field);

/* Makes the label of a mount point, of @size bytes, from its path of @len bytes: "pv:NAME" for kubelet's mounts of a volume, whose
 * paths have the pod's UID and would be new series with each pod; otherwise the path. */
void mount_point_label(char *label, size_t size, const char *path, size_t len);

/* The rest of @path if it is the mount point @point or lies below it, with or without slashes at its end; else NULL. */
const char *mount_leads_to(const char *path, const char *point);

/* Which lines of /proc/PID/mountstats begin a mount: "device nas:/x mounted on /m with fstype nfs4 ...".
 *
 * The kernel prints a name and a domain that the server has chosen, with their newlines (show_implementation_id() in
 * fs/nfs/super.c). A line of the server may therefore look like the begin of another mount. Its place shows that it is
 * not: the kernel takes at most 1,024 bytes of each, and the rest of the mount's part is longer, because it has a line
 * for each of NFSv4.1's ops. */
struct mountstats_place { /* initialise with {} */
	bool chosen; /* the server's text has begun in this mount's part */
	size_t left; /* bytes that may still belong to that text */
};

/* Whether @line, the next one, begins a mount. */
bool mountstats_is_head(struct mountstats_place *p, struct span line);

/* ---- what is mounted where, and whether that may stop answering ---- */

/* The number of the mount on which the open file @fd is; -1: unknown. */
long mounts_number(int fd);

/* Whether a mount depends on a server or on a process (FUSE), which may stop answering. It asks no server; opening the path
 * could wait for one.
 * @root: the list of mounts is read from proc below it ("": this system)
 * @number, @path: of the mount: its number, or the absolute path that leads to it (NULL: none); links are not followed
 * @lower: an overlay counts by its upper layer, and also by the lower ones, in which names are looked up
 * @source, of @size bytes: if true, what is mounted, such as "nas:/export" */
bool mounts_find_network(const char *root, long number, const char *path, bool lower, char *source,
			 size_t size);

/* Whether anything has been mounted or unmounted since the last call. @fd: an open mountinfo of proc; the first call
 * compares with the time when it was opened. */
bool mounts_changed(int fd);
