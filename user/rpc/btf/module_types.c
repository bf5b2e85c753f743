// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The types that BPF programs on a module's tracepoints read, as the module has them. */
#include "rpc/btf/btf.h"

#include <sys/mman.h>
#include <unistd.h>

#include "kernel/kernel_types.h"

/* Deeper than any struct within structs: a loop in the types, which would be damaged. */
#define MAX_DEPTH 64

struct copying {
	const struct btf *from; /* the module's types; those of the kernel are part of them */
	const struct btf *wanted; /* the programs' own: names of structs */
	struct btf *to;
	int *copies; /* by number in @from: the number in @to, or 0 */
	__u32 *found; /* structs to copy: numbers in @from */
	size_t count, done; /* of @found */
	bool *seen; /* by number in @from: it is in @found */
};

static int copy_type(struct copying *c, __u32 id, int depth);

static const char *name_of(const struct copying *c, __u32 offset)
{
	return kernel_type_name(c->from, offset);
}

/* Whether the programs have a struct of that name, or of that name and a flavor: "name___". */
static bool is_wanted(const struct copying *c, const struct btf_type *struct_type)
{
	const char *name = name_of(c, struct_type->name_off);
	size_t len = strlen(name);

	for (__u32 id = 1; id < btf__type_cnt(c->wanted); id++) {
		const struct btf_type *t = btf__type_by_id(c->wanted, id);
		const char *own = btf__name_by_offset(c->wanted, t->name_off);

		if (btf_is_struct(t) && len && !strncmp(own, name, len) &&
		    (!own[len] || !strncmp(own + len, "___", 3)))
			return true;
	}
	return false;
}

static void add_struct(struct copying *c, __u32 id)
{
	c->seen[id] = true;
	c->found[c->count++] = id;
}

/* Follows a pointer to what it points to in the end. */
static void find_struct(struct copying *c, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);

	for (int i = 0; t && i < MAX_DEPTH; i++) {
		if (btf_is_ptr(t) || btf_is_mod(t) || btf_is_typedef(t))
			id = t->type;
		else if (btf_is_array(t))
			id = btf_array(t)->type;
		else
			break;
		t = btf__type_by_id(c->from, id);
	}
	if (t && btf_is_struct(t) && !c->seen[id] && is_wanted(c, t))
		add_struct(c, id);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int copy_composite(struct copying *c, const struct btf_type *t, int depth)
{
	const struct btf_member *m = btf_members(t);
	int id, err = 0;

	/* Types of members first: a member can be added to the last type only. */
	for (__u32 i = 0; i < btf_vlen(t); i++)
		if (copy_type(c, m[i].type, depth) < 0)
			return -EINVAL;
	id = (btf_is_struct(t) ? btf__add_struct : btf__add_union)(c->to, name_of(c, t->name_off),
								   t->size);
	for (__u32 i = 0; id >= 0 && !err && i < btf_vlen(t); i++)
		err = btf__add_field(c->to, name_of(c, m[i].name_off), c->copies[m[i].type],
				     btf_member_bit_offset(t, i), btf_member_bitfield_size(t, i));
	return err ?: id;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int copy_array(struct copying *c, const struct btf_array *a, int depth)
{
	int element = copy_type(c, a->type, depth), index;

	/* Not the other one as well: in types that contain themselves each depth would double the work. */
	if (element < 0)
		return -EINVAL;
	index = copy_type(c, a->index_type, depth);
	return index < 0 ? -EINVAL : btf__add_array(c->to, index, element, (int)a->nelems);
}

/* A number or an enum, which names no other type. libbpf would follow a name that is out of range. */
static int copy_number(struct copying *c, const struct btf_type *t)
{
	bool known = btf__str_by_offset(c->from, t->name_off);

	for (__u32 i = 0; btf_is_any_enum(t) && known && i < btf_vlen(t); i++)
		known = btf__str_by_offset(c->from, btf_is_enum(t) ? btf_enum(t)[i].name_off :
								     btf_enum64(t)[i].name_off);
	return known ? btf__add_type(c->to, c->from, t) : -EINVAL;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int copy_new(struct copying *c, const struct btf_type *t, int depth)
{
	int id;

	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
		/* The programs follow it by the name of the struct that they expect there. */
		find_struct(c, t->type);
		return btf__add_ptr(c->to, 0);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_composite(c, t, depth);
	case BTF_KIND_ARRAY:
		return copy_array(c, btf_array(t), depth);
	case BTF_KIND_TYPEDEF:
		id = copy_type(c, t->type, depth);
		return id < 0 ? id : btf__add_typedef(c->to, name_of(c, t->name_off), id);
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return copy_type(c, t->type, depth);
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return copy_number(c, t);
	default:
		return -EINVAL;
	}
}

/* Returns the number of the copy, or -errno. @depth bounds the recursion. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static int copy_type(struct copying *c, __u32 id, int depth)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);
	int copy;

	if (!id || (t && c->copies[id]))
		return id ? c->copies[id] : 0;
	if (!t || depth > MAX_DEPTH)
		return -EINVAL;
	copy = copy_new(c, t, depth + 1);
	if (copy > 0)
		c->copies[id] = copy;
	return copy;
}

/* The arguments of @tracepoint, if the types describe it. */
static void find_arguments(struct copying *c, const char *tracepoint)
{
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = kernel_type_find(c->from, name, BTF_KIND_TYPEDEF);
	t = id < 0 ? NULL : btf__type_by_id(c->from, (__u32)id);
	t = t ? btf__type_by_id(c->from, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(c->from, t->type) : NULL;
	for (int i = 0; t && btf_is_func_proto(t) && i < btf_vlen(t); i++)
		find_struct(c, btf_params(t)[i].type);
}

static bool is_found(const struct copying *c, const struct btf_type *struct_type)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct btf_type *t = btf__type_by_id(c->from, c->found[i]);

		if (!strcmp(name_of(c, t->name_off), name_of(c, struct_type->name_off)))
			return true;
	}
	return false;
}

