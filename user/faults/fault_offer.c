// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel offers to an observer of GPU faults. */
#include "faults/fault_observer.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/span.h"
#include "faults/printk_origin.h"
#include "kernel/kernel_types.h"
#include "kernel/trace.h"

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar ..." in
 * the file that is older than /sys/module/nvidia/version. */
static void read_version(struct fault_offer *f, const char *root)
{
	char line[256];
	struct span s = { line, line };

	if (file_first_line(PATHF("%s/sys/module/nvidia/version", root), f->driver_version,
			    sizeof(f->driver_version)))
		return;
	file_first_line(PATHF("%s/proc/driver/nvidia/version", root), line, sizeof(line));
	s.end = line + strlen(line);
	if (!span_take_through(&s, "Kernel Module"))
		return;
	span_take_until(&s, "0123456789");
	span_copy(span_take_until(&s, " "), f->driver_version, sizeof(f->driver_version));
}

void fault_offer_read(struct fault_offer *f, const char *root, int every_message)
{
	char tracefs[PATH_MAX / 2];

	/* access() knows nothing of dmesg_restrict. */
	OPEN_FILE kmsg = open(PATHF("%s/dev/kmsg", root), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	*f = (struct fault_offer){ .every_message = every_message };
	f->log = kmsg >= 0;
	f->console_event = kernel_has_type(root, "btf_trace_console");
	f->callers = printk_origins_shown(root);
	f->driver = !access(PATHF("%s/sys/module/nvidia", root), F_OK);
	if (f->driver)
		read_version(f, root);
	f->driver_event = tracefs_find(root, tracefs, sizeof(tracefs)) == TRACEFS_MOUNTED &&
			  !access(PATHF("%s/events/nvidia/nvidia_dev_xid", tracefs), F_OK);
	f->authority = every_message > 0 && !f->callers ? AUTHORITY_HOOK :
		       f->driver_event                  ? AUTHORITY_DRIVER :
							  AUTHORITY_LOG;
}
