// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a member is found at its place in a kernel's types, also in structs and unions without a name, and that one
 * which is in a struct with a name, or nowhere, is not. */
#include <bpf/btf.h>

#include "unit.h"
#include "kernel/kernel_types.h"

static struct btf *types;

BEFORE_EACH()
{
	int number, inner, nameless, named;

	types = btf__new_empty();
	number = btf__add_int(types, "int", 4, 0);
	inner = btf__add_union(types, NULL, 4);
	btf__add_field(types, "deep", number, 0, 0);
	btf__add_field(types, "same_place", number, 0, 0);
	nameless = btf__add_struct(types, NULL, 8);
	btf__add_field(types, "second", number, 0, 0);
	btf__add_field(types, NULL, inner, 32, 0);
	named = btf__add_struct(types, "named", 4);
	btf__add_field(types, "hidden", number, 0, 0);
	btf__add_struct(types, "outer", 20);
	btf__add_field(types, "first", number, 0, 0);
	btf__add_field(types, NULL, nameless, 32, 0);
	btf__add_field(types, "inside", named, 96, 0);
	btf__add_field(types, "last", number, 128, 0);
}

AFTER_EACH()
{
	btf__free(types);
}

TEST(a_member_is_found_also_without_the_name_of_what_it_is_in)
{
	static const struct {
		const char *member;
		int offset;
	} cases[] = { { "first", 0 },        { "second", 4 },      { "deep", 8 },
		      { "same_place", 8 },   { "inside", 12 },     { "last", 16 },
		      { "hidden", -ENOENT }, { "absent", -ENOENT } };

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(kernel_types_offset(types, "outer", cases[i].member),
				 cases[i].offset);
	assert_true(kernel_types_offset(types, "no_such_type", "first") < 0);
}
