/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel offers to an observer of GPU faults, from its own files.
 */
#ifndef XIDSCOPE_FAULT_OFFER_H
#define XIDSCOPE_FAULT_OFFER_H

#include <stdbool.h>

struct fault_offer {
	bool log; /* this process may read /dev/kmsg */
	bool console_event; /* there is a tracepoint printk:console ... */
	bool every_message; /* ... for all messages, shown or not (from 5.19) */
	int callers; /* 0: the kernel shows who calls printk; -errno: -EPERM if it hides that */
	bool kprobes;
	bool driver; /* nvidia is loaded */
	char driver_version[64]; /* "" if unknown */
	bool driver_event; /* it has the tracepoint nvidia_dev_xid */
	bool driver_function; /* it has the function nv_report_error */
};

/* @root is put before each path of the system; @release is the kernel's, as
 * uname -r prints it. */
void fault_offer_read(struct fault_offer *f, const char *root, const char *release);

/* Whether a module of the kernel has that symbol, by /proc/kallsyms, a large file. */
bool fault_offer_has_symbol(const char *root, const char *symbol);

#endif
