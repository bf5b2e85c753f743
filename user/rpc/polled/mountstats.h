/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel's own statistics (mountstats, sysfs) have beyond a source that counts the calls
 * itself.
 */
#ifndef XIDSCOPE_MOUNTSTATS_H
#define XIDSCOPE_MOUNTSTATS_H

#include "snapshot/snapshot.h"

struct mountstats;

/* The label of the server at an address, or NULL: then it is the name of the mount. */
typedef const char *mountstats_label(void *context, const char *address);

/* Begins to count. @root: before the paths of proc and sysfs: "", or a folder of a test; it must
 * outlive the result. @label may be NULL. Returns NULL with errno set if memory is short. */
struct mountstats *mountstats_open(const char *root, mountstats_label *label, void *context);

/* @m may be NULL. */
void mountstats_close(struct mountstats *m);

/*
 * Adds to the ops of @s the bytes that they have sent and received since mountstats_open(), and
 * the slots of the transports that exist, for each server and protocol; and takes these facts
 * out of @s->unknown, unless mountstats could not be read. Returns 0 or -ENOMEM.
 */
int mountstats_add_rest(struct mountstats *m, struct snapshot *s);

/* Adds to @s the connects of all transports of NFS mounts, each from its creation on, for each
 * server and protocol. Returns 0 or -errno. */
int mountstats_connects(const char *root, struct snapshot *s);

#endif
