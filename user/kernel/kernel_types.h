/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types of the running kernel, from its BTF, for what CO-RE cannot do.
 */
#ifndef XIDSCOPE_KERNEL_TYPES_H
#define XIDSCOPE_KERNEL_TYPES_H

#include <stdbool.h>

/* Frees the kernel's types: the functions below read them once and keep their 5 MB. */
void kernel_types_forget(void);

/* Whether the kernel itself, without its modules, has the type @name. @root: "" for the
 * running kernel, otherwise the folder that holds another one's /sys. */
bool kernel_has_type(const char *root, const char *name);

/* Offset in bytes of @member in the struct @type of the running kernel, or of its
 * module @module if that is not NULL. -ENOENT: there is no such member, no BTF, or
 * no such module. */
int kernel_member_offset(const char *module, const char *type, const char *member);

#endif
