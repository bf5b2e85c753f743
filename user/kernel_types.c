// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The running kernel's own word on its types (BTF). */
#include "kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

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

int pci_name_offset(void)
{
	static const struct {
		const char *type, *member;
	} path[] = { { "pci_dev", "dev" },
		     { "device", "kobj" },
		     { "kobject", "name" } };
	struct btf *btf = btf__load_vmlinux_btf();
	int sum = 0;

	if (!btf)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]) && sum >= 0; i++) {
		int offset = member_offset(btf, path[i].type, path[i].member);

		sum = offset < 0 ? offset : sum + offset;
	}
	btf__free(btf);
	return sum;
}
