// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kinds of events. */
#include "snapshot/event.h"

#include "base/array.h"

const struct event_kind_row event_kinds[EVENT_KINDS + 1] = {
	[EVENT_KIND_XID] = { "xid", .device = "gpu", .number = "Xid" },
	[EVENT_KIND_SXID] = { "sxid", .device = "device", .number = "SXid" },
	[EVENT_KIND_DRIVER_ERROR] = { "gpu_driver_error", .device = "gpu" },
	[EVENT_KIND_KERNEL] = { "kernel_event", .device = "device" },
	[EVENT_KIND_NFS_STALL] = { "nfs_stall", .device = "device" },
	[EVENT_KIND_NFS_ERRORS] = { "nfs_errors", .device = "device" },
	[EVENT_KIND_NFS_SATURATION] = { "nfs_saturation", .device = "device" },
	[EVENT_KIND_NFS_STUCK] = { "nfs_stuck", .device = "device" },
	[EVENT_KIND_EPISODE] = { "checkpoint_episode", .device = "device" },
	[EVENT_KIND_AGENT] = { "agent", .device = "device" },
	[EVENT_KIND_CLOCK] = { "clock", .device = "device" },
	[EVENT_KINDS] = { "", .device = "device" },
};

enum event_kind event_kind_find(struct span name)
{
	const struct event_kind_row *row =
		ARRAY_FIND(k, event_kinds, EVENT_KINDS, span_is(name, k->name));

	return row ? (enum event_kind)(row - event_kinds) : EVENT_KINDS;
}
