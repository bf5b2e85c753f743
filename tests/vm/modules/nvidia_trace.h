/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tracepoint for Xids that NVIDIA's open modules have from 575 on. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(NVIDIA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVIDIA_TRACE_H

#include <linux/pci.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

TRACE_EVENT(nvidia_dev_xid, TP_PROTO(const struct pci_dev *pdev, u32 error_code, const char *msg),
	    TP_ARGS(pdev, error_code, msg),
	    TP_STRUCT__entry(__string(dev, pci_name(pdev)) __field(u32, error_code)
				     __string(msg, msg)),
	    TP_fast_assign(
#if LINUX_VERSION_CODE >= \
	KERNEL_VERSION(6, 10, 0) /* 2c92ca849fcc: the source is known from __string() */
		    __assign_str(dev); __assign_str(msg);
#else
		    __assign_str(dev, pci_name(pdev)); __assign_str(msg, msg);
#endif
		    __entry->error_code = error_code;),
	    TP_printk("Xid (PCI:%s): %u, %s", __get_str(dev), __entry->error_code, __get_str(msg)));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvidia_trace
#include <trace/define_trace.h>
