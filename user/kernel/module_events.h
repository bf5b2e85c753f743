/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports that a kernel module was loaded or unloaded, from the kernel's uevents
 * (netlink(7), NETLINK_KOBJECT_UEVENT).
 */
#ifndef XIDSCOPE_MODULE_EVENTS_H
#define XIDSCOPE_MODULE_EVENTS_H

#include <stdbool.h>

/* Returns a descriptor that becomes readable with each uevent, for the caller
 * to close; or -errno. */
int module_events_open(void);

/*
 * Reads the waiting uevents, without blocking. Returns whether a module may have been
 * loaded or unloaded since the last call. The kernel sends a uevent when a module is
 * live, and when it is no longer among the holders of others.
 */
bool module_events_read(int fd);

#endif
