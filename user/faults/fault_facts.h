/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel at hand offers to an observer of GPU faults, as its own files
 * tell it.
 */
#ifndef XIDSCOPE_FAULT_FACTS_H
#define XIDSCOPE_FAULT_FACTS_H

#include <stdbool.h>

struct fault_facts {
	bool log; /* this process may read /dev/kmsg */
	bool console_event; /* there is a tracepoint printk:console ... */
	bool every_message; /* ... for all messages, shown or not (from 5.19) */
	bool kprobes;
	bool driver; /* nvidia is loaded */
	char driver_version[64]; /* "" if it is not known */
	bool driver_event; /* it has the tracepoint nvidia_dev_xid */
	bool driver_function; /* it has the function nv_report_error */
};

/* Paths of the system have @root before them; @release is the kernel's, as
 * uname -r has it. */
void fault_look(struct fault_facts *f, const char *root, const char *release);

#endif
