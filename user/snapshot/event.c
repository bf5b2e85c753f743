// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/event.h"

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

const char *event_grade(enum event_kind kind, struct span name)
{
	static const struct {
		enum event_kind kind;
		const char *name, *grade;
	} * row, rows[] = {
#define TABLE_ROW(kind, name, grade, cause) { EVENT_KIND_##kind, name, grade },
#include "grades.inc"
#undef TABLE_ROW
	};

	row = ARRAY_FIND(r, rows, COUNT(rows),
			 r->kind == kind && (!*r->name || span_is(name, r->name)));
	return row ? row->grade : "unknown";
}

const char *kernel_event_meaning(struct span kind)
{
	static const struct {
		const char *kind, *meaning;
	} * row, rows[] = {
		{ "forged_xid", " (a process wrote an Xid to the kernel log; not counted)" },
		{ "api_mismatch", " (a program and the GPU driver have different versions)" },
		{ "probe_not_called", " (another driver has the GPU)" },
		{ "pcie_aer", " (error on the PCIe bus)" },
		{ "pcie_dpc", " (the port cut the PCIe device off after an error)" },
		{ "mce", " (machine check: CPU or memory)" },
		{ "edac_corrected", " (memory error, corrected)" },
		{ "edac_uncorrected", " (memory error, data lost)" },
		{ "apei_corrected", " (hardware error that the firmware reports, corrected)" },
		{ "apei_recoverable", " (hardware error that the firmware reports)" },
		{ "apei_fatal", " (fatal hardware error that the firmware reports)" },
		{ "rcu_stall", " (a CPU is stuck in the kernel)" },
		{ "kernel_spin", " (a task has not left the kernel for 40 s)" },
		{ "nfs_ok", " (the server answers again)" },
		{ "lockd_ok", " (the server's lock manager answers again)" },
		{ "nfs_timed_out", " (calls of a soft mount fail)" },
		{ "net_watchdog", " (a network interface stopped sending)" },
	};

	row = ARRAY_FIND(r, rows, COUNT(rows), span_is(kind, r->kind));
	return row ? row->meaning : "";
}
