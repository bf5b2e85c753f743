// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which types the programs of the source btf are relocated by, if a module's differ from the kernel's. */
#include "rpc/btf/btf.h"

#include <errno.h>

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

/* A kernel that knows these structs without having the tracepoints. */
static struct btf *make_kernel(int *task)
{
	struct btf *kernel = btf__new_empty();

	assert_int_equal(btf__add_int(kernel, "u64", 8, 0), NUMBER);
	*task = add_task(kernel, add_client(kernel, 0), 0);
	return kernel;
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

static struct btf *select_types(const struct btf *from)
{
	struct rpc_bpf *bpf = rpc_bpf__open();
	struct btf *selected;

	assert_non_null(bpf);
	selected = module_types_select(from, bpf->obj);
	rpc_bpf__destroy(bpf);
	return selected;
}

TEST(types_are_those_of_the_modules_tracepoints)
{
	int task;
	struct btf *kernel = make_kernel(&task), *module = btf__new_empty_split(kernel);
	struct btf *selected;

	add_tracepoint(module, "btf_trace_rpc_task_sleep",
		       add_task(module, add_client(module, 24), 8));
	selected = select_types(module);
	assert_non_null(selected);
	assert_int_equal(offset_of(selected, "rpc_task", "tk_start"), 16);
	assert_int_equal(offset_of(selected, "rpc_clnt", "cl_prog"), 24);
	btf__free(selected);
	btf__free(module);
	btf__free(kernel);
}

TEST(types_are_the_kernels_if_the_module_shares_them)
{
	int task;
	struct btf *kernel = make_kernel(&task), *module = btf__new_empty_split(kernel);
	struct btf *selected;

	add_tracepoint(module, "btf_trace_rpc_task_sleep", task);
	selected = select_types(module);
	assert_non_null(selected);
	assert_int_equal(offset_of(selected, "rpc_task", "tk_start"), 8);
	assert_int_equal(offset_of(selected, "rpc_clnt", "cl_prog"), 0);
	btf__free(selected);
	btf__free(module);
	btf__free(kernel);
}

TEST(a_struct_is_found_to_which_no_pointer_leads)
{
	int task;
	struct btf *kernel = make_kernel(&task), *module = btf__new_empty_split(kernel);
	struct btf *selected;

	add_tracepoint(module, "btf_trace_rpc_task_sleep", task);
	btf__add_struct(module, "rb_root", 8);
	assert_false(btf__add_field(module, "rb_node", NUMBER, 0, 0));
	add_task(module, add_client(module, 24), 8); /* that of the tracepoint is another one */
	selected = select_types(module);
	assert_non_null(selected);
	assert_int_equal(offset_of(selected, "rb_root", "rb_node"), 0);
	assert_int_equal(offset_of(selected, "rpc_task", "tk_start"), 8);
	btf__free(selected);
	btf__free(module);
	btf__free(kernel);
}

TEST(types_of_a_damaged_module_are_refused)
{
	struct btf *module = btf__new_empty();
	int task;

	assert_int_equal(btf__add_int(module, "u64", 8, 0), NUMBER);
	task = btf__add_struct(module, "rpc_task", 8);
	assert_false(btf__add_field(module, "itself", task, 0, 0));
	add_tracepoint(module, "btf_trace_rpc_task_sleep", task);
	assert_null(select_types(module));
	assert_int_equal(errno, EINVAL);
	btf__free(module);
}

/* Each depth of the loop must not take twice as long as the one before. */
TEST(types_that_contain_themselves_twice_are_refused_at_once)
{
	struct btf *module = btf__new_empty();
	int task, array;

	assert_int_equal(btf__add_int(module, "u64", 8, 0), NUMBER);
	task = btf__add_struct(module, "rpc_task", 8);
	array = task + 1;
	assert_false(btf__add_field(module, "themselves", array, 0, 0));
	assert_int_equal(btf__add_array(module, task, task, 4), array);
	add_tracepoint(module, "btf_trace_rpc_task_sleep", task);
	assert_null(select_types(module));
	assert_int_equal(errno, EINVAL);
	btf__free(module);
}

TEST(a_modules_own_type_comes_before_the_kernels)
{
	int task, own;
	struct btf *kernel = make_kernel(&task), *module = btf__new_empty_split(kernel);

	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_STRUCT), task);
	own = add_task(module, add_client(module, 0), 8);
	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_STRUCT), own);
	assert_int_equal(kernel_type_find(kernel, "rpc_task", BTF_KIND_STRUCT), task);
	assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_TYPEDEF), -ENOENT);
	btf__free(module);
	btf__free(kernel);
}
