// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The types of the running kernel, from its BTF. */
#include "kernel/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* The kernel's types without those of modules: 5 MB, 30 ms to read. */
static struct btf *types;

static const struct btf *kernel_types(void)
{
	/* If the file is missing, libbpf would print a message of its own. */
	if (!types && !access(KERNEL_BTF, R_OK))
		types = btf__load_vmlinux_btf();
	return types;
}

void kernel_types_forget(void)
{
	btf__free(types);
	types = NULL;
	malloc_trim(0);
}

static bool has_type(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name(btf, name) > 0;
}

bool kernel_has_type(const char *root, const char *name)
{
	char path[PATH_MAX];
	struct btf *btf;
	bool found;

	if (!*root)
		return has_type(kernel_types(), name);
	snprintf(path, sizeof(path), "%s" KERNEL_BTF, root);
	btf = btf__parse(path, NULL);
	found = has_type(btf, name);
	btf__free(btf);
	return found;
}

static int member_offset(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		if (!strcmp(btf__name_by_offset(btf, m->name_off), member))
			return (int)btf_member_bit_offset(t, (__u32)i) / 8;
	}
	return -ENOENT;
}

int kernel_member_offset(const char *module, const char *type, const char *member)
{
	struct btf *btf;
	int offset;

	if (!kernel_types())
		return -ENOENT;
	if (!module)
		return member_offset(types, type, member);
	btf = btf__load_module_btf(module, types);
	offset = btf ? member_offset(btf, type, member) : -ENOENT;
	btf__free(btf);
	return offset;
}
