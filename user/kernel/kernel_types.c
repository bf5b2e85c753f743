// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The running kernel's own word on its types (BTF). */
#include "kernel/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* The kernel's types, modules aside: 5 MB that take 30 ms to read. */
static struct btf *types;

static const struct btf *kernel_types(void)
{
	if (!types)
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
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	btf = btf__parse(path, NULL);
	found = has_type(btf, name);
	btf__free(btf);
	return found;
}

/* In bytes; -ENOENT if there is no such member. */
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

int pci_name_offsets(int *init_name, int *name)
{
	const struct btf *btf = kernel_types();
	int dev, init, kobj, in_kobj;

	if (!btf)
		return -ENOENT;
	dev = member_offset(btf, "pci_dev", "dev");
	init = member_offset(btf, "device", "init_name");
	kobj = member_offset(btf, "device", "kobj");
	in_kobj = member_offset(btf, "kobject", "name");
	if (dev < 0 || init < 0 || kobj < 0 || in_kobj < 0)
		return -ENOENT;
	*init_name = dev + init;
	*name = dev + kobj + in_kobj;
	return 0;
}

int session_state_offset(void)
{
	struct btf *btf;
	int queue, state;

	if (!kernel_types())
		return 0;
	btf = btf__load_module_btf("nfsv4", types);
	if (!btf)
		return 0;
	queue = member_offset(btf, "nfs4_slot_table", "slot_tbl_waitq");
	state = member_offset(btf, "nfs4_slot_table", "slot_tbl_state");
	btf__free(btf);
	return queue < 0 || state < 0 ? 0 : state - queue;
}
