// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The running kernel's own word on its types (BTF). */
#include "kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

bool kernel_has_type(const char *root, const char *name)
{
	char path[PATH_MAX];
	struct btf *btf;
	bool found;

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	/* Where sysfs has none, libbpf knows other places. */
	btf = *root ? btf__parse(path, NULL) : btf__load_vmlinux_btf();
	if (!btf)
		return false;
	found = btf__find_by_name(btf, name) > 0;
	btf__free(btf);
	malloc_trim(0); /* back to the system at once */
	return found;
}

/* In bytes; -ENOENT if there is no such member. */
static int member_offset(const struct btf *btf, const char *type,
			 const char *member)
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

int pci_name_offsets(int *init_name, int *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int dev, init, kobj, in_kobj;

	if (!btf)
		return -ENOENT;
	dev = member_offset(btf, "pci_dev", "dev");
	init = member_offset(btf, "device", "init_name");
	kobj = member_offset(btf, "device", "kobj");
	in_kobj = member_offset(btf, "kobject", "name");
	btf__free(btf);
	if (dev < 0 || init < 0 || kobj < 0 || in_kobj < 0)
		return -ENOENT;
	*init_name = dev + init;
	*name = dev + kobj + in_kobj;
	return 0;
}
