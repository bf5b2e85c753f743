/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's uevents (netlink(7), NETLINK_KOBJECT_UEVENT), which report that a module or a device has come or gone. */
#pragma once

#include <sys/types.h>

#include "base/std.h"

/* Returns a descriptor that becomes readable with each uevent, for the caller to close; or -errno. */
int module_events_open(void);

/* Strings are "" where the event has none. */
struct uevent {
	const char *action; /* "add", "remove", ... */
	const char *path; /* under /sys */
	const char *subsystem;
	const char *pci_class, *pci_id, *pci_slot; /* "30200", "10DE:2330", "0000:c1:00.0" */
	bool genuine; /* the kernel sent it because the event happened; no process asked for it */
};
typedef void uevent_handler(void *context, const struct uevent *event);

/* Reads a message of @len bytes, the last of which is NUL. Returns whether it is an event; strings point into the message. */
bool uevent_parse(const char *message, size_t len, struct uevent *out);

/* Calls @handle for each pending uevent, without blocking. Returns whether some were lost. */
bool uevents_read(int fd, uevent_handler *handle, void *context);

/* Reads the pending uevents, without blocking. Returns whether a module may have been loaded or unloaded since the last call. The
 * kernel sends a uevent when a module is live, and when it no longer holds other modules. */
bool module_events_read(int fd);

/* The inode of /sys/module/NAME below @root. It exists before the module runs, and differs each time that the module is loaded. 0:
 * not loaded. */
ino_t module_number(const char *root, const char *name);
