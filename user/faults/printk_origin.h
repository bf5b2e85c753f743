/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who called printk.
 *
 * Finds the first return address of a kernel stack that is beyond printk's functions, and whether it lies in a module of
 * the NVIDIA driver: only calls by the driver prove a fault.
 *
 * printk's functions and the limits of the kernel's text come from /proc/kallsyms, which is large and is read once.
 * Modules come from /proc/modules. If an address is in neither, it is code that the kernel has made, such as a trampoline,
 * and the next address counts. Ranges of unloaded modules are kept for a minute, for stacks that were taken before. */
#pragma once

#include "base/std.h"
#include "printk.h"

enum printk_origin {
	PRINTK_ORIGIN_UNKNOWN, /* the stack or the addresses are missing */
	PRINTK_ORIGIN_DRIVER,
	PRINTK_ORIGIN_PROCESS, /* it wrote to /dev/kmsg */
	PRINTK_ORIGIN_OTHER,
};

struct printk_function {
	uint64_t begin, end;
	enum printk_function_kind {
		PRINTK_INNER, /* it calls the tracepoint: a stack that is taken there begins with it */
		PRINTK_OUTER,
		PRINTK_WRITTEN, /* it prints what a process has written */
		PRINTK_LOST, /* no function of printk: it replaces a return address that is hidden */
	} kind;
};

struct module_range {
	uint64_t begin, end; /* its text, and what follows up to its whole size */
	bool driver;
	uint64_t from_ns, until_ns; /* CLOCK_MONOTONIC: not loaded before, and after */
	bool found; /* in the reading of /proc/modules that is in progress */
};

/* Begin with an empty struct. */
struct printk_origins {
	struct printk_function *functions;
	size_t function_count;
	uint64_t text_begin, text_end; /* of the kernel; both 0: unknown */
	struct module_range *modules;
	size_t module_count;
	uint64_t read_ns; /* when /proc/modules was read; 0: never */
	uint64_t driver; /* printk_driver_modules(), before that */
	int error; /* of the last reading, -errno; -EPERM: addresses are hidden */
};

/* Whether a stack is that of the printing code: the first of printk's functions on it is the one that calls the tracepoint. */
bool printk_origins_inner(const struct printk_origins *o, const uint64_t *stack, size_t depth);

/* Reads /proc/modules and, once the driver is loaded, printk's functions. @root is put before the
 * paths. Returns 0 or -errno, which is kept as o->error: then all origins are unknown. */
int printk_origins_read(struct printk_origins *o, const char *root, uint64_t now_ns);

/* Whether the modules must be read again before printk_origin() is called: they were read before the call of printk, and one
 * of these holds: the reading was a while ago; the call would be the driver's, whose range another module may have now; the
 * driver has been loaded since, which sysfs shows at less cost. */
bool printk_origins_stale(const struct printk_origins *o, const char *root, const uint64_t *stack,
			  size_t depth, uint64_t time_ns, uint64_t now_ns);

/* A number that changes whenever a module of the driver is loaded or unloaded. @root is put before the paths. */
uint64_t printk_driver_modules(const char *root);

/* Reads printk's functions, even if no module of the driver is loaded. Returns 0 or -errno. */
int printk_origins_read_functions(struct printk_origins *o, const char *root);

/* The origin of a call whose stack of @depth return addresses, the innermost first, was taken at @time_ns. */
enum printk_origin printk_origin(const struct printk_origins *o, const uint64_t *stack,
				 size_t depth, uint64_t time_ns);

/* The text of the driver's modules that are loaded, up to another module's. Returns how many, at most @max. */
size_t printk_origins_driver(const struct printk_origins *o, struct printk_range *ranges,
			     size_t max);

/* Whether the kernel shows who calls printk: 0 or -errno; -EPERM: addresses are hidden. @root is
 * put before the paths. */
int printk_origins_shown(const char *root);

void printk_origins_free(struct printk_origins *o);
