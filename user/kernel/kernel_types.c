// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/kernel_types.h"

#include <bpf/btf.h>
#include <malloc.h>
#include <unistd.h>

#include "base/file_text.h"

#define BTF_FOLDER "/sys/kernel/btf/"
#define KERNEL_BTF BTF_FOLDER "vmlinux"

/* The kernel's types without those of modules: 5 MB, 30 ms to read. */
static struct btf *types;

struct btf *kernel_types(void)
{
	/* If the file is missing, libbpf would print a message of its own. */
	if (!types && !access(KERNEL_BTF, R_OK))
		types = btf__load_vmlinux_btf();
	return types;
}

struct btf *kernel_module_types(const char *module)
{
	const char *path = PATHF(BTF_FOLDER "%s", module);

	return kernel_types() && !access(path, R_OK) ? btf__parse_split(path, types) : NULL;
}

const char *kernel_type_name(const struct btf *btf, uint32_t offset)
{
	return btf__name_by_offset(btf, offset) ?: "";
}

static int find_type(const struct btf *btf, const char *name, __u32 kind, __u32 begin, __u32 end)
{
	const struct btf_type *t;

	for (__u32 id = begin; id < end; id++) {
		t = btf__type_by_id(btf, id);
		if (btf_kind(t) == kind && !strcmp(kernel_type_name(btf, t->name_off), name))
			return (int)id;
	}
	return -ENOENT;
}

int kernel_type_find(const struct btf *btf, const char *name, __u32 kind)
{
	const struct btf *base = btf__base_btf(btf);
	__u32 own = base ? btf__type_cnt(base) : 1;
	int id = find_type(btf, name, kind, own, btf__type_cnt(btf));

	return id < 0 ? find_type(btf, name, kind, 1, own) : id;
}

void kernel_types_forget(void)
{
	btf__free(types);
	types = NULL;
	malloc_trim(0);
}

static bool has_type(const struct btf *btf, const char *name)
{
	int id = btf ? btf__find_by_name(btf, name) : -ENOENT;

	/* A type that is only named says nothing. */
	return id > 0 && !btf_is_fwd(btf__type_by_id(btf, (__u32)id));
}

bool kernel_has_type(const char *root, const char *name)
{
	struct btf *btf;
	bool found;

	if (!*root)
		return has_type(kernel_types(), name);
	btf = btf__parse(PATHF("%s" KERNEL_BTF, root), NULL);
	found = has_type(btf, name);
	btf__free(btf);
	return found;
}

bool kernel_misses_events(void)
{
	static int misses = -1; /* not known */

	if (misses < 0)
		misses = kernel_has_type("", "class_srcu_fast_notrace_t");
	return misses;
}

/* Also in structs and unions without a name, @depth deep. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static int member_offset(const struct btf *btf, __u32 id, const char *member, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int inside;

	for (int i = 0; t && depth && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = kernel_type_name(btf, m->name_off);
		int offset = (int)btf_member_bit_offset(t, (__u32)i) / 8;

		if (!strcmp(name, member))
			return offset;
		inside = *name ? -ENOENT : member_offset(btf, m->type, member, depth - 1);
		if (inside >= 0)
			return offset + inside;
	}
	return -ENOENT;
}

int kernel_types_offset(const struct btf *btf, const char *type, const char *member)
{
	int id = kernel_type_find(btf, type, BTF_KIND_STRUCT);

	return id < 0 ? -ENOENT : member_offset(btf, (__u32)id, member, 4);
}
