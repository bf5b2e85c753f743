/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of the running kernel, from its BTF, for what CO-RE cannot do. */
#pragma once

#include "base/std.h"

struct btf;

/* Frees the kernel's types: the functions below read them once and keep their 5 MB. */
void kernel_types_forget(void);

/* The types of the running kernel without those of its modules, until kernel_types_forget(); NULL: they cannot be read. */
struct btf *kernel_types(void);

/* Those of a loaded module together with the kernel's, to be freed by btf__free() before kernel_types_forget(); NULL: they cannot be read. */
struct btf *kernel_module_types(const char *module);

/* The name at @offset; "" if it is out of range: a file of types may be based on those of another kernel. */
const char *kernel_type_name(const struct btf *btf, uint32_t offset);

/* The number of a type in @btf, or -ENOENT. If both a module and the kernel have one of
 * that name, it is the module's: they may differ. @kind: a BTF_KIND_. */
int kernel_type_find(const struct btf *btf, const char *name, uint32_t kind);

/* Whether the kernel itself, without its modules, has the type @name. @root: "" for the
 * running kernel, otherwise the folder that holds another one's /sys. */
bool kernel_has_type(const char *root, const char *name);

/* Whether a tracepoint's programs can be preempted: then the kernel may miss an event, see rpc_record_at_release. Such
 * a kernel guards tracepoints by SRCU, for which it has a type. */
bool kernel_misses_events(void);

/* Offset in bytes of @member in the struct @type of @btf, or -ENOENT. */
int kernel_types_offset(const struct btf *btf, const char *type, const char *member);