static void add_if_wanted(struct copying *c, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);

	if (btf_is_struct(t) && is_wanted(c, t) && !is_found(c, t))
		add_struct(c, id);
}

/* The kernel's own structs to which no pointer leads: tcp_sock, of which a struct sock is the beginning (TCP is never a
 * module), that of a process, those that lead from a process' number and from a page to a control group, and a file's name. */
static void find_kernels(struct copying *c)
{
	static const char *const names[] = { "tcp_sock", "task_struct", "xa_node",    "page",
					     "folio",    "mem_cgroup",  "obj_cgroup", "dentry" };

	for (size_t i = 0; i < COUNT(names); i++) {
		int id = kernel_type_find(c->from, names[i], BTF_KIND_STRUCT);

		if (id > 0)
			add_if_wanted(c, (__u32)id);
	}
}

static int copy_found(struct copying *c)
{
	for (; c->done < c->count; c->done++)
		if (copy_type(c, c->found[c->done], 0) < 0)
			return -EINVAL;
	return 0;
}

static int copy_all(struct copying *c, const struct bpf_object *object)
{
	const struct btf *base = btf__base_btf(c->from);
	struct bpf_program *program;
	const char *section;
	int err;

	bpf_object__for_each_program(program, object) {
		section = strchr(bpf_program__section_name(program), '/');
		if (section)
			find_arguments(c, section + 1);
	}
	err = copy_found(c);
	if (err)
		return err;
	/* The module's structs that contain others, so that no pointer leads to them. */
	for (__u32 id = base ? btf__type_cnt(base) : 1; id < btf__type_cnt(c->from); id++)
		add_if_wanted(c, id);
	find_kernels(c);
	return copy_found(c);
}

struct btf *module_types_select(const struct btf *from, const struct bpf_object *object)
{
	struct copying c = { .from = from, .wanted = bpf_object__btf(object) };
	__u32 types = btf__type_cnt(from);
	int err = -ENOMEM;

	c.to = btf__new_empty();
	c.copies = calloc(types, sizeof(*c.copies));
	c.found = calloc(types, sizeof(*c.found));
	c.seen = calloc(types, sizeof(*c.seen));
	if (c.to && c.copies && c.found && c.seen)
		err = c.wanted ? copy_all(&c, object) : -EINVAL;
	free(c.copies);
	free(c.found);
	free(c.seen);
	if (!err)
		return c.to;
	btf__free(c.to);
	errno = -err;
	return NULL;
}

int module_types_write(struct module_types *t, struct btf *types)
{
	__u32 size = 0;
	const void *bytes = types ? btf__raw_data(types, &size) : NULL;
	int err = 0;

	if (bytes)
		t->fd = memfd_create("types", MFD_CLOEXEC);
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", t->fd);
	if (t->fd < 0)
		err = -errno;
	else if (pwrite(t->fd, bytes, size, 0) != (ssize_t)size)
		err = -EIO;
	btf__free(types);
	return err;
}

void module_types_close(struct module_types *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
