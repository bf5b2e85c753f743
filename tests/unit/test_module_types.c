// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which types the programs of the source btf are relocated by, if a module's differ from the kernel's. */
#include "rpc/btf/btf.h"

#include "kernel/kernel_types.h"
#include "rpc.skel.h"
#include "unit.h"

#define NUMBER 1 /* the first type, a number of eight bytes */

/* A struct rpc_clnt with @pad bytes before cl_prog. */
static int add_client(struct btf *btf, uint32_t pad)
{
	int id = btf__add_struct(btf, "rpc_clnt", pad + 8);

	assert_false(btf__add_field(btf, "cl_prog", NUMBER, pad * 8, 0));
	return id;
}

/* A struct rpc_task with a pointer to @client, and @pad bytes before tk_start. */
static int add_task(struct btf *btf, int client, uint32_t pad)
{
	int pointer = btf__add_ptr(btf, client);
	int id = btf__add_struct(btf, "rpc_task", pad + 16);

	assert_false(btf__add_field(btf, "tk_client", pointer, 0, 0));
	assert_false(btf__add_field(btf, "tk_start", NUMBER, (pad + 8) * 8, 0));
	return id;
}

static void add_tracepoint(struct btf *btf, const char *name, int task)
{
	int pointer = btf__add_ptr(btf, btf__add_const(btf, task));
	int prototype = btf__add_func_proto(btf, 0);

	assert_false(btf__add_func_param(btf, "task", pointer));
	assert_true(btf__add_typedef(btf, name, btf__add_ptr(btf, prototype)) > 0);
}

/* A kernel that knows these structs without having the tracepoints, its task, a module, and types that were selected. */
static struct btf *kernel, *module, *selected;
static int task;

BEFORE_EACH()
{
	kernel = btf__new_empty();
	assert_int_equal(btf__add_int(kernel, "u64", 8, 0), NUMBER);
	task = add_task(kernel, add_client(kernel, 0), 0);
	module = btf__new_empty_split(kernel);
}

AFTER_EACH()
{
	btf__free(selected);
	btf__free(module);
	btf__free(kernel);
	selected = NULL;
}

/* The offset in bytes of a struct's member by name; the struct is there once. */
static int offset_of(const struct btf *btf, const char *type, const char *member)
{
	int offset = -1, structs = 0;

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!btf_is_struct(t) || strcmp(btf__name_by_offset(btf, t->name_off), type) != 0)
			continue;
		structs++;
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
				offset = (int)btf_member_bit_offset(t, i) / 8;
	}
	assert_int_equal(structs, 1);
	return offset;
}

static void select_types(void)
{
	struct rpc_bpf *bpf = rpc_bpf__open();

	assert_non_null(bpf);
	selected = module_types_select(module, bpf->obj);
	rpc_bpf__destroy(bpf);
}

/* The members are at these offsets in the types that are selected for a module with a tracepoint of @of. */
static void assert_selected(int of, int start, int program)
{
	add_tracepoint(module, "btf_trace_rpc_task_sleep", of);
	select_types();
	assert_non_null(selected);
	assert_int_equal(offset_of(selected, "rpc_task", "tk_start"), start);
	assert_int_equal(offset_of(selected, "rpc_clnt", "cl_prog"), program);
}

TEST(types_are_those_of_the_modules_tracepoints)
{
	assert_selected(add_task(module, add_client(module, 24), 8), 16, 24);
}

TEST(types_are_the_kernels_if_the_module_shares_them)
{
	assert_selected(task, 8, 0);
}

TEST(a_struct_is_found_to_which_no_pointer_leads)
{
	btf__add_struct(module, "rb_root", 8);
	assert_false(btf__add_field(module, "rb_node", NUMBER, 0, 0));
	add_task(module, add_client(module, 24), 8); /* that of the tracepoint is another one */
	assert_selected(task, 8, 0);
	assert_int_equal(offset_of(selected, "rb_root", "rb_node"), 0);
}

/* A module of its own, whose task has a member @name: itself, or @array of it. */
static void assert_refused(const char *name, bool array)
{
	btf__free(module);
	module = btf__new_empty();
	assert_int_equal(btf__add_int(module, "u64", 8, 0), NUMBER);
	task = btf__add_struct(module, "rpc_task", 8);
	assert_false(btf__add_field(module, name, task + array, 0, 0));
	if (array)
		assert_int_equal(btf__add_array(module, task, task, 4), task + 1);
	add_tracepoint(module, "btf_trace_rpc_task_sleep", task);
	select_types();
	assert_null(selected);
	assert_int_equal(errno, EINVAL);
}

TEST(types_of_a_damaged_module_are_refused)
{
	assert_refused("itself", false);
}

/* Each depth of the loop must not take twice as long as the one before. */
TEST(types_that_contain_themselves_twice_are_refused_at_once)
{
	assert_refused("themselves", true);
}

TEST(a_modules_own_type_comes_before_the_kernels)
{
	int own;

	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_STRUCT), task);
	own = add_task(module, add_client(module, 0), 8);
	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_STRUCT), own);
	assert_int_equal(kernel_type_find(kernel, "rpc_task", BTF_KIND_STRUCT), task);
	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_TYPEDEF), -ENOENT);
}
