/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who called printk: finds the first function of a kernel stack that is beyond printk's own, and whether it is in a module
 * of the NVIDIA driver. Only calls by the driver prove a fault. */
#pragma once

#include "base/std.h"
#include "printk.h"

enum printk_origin {
	PRINTK_ORIGIN_UNKNOWN, /* names are missing */
	PRINTK_ORIGIN_DRIVER,
	PRINTK_ORIGIN_PROCESS, /* it wrote to /dev/kmsg */
	PRINTK_ORIGIN_OTHER,
};

/* Whether a stack is that of the printing code: the first of printk's functions on it is the one that calls the tracepoint. */
bool printk_origin_shown(const struct printk_names *names);

/* The origin of a call. */
enum printk_origin printk_origin(const struct printk_names *names);

/* A number that changes whenever a module of the driver is loaded or unloaded; 0: none is loaded. @root is put before the paths. */
uint64_t printk_driver_modules(const char *root);
