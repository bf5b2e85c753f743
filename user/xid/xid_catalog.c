// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Look-ups in the Xid catalog. The table is generated from xid_catalog.tsv by
 * xid_catalog.awk and indexed by the code itself; codes it lacks are all zero.
 */
#include "xid/xid_catalog.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SXID "sxid:"

static const struct xid_catalog_entry catalog[] = {
#include "xid_catalog.inc"
};

static const struct xid_catalog_entry unknown = {
	.mnemonic = "UNKNOWN",
	.description = "code not in the catalog",
	.category = "unknown",
	.action = "none_given",
	.severity = "unknown",
};

static const struct {
	const char *action;
	const char *sentence;
} advice[] = {
	{ "check_mechanicals", "Check the card's power cables and seating." },
	{ "check_uvm",
	  "Look for unified-memory errors next to this one in the kernel log and follow those." },
	{ "contact_support",
	  "If it recurs, collect nvidia-bug-report.log and open a case with the vendor." },
	{ "ignore", "No action is needed for this alone; look at the errors around it." },
	{ "none_given",
	  "The vendor names no action; if jobs fail on this GPU, drain the node and reset the GPU." },
	{ "reset_gpu", "Drain the node and reset the GPU." },
	{ "restart_app",
	  "Restart the job; if it fails again on another GPU, look for the fault in the application." },
	{ "restart_bm", "Drain the node and restart it; if the error returns, replace the GPU." },
	{ "restart_vm", "Restart the virtual machine." },
	{ "update_swfw", "Update driver and firmware to versions that are supported together." },
	{ "workflow_nvlink5_err",
	  "If the text states Fatal, drain the node and reset the GPU; otherwise check whether the link reports it again." },
	{ "workflow_nvlink_err",
	  "Drain the node and reset the GPU; if the same link fails again, run the link diagnostics." },
	{ "workflow_xid_45",
	  "Follow the error reported before it; alone, it only means that a process ended." },
	{ "workflow_xid_48",
	  "Drain the node and reset the GPU; if row remapping fails or the error returns, replace it." },
	{ "xid_154", "Take the recovery action that the message names." },
};

bool xid_code_read(struct span text, bool *nvswitch, unsigned int *code)
{
	uint64_t number;

	*nvswitch = span_take(&text, SXID);
	if (!span_number(text, UINT_MAX, &number))
		return false;
	*code = (unsigned int)number;
	return true;
}

void xid_code_text(char *text, size_t size, bool nvswitch, unsigned int code)
{
	snprintf(text, size, "%s%u", nvswitch ? SXID : "", code);
}

const struct xid_catalog_entry *xid_catalog_find(unsigned int xid)
{
	if (xid < sizeof(catalog) / sizeof(catalog[0]) && catalog[xid].mnemonic)
		return &catalog[xid];
	return &unknown;
}

const char *xid_line_severity(const struct xid_line *line)
{
	if (line->fatality == XID_FATAL)
		return "fatal";
	if (line->fatality == XID_NONFATAL)
		return "warning";
	if (line->fatality == XID_CORRECTABLE)
		return "info";
	if (line->kind != XID_LINE_XID)
		return unknown.severity;
	if (line->code == XID_RECOVERY_ACTION && line->recovery[0])
		return strcmp(line->recovery, "None") == 0 ? "info" : "fatal";
	if (line->code == XID_CHANNEL_REMOVED && line->caused_by)
		return "info";
	return xid_catalog_find(line->code)->severity;
}

unsigned int xid_catalog_end(void)
{
	return sizeof(catalog) / sizeof(catalog[0]);
}

bool xid_text_decides(unsigned int xid)
{
	return (xid >= XID_NVLINK5_FIRST && xid <= XID_NVLINK5_LAST) || xid == XID_RECOVERY_ACTION;
}

const char *xid_action_advice(const char *action)
{
	for (size_t i = 0; action && i < sizeof(advice) / sizeof(advice[0]); i++) {
		if (strcmp(action, advice[i].action) == 0)
			return advice[i].sentence;
	}
	return "Look the code up in the vendor's Xid documentation.";
}
