/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of the running kernel, from its BTF, for what CO-RE cannot do. */
#pragma once

#include <bpf/btf.h>

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

/* Where the types of a module are; and those of a loaded module without BTF, from a file: the module's own file, built with
 * debug information and given to pahole, or its debug file. Both have the build id of the loaded module. */

/* @root is put before the paths of sysfs and before the place: "", or a folder of a test. */

/* Whether the module is loaded, and not built in. */
bool module_is_loaded(const char *root, const char *name);

enum types_place {
	TYPES_NOWHERE, /* or the module is not loaded */
	TYPES_MODULE, /* the module's BTF */
	TYPES_KERNEL, /* the kernel's BTF: the module is built in */
	TYPES_FILE, /* a file at its place, whose content is not checked */
};

/* Where the types of sunrpc, nfs, nfsv4 or rpcrdma are. Reads the kernel's types if sunrpc is built in. */
enum types_place types_place_find(const char *root, const char *module);

/* Room for a build id in hexadecimal, NUL included. */
#define MODULE_BUILD_ID (2 * 64 + 1)

/* Writes the build id of the loaded module; "" and false if it has none. */
bool module_build_id(char id[MODULE_BUILD_ID], const char *root, const char *module);

/* Where debuggers look for the debug file of the loaded module @module, without @root before it:
 * /usr/lib/debug/.build-id/xx/yyyy.debug, of its build id in hexadecimal. Returns whether the module has one; otherwise
 * @path, of @size bytes, is "". */
bool types_file_place(char *path, size_t size, const char *root, const char *module);

/* A number that changes when the file @path comes, goes or is written; 0: it is not there, or on a file
 * system that may stop answering, from which none is read. @path NULL: the file at the place of the loaded module @module. */
uint64_t types_file_version(const char *path, const char *module);

/* Reads the types in the ELF file @path, together with the kernel's if they are based on those; to be freed by
 * btf__free() before kernel_types_forget(). Returns NULL if they are not those of the loaded module @module, or
 * cannot be read: then @reason, of @size bytes, says why. Only the build id is checked: names and numbers in the types
 * may be out of range, if they are based on those of another kernel. */
struct btf *types_file_read(const char *path, const char *root, const char *module, char *reason,
			    size_t size);
