/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's uevents (netlink(7), NETLINK_KOBJECT_UEVENT), which report that a module or a device has come or gone. */
#pragma once

#include "base/std.h"

/* Returns a descriptor that becomes readable with each uevent, for the caller to close; or -errno. */
int module_events_open(void);

/* Reads the pending uevents, without blocking. Returns whether a module may have been loaded or unloaded since the last call. The
 * kernel sends a uevent when a module is live, and when it no longer holds other modules. */
bool module_events_read(int fd);
