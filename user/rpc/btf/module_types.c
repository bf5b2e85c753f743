// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The types that BPF programs on a module's tracepoints read, as the module has them. */
#include "rpc/btf/btf.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/span.h"
#include "kernel/kernel_types.h"

/* Deeper than any struct within structs: a loop in the types, which would be damaged. */
#define MAX_DEPTH 64

struct copying {
	const struct btf *from; /* the module's types; those of the kernel are part of them */
	struct btf *to;
	int *copies; /* by number in @from: the number in @to, or 0 */
};

static int copy_type(struct copying *c, __u32 id, int depth);

static const char *name_of(const struct copying *c, __u32 offset)
{
	return kernel_type_name(c->from, offset);
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

typedef char struct_name[64];

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The names of the programs' structs, sorted. A name may have a flavor: "name___". Returns how many. */
static size_t names_of(const struct btf *wanted, struct_name *names)
{
	size_t count = 0;

	for (__u32 i = 1; i < btf__type_cnt(wanted); i++) {
		const struct btf_type *t = btf__type_by_id(wanted, i);
		struct span rest = span_of(btf__name_by_offset(wanted, t->name_off)), own = rest;

		if (span_take_through(&rest, "___"))
			own.end = rest.at - strlen("___");
		if (btf_is_struct(t) && span_left(own) &&
		    span_copy(own, names[count], sizeof(*names)))
			count++;
	}
	qsort(names, count, sizeof(*names), compare_names);
	return count;
}

/* Copies each struct of these names from @id to before @end that has no copy yet. */
static int copy_named(struct copying *c, const struct_name *names, size_t count, __u32 id,
		      __u32 end)
{
	for (; id < end; id++) {
		const struct btf_type *t = btf__type_by_id(c->from, id);
		const char *name = name_of(c, t->name_off);

		if (btf_is_struct(t) &&
		    bsearch(name, names, count, sizeof(*names), compare_names) &&
		    btf__find_by_name_kind(c->to, name, BTF_KIND_STRUCT) < 0 &&
		    copy_type(c, id, 0) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Each struct that the programs name, the module's before the kernel's: one look at all types, of which there are 100,000. */
static int copy_wanted(struct copying *c, const struct btf *wanted)
{
	const struct btf *base = btf__base_btf(c->from);
	__u32 own = base ? btf__type_cnt(base) : 1;
	struct_name *names = calloc(btf__type_cnt(wanted), sizeof(*names));
	int err = -ENOMEM;

	if (names) {
		size_t count = names_of(wanted, names);

		err = copy_named(c, names, count, own, btf__type_cnt(c->from)) ?:
			      copy_named(c, names, count, 1, own);
	}
	free(names);
	return err;
}

struct btf *module_types_select(const struct btf *from, const struct bpf_object *object)
{
	const struct btf *wanted = bpf_object__btf(object);
	struct copying c = { .from = from };
	int err = -ENOMEM;

	c.to = btf__new_empty();
	c.copies = calloc(btf__type_cnt(from), sizeof(*c.copies));
	if (c.to && c.copies)
		err = wanted ? copy_wanted(&c, wanted) : -EINVAL;
	free(c.copies);
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
