// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The structured half of the test driver: what every Xid passes through besides its text. In a file of its own, as in
 * NVIDIA's driver, so that nv_report_error is called for real and can be probed. Absent from the text build. */
#include <linux/slab.h>
#include "driver.h"

#ifdef DRIVER_TRACEPOINT
#define CREATE_TRACE_POINTS
#include "nvidia_trace.h"
#include "nvswitch_trace.h"
#else
#define trace_nvidia_dev_xid(dev, number, message)
#define trace_nvswitch_dev_sxid(dev, number, message)
#endif

noinline void nv_report_error(struct pci_dev *dev, u32 error_number, const char *format, va_list ap)
{
	char *message = kvasprintf(GFP_ATOMIC, format, ap);

	if (!message)
		return;
	trace_nvidia_dev_xid(dev, error_number, message);
	kfree(message);
}

noinline void nvswitch_report_error(struct pci_dev *dev, u32 error_number, const char *format,
				    va_list ap)
{
	char *message = kvasprintf(GFP_ATOMIC, format, ap);

	if (!message)
		return;
	trace_nvswitch_dev_sxid(dev, error_number, message);
	kfree(message);
}
