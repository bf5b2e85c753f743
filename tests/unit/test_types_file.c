// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which files are accepted for the types of a loaded module, and which types the programs of the source btf are
 * relocated by, if a module's differ from the kernel's. */
#include <bpf/btf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_up_module.h"
#include "unit.h"
#include "rpc/btf/btf.h"
#include "kernel/kernel_types.h"
#include "rpc.skel.h"

static struct btf *types; /* with the struct of a task */

BEFORE_EACH()
{
	types = btf__new_empty();
	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
}

AFTER_EACH()
{
	btf__free(types);
}

/* Reads the file in the made-up tree: NULL, or why it is refused. */
static const char *refused(const char *path)
{
	static char reason[512];
	struct btf *read = types_file_read(formatted("%s%s", root, path), root, "sunrpc", reason,
					   sizeof(reason));

	if (!read)
		return reason;
	assert_true(btf__find_by_name_kind(read, "rpc_task", BTF_KIND_STRUCT) > 0);
	btf__free(read);
	return NULL;
}

TEST(only_types_of_the_loaded_module_are_read)
{
	static const char *const refusals[][2] = {
		{ "/other.ko",
		  "its build id is not that of the loaded module: it is another build" },
		{ "/without.ko", "it has no types: pahole has not been run on it" },
		{ "/text", "it is not an ELF file" },
		{ "/empty", "it is not an ELF file" },
		{ "/absent", "No such file or directory" },
		{ "/sys", "it is not a regular file" },
		{ "/sunrpc.ko", "others than root may write to it" },
	};

	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	assert_null(refused("/sunrpc.ko"));
	put_module("/other.ko", OTHER_NOTE, types);
	put_module("/without.ko", NOTE, NULL);
	put("/text", "no ELF file, whose text is longer than the header of one would be");
	put("/empty", "");
	assert_false(chmod("sunrpc.ko", 0646));
	for (size_t i = 0; i < COUNT(refusals); i++)
		assert_printed(formatted("%s: %s", refusals[i][0], refusals[i][1]), "%s: %s",
			       refusals[i][0], refused(refusals[i][0]));
}

/* Cuts the file at each length: it must be refused, and nothing beyond its end be read. */
TEST(a_file_that_is_not_all_there_is_refused)
{
	struct stat status;

	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	assert_false(stat("sunrpc.ko", &status));
	for (off_t size = status.st_size - 1; size >= 0; size--) {
		assert_false(truncate("sunrpc.ko", size));
		assert_non_null(refused("/sunrpc.ko"));
	}
}

TEST(a_modules_place_is_made_of_its_build_id)
{
	/* cut in different places, of another owner, with an ID that is too short */
	static const struct {
		const char *note;
		size_t len;
	} wrong[] = {
		{ NOTE, 0 },
		{ NOTE, 3 },
		{ NOTE, 14 },
		{ NOTE, 16 },
		{ NOTE, sizeof(NOTE) - 2 },
		{ "\5\0\0\0\4\0\0\0\3\0\0\0GNUs\0abc", 20 },
		{ "\4\0\0\0\1\0\0\0\3\0\0\0GNU\0a", 17 },
	};
	char place[128];

	put_module("/sunrpc.ko", NOTE, types);
	assert_has(refused("/sunrpc.ko"), "the loaded module has no build id");
	assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, "");
	load_module();
	assert_true(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, PLACE);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		put_bytes("/sys/module/sunrpc/notes/.note.gnu.build-id", wrong[i].note,
			  wrong[i].len);
		assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
		assert_string_equal(place, "");
	}
}

TEST(a_file_that_comes_changes_and_goes_is_another_version_each_time)
{
	const char *path = formatted("%s/types", root);
	uint64_t first;

	assert_int_equal(types_file_version(path, "sunrpc"), 0);
	put("/types", "1");
	first = types_file_version(path, "sunrpc");
	assert_true(first && first == types_file_version(path, "sunrpc"));
	put("/types", "22");
	assert_int_not_equal(types_file_version(path, "sunrpc"), first);
	unlink(path);
	assert_int_equal(types_file_version(path, "sunrpc"), 0);
}

/* To look for it, or to read it, may be to wait for a server. */
TEST(a_file_on_a_network_file_system_is_not_touched)
{
	load_module();
	put("/nas/mark", "");
	put_module("/nas/sunrpc.ko", NOTE, types);
	assert_null(refused("/nas/sunrpc.ko"));
	put("/proc/self/mountinfo", formatted("9 1 0:9 / %s/nas rw - nfs4 nas:/ rw\n", root));
	assert_string_equal(
		refused("/nas/sunrpc.ko"),
		"it is on a file system that may stop answering; copy it to a local one");
}

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

/* A kernel that knows these structs, its task, a module, and types that were selected. */
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
	struct rpc_bpf *bpf = not_null(rpc_bpf__open());

	selected = module_types_select(module, bpf->obj);
	rpc_bpf__destroy(bpf);
}

/* The members are at these offsets in the types that are selected for the module. */
static void assert_selected(int start, int program)
{
	select_types();
	assert_non_null(selected);
	assert_int_equal(offset_of(selected, "rpc_task", "tk_start"), start);
	assert_int_equal(offset_of(selected, "rpc_clnt", "cl_prog"), program);
}

TEST(types_are_the_modules)
{
	add_task(module, add_client(module, 24), 8);
	assert_selected(16, 24);
}

TEST(types_are_the_kernels_if_the_module_shares_them)
{
	assert_selected(8, 0);
}

TEST(a_struct_is_found_to_which_no_pointer_leads)
{
	btf__add_struct(module, "rb_root", 8);
	assert_false(btf__add_field(module, "rb_node", NUMBER, 0, 0));
	assert_selected(8, 0);
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
	select_types();
	assert_null(selected);
	assert_int_equal(errno, EINVAL);
}

TEST(types_of_a_damaged_module_are_refused)
{
	assert_refused("itself", false);
}

/* So are numbers and names in types that are based on those of another kernel. */
TEST(what_is_out_of_range_is_refused)
{
	static const uint32_t beyond[] = { 100, ~0u };

	for (size_t i = 0; i < 2 * COUNT(beyond); i++) {
		struct btf_type *t;

		int kernels;

		fresh();
		kernels = task;
		task = add_task(module, add_client(module, 24), 8);
		t = (struct btf_type *)btf__type_by_id(module, (uint32_t)task);
		if (i < COUNT(beyond))
			btf_members(t)[0].type = beyond[i];
		else
			t->name_off = beyond[i - COUNT(beyond)] + 10000;
		select_types();
		if (i < COUNT(beyond))
			assert_null(selected);
		else /* the kernel's own */
			assert_int_equal(kernel_type_find(module, "rpc_task", BTF_KIND_STRUCT),
					 kernels);
	}
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
