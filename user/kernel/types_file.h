/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types of a loaded module that carries none, from a file: the module's own file, built with
 * debug information and given to pahole, or what objcopy keeps of it. Both have the loaded
 * module's build id.
 */
#ifndef XIDSCOPE_TYPES_FILE_H
#define XIDSCOPE_TYPES_FILE_H

#include <bpf/btf.h>
#include <stddef.h>

/*
 * Reads the types in the ELF file @path, together with the kernel's if they are based on those;
 * to be freed by btf__free() before kernel_types_forget(). Returns NULL if they are not those
 * of the loaded module @module, or cannot be read: then @reason, of @size bytes, says why.
 * @root is put before the paths of sysfs.
 */
struct btf *types_file_read(const char *path, const char *root, const char *module, char *reason,
			    size_t size);

#endif
