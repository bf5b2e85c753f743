// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "faults/printk_origin.h"

#include <sys/stat.h>

#include "base/file_text.h"
#include "base/span.h"

/* Those behind nvidia cannot be loaded without it. */
static const char *const driver_modules[] = {
	"nvswitch", "nvidia", "nvidia_modeset", "nvidia_uvm", "nvidia_drm", "nvidia_peermem",
};

enum function_kind {
	CALLER,
	INNER, /* it calls the tracepoint: a stack that is taken there begins with it */
	OUTER,
	WRITTEN, /* it prints what a process has written */
	MADE, /* code from which the kernel calls a function that is traced: it called nothing itself */
	LOST, /* it replaces a return address that is hidden, or has no name */
};

static const struct {
	const char *name;
	enum function_kind kind;
} named[] = {
#define TABLE_ROW(...) { __VA_ARGS__ },
#include "printk_functions.inc"
#undef TABLE_ROW
};

/* The inode of a module's folder in sysfs, which exists before the module runs, differs each time that it is loaded. */
uint64_t printk_driver_modules(const char *root)
{
	uint64_t sum = 0;
	struct stat st;

	ARRAY_EACH(name, driver_modules, COUNT(driver_modules)) {
		if (!stat(PATHF("%s/sys/module/%s", root, *name), &st))
			sum += st.st_ino;
		else if (!strcmp(*name, "nvidia"))
			break;
	}
	return sum;
}

/* A function's in a module is that of a caller: its name has a bracket. */
static enum function_kind kind_of(struct span name)
{
	struct span rest = name;

	/* "0xffffffffc0900010": it may lie in a module that has no symbols. */
	if (span_starts_with(name, "0x"))
		return LOST;
	if (span_take(&rest, "bpf_trampoline_") && span_number(rest, UINT64_MAX, &(uint64_t){ 0 }))
		return MADE;
	for (size_t i = 0; i < COUNT(named); i++) {
		rest = name;
		/* The compiler appends ".cold", ".isra.0" and so on to names of parts. */
		if (span_take(&rest, named[i].name) && (!span_left(rest) || *rest.at == '.'))
			return named[i].kind;
	}
	return CALLER;
}

/* Takes the next line, which is a name only if a newline ends it. */
static bool next_name(struct span *names, struct span *name)
{
	*name = (struct span){ names->at, memchr(names->at, '\n', span_left(*names)) };
	if (!name->end)
		return false;
	names->at = name->end + 1;
	return true;
}

/* "nv_printf [nvidia]". The last bracket is the kernel's; what stands before it comes from the module's file. */
static enum printk_origin origin_in_module(struct span name)
{
	struct span module = name;

	while (span_take_through(&module, " [")) {
	}
	module.end--;
	return module.at > name.at && ARRAY_FIND(d, driver_modules, COUNT(driver_modules),
						 span_is(module, *d)) ?
		       PRINTK_ORIGIN_DRIVER :
		       PRINTK_ORIGIN_OTHER;
}

/* Moves behind those that the tracepoint calls and the first of printk's functions. False: there is none, or it does not call the
 * tracepoint. */
static bool take_inner(struct span *names)
{
	struct span name;

	while (next_name(names, &name)) {
		switch (kind_of(name)) {
		case INNER:
			return true;
		case OUTER:
		case WRITTEN:
			return false;
		default:
			break;
		}
	}
	return false;
}

static struct span span_of_names(const struct printk_names *names)
{
	return (struct span){ names->text,
			      names->text + strnlen(names->text, sizeof(names->text)) };
}

bool printk_origin_shown(const struct printk_names *names)
{
	struct span rest = span_of_names(names);

	return take_inner(&rest);
}

enum printk_origin printk_origin(const struct printk_names *names)
{
	struct span rest = span_of_names(names), name;

	if (!take_inner(&rest))
		return PRINTK_ORIGIN_UNKNOWN;
	while (next_name(&rest, &name)) {
		if (span_ends_with(name, "]"))
			return origin_in_module(name);
		switch (kind_of(name)) {
		case WRITTEN:
			return PRINTK_ORIGIN_PROCESS;
		case LOST:
			return PRINTK_ORIGIN_UNKNOWN;
		case CALLER:
			return PRINTK_ORIGIN_OTHER;
		default:
			break;
		}
	}
	return PRINTK_ORIGIN_UNKNOWN;
}
