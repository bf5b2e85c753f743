// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GPU faults and other events of the kernel: entries by their labels. */
#include "snapshot/fault_counts.h"

#include "base/safe_text.h"
#include "snapshot/table.h"

const char *const fault_authority_names[AUTHORITIES] = {
	[AUTHORITY_LOG] = "log",
	[AUTHORITY_DRIVER] = "driver",
	[AUTHORITY_HOOK] = "hook",
};

const char *const fault_standing_names[STANDINGS] = {
	[STANDING_OPEN] = "open",
	[STANDING_SNOOZED] = "snoozed",
	[STANDING_ACKNOWLEDGED] = "acknowledged",
	[STANDING_HARMLESS] = "harmless",
	[STANDING_OVER] = "over",
};

const char *known_fault_name(char *text, const struct known_fault *f)
{
	const char *colon = strchr(f->what, ':');

	safe_format(text, FAULT_NAME_SIZE, "%s%s",
		    !strcmp(f->kind, "xid")  ? "Xid " :
		    !strcmp(f->kind, "sxid") ? "SXid " :
					       "",
		    colon ? colon + 1 : f->what);
	return text;
}

void fault_counts_free(struct fault_counts *counts)
{
	table_free_part(counts, offsetof(struct snapshot, faults));
	*counts = (struct fault_counts){};
}

#define GET(id, part, ...) table_get(&tables[id], part, (const void *const[]){ __VA_ARGS__ })

struct fault *snapshot_fault(struct fault_counts *counts, const struct fault *like)
{
	return table_get_like(&tables[TABLE_FAULTS], counts, like);
}

struct kernel_event *snapshot_kernel_event(struct fault_counts *counts, bool gpu_driver,
					   const char *kind, const char *device)
{
	return GET(TABLE_KERNEL_EVENTS, counts, &gpu_driver, kind, device);
}

struct gpu_info *snapshot_gpu(struct fault_counts *counts, const char *gpu)
{
	return GET(TABLE_GPUS, counts, gpu);
}

struct unverified_xid *snapshot_unverified(struct fault_counts *counts, const char *gpu,
					   unsigned int code)
{
	return GET(TABLE_UNVERIFIED, counts, gpu, &code);
}

struct gpu_recovery *snapshot_recovery(struct fault_counts *counts, const char *gpu,
				       const char *evidence)
{
	return GET(TABLE_RECOVERIES, counts, gpu, evidence);
}
