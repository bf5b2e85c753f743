/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types that BPF programs on a module's tracepoints read, as the module has them.
 *
 * libbpf looks for a type by its name, in the kernel first: code that is built in may use
 * the headers of a module. If the loaded module was built from others, that type is not
 * the one in memory. So the types are copied from where the module's tracepoints lead.
 */
#ifndef XIDSCOPE_MODULE_TYPES_H
#define XIDSCOPE_MODULE_TYPES_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

struct module_types {
	int fd; /* of a file in memory */
	char path[32]; /* for bpf_object_open_opts.btf_custom_path */
};

/*
 * Makes the file for the programs of @object, which is open: with each struct of theirs
 * to which the arguments of their tracepoints lead, or which the module itself has, and the
 * kernel's struct tcp_sock. @from: the module's types. Returns 0 or -errno.
 */
int module_types_copy(struct module_types *t, const struct btf *from,
		      const struct bpf_object *object);

/* The same without a file: copies those of the types @from. Returns NULL with errno set, or
 * types to be freed by btf__free(). */
struct btf *module_types_select(const struct btf *from, const struct bpf_object *object);

/* After a copy, whether it failed or not. */
void module_types_close(struct module_types *t);

#endif
