// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which files are accepted for the types of a loaded module. */
#include "kernel/types_file.h"

#include <bpf/btf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_up_module.h"
#include "unit.h"

/* Reads the file in the made-up tree: NULL, or why it is refused. */
static const char *refused(const char *path)
{
	static char reason[512];
	struct btf *types;

	types = types_file_read(formatted("%s%s", root, path), root, "sunrpc", reason,
				sizeof(reason));
	if (!types)
		return reason;
	assert_true(btf__find_by_name_kind(types, "rpc_task", BTF_KIND_STRUCT) > 0);
	btf__free(types);
	return NULL;
}

TEST(types_of_the_loaded_module_are_read)
{
	struct btf *types = btf__new_empty();

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	assert_null(refused("/sunrpc.ko"));
	put_module("/other.ko", OTHER_NOTE, types);
	assert_string_equal(refused("/other.ko"),
			    "its build id is not that of the loaded module: it is another build");
	btf__free(types);
}

TEST(a_file_without_types_is_refused)
{
	load_module();
	put_module("/sunrpc.ko", NOTE, NULL);
	assert_string_equal(refused("/sunrpc.ko"),
			    "it has no types: pahole has not been run on it");
}

TEST(a_file_of_another_kind_is_refused)
{
	load_module();
	put("/text", "no ELF file, whose text is longer than the header of one would be");
	assert_string_equal(refused("/text"), "it is not an ELF file");
	put("/empty", "");
	assert_string_equal(refused("/empty"), "it is not an ELF file");
	assert_string_equal(refused("/absent"), "No such file or directory");
	assert_string_equal(refused("/sys"), "it is not a regular file");
}

TEST(a_file_is_refused_to_which_others_may_write)
{
	struct btf *types = btf__new_empty();

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	assert_false(chmod(formatted("%s/sunrpc.ko", root), 0646));
	assert_string_equal(refused("/sunrpc.ko"), "others than root may write to it");
	btf__free(types);
}

/* Cuts the file at each length: it must be refused, and nothing beyond its end be read. */
TEST(a_file_that_is_not_all_there_is_refused)
{
	struct btf *types = btf__new_empty();
	struct stat status;
	char full[128];

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	load_module();
	put_module("/sunrpc.ko", NOTE, types);
	btf__free(types);
	snprintf(full, sizeof(full), "%s/sunrpc.ko", root);
	assert_false(stat(full, &status));
	for (off_t size = status.st_size - 1; size >= 0; size--) {
		assert_false(truncate(full, size));
		assert_non_null(refused("/sunrpc.ko"));
	}
}

/* A struct with a member whose type is @type, which is beyond the last one. */
static struct btf *unsound_types(uint32_t type)
{
	struct btf *types = btf__new_empty();
	struct btf_type *t;
	int id;

	assert_int_equal(btf__add_int(types, "u64", 8, 0), 1);
	id = btf__add_struct(types, "rpc_task", 8);
	assert_false(btf__add_field(types, "tk_start", 1, 0, 0));
	t = (struct btf_type *)btf__type_by_id(types, (uint32_t)id);
	btf_members(t)[0].type = type;
	return types;
}

TEST(types_with_numbers_out_of_range_are_refused)
{
	struct btf *good = unsound_types(1), *bad = unsound_types(3), *worse = unsound_types(~0u);
	const char *damaged = "its types are damaged, or not based on those of this kernel";

	load_module();
	put_module("/sunrpc.ko", NOTE, good);
	assert_null(refused("/sunrpc.ko"));
	put_module("/sunrpc.ko", NOTE, bad);
	assert_string_equal(refused("/sunrpc.ko"), damaged);
	put_module("/sunrpc.ko", NOTE, worse);
	assert_string_equal(refused("/sunrpc.ko"), damaged);
	btf__free(good);
	btf__free(bad);
	btf__free(worse);
}

TEST(types_with_parts_of_names_are_refused)
{
	load_module();
	for (uint32_t cut = 0; cut < 2; cut++) {
		struct btf *types = btf__new_empty();
		int id = btf__add_struct(types, "rpc_task", 8);

		((struct btf_type *)btf__type_by_id(types, (uint32_t)id))->name_off += cut;
		put_module("/sunrpc.ko", NOTE, types);
		btf__free(types);
		assert_true(!cut == !refused("/sunrpc.ko"));
	}
}

TEST(a_module_without_build_id_has_no_file)
{
	struct btf *types = btf__new_empty();
	char place[128];

	put_module("/sunrpc.ko", NOTE, types);
	assert_has(refused("/sunrpc.ko"), "the loaded module has no build id");
	assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, "");
	btf__free(types);
}

TEST(a_modules_place_is_made_of_its_build_id)
{
	char place[128];

	load_module();
	assert_true(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, PLACE);
	put_bytes("/sys/module/sunrpc/notes/.note.gnu.build-id", NOTE, sizeof(NOTE) - 2);
	assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
}

TEST(a_file_that_comes_changes_and_goes_is_another_version_each_time)
{
	char path[300];
	uint64_t first;

	snprintf(path, sizeof(path), "%s/types", root);
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
	struct btf *types = btf__new_empty();

	assert_true(btf__add_struct(types, "rpc_task", 8) > 0);
	load_module();
	put("/nas/mark", "");
	put_module("/nas/sunrpc.ko", NOTE, types);
	assert_null(refused("/nas/sunrpc.ko"));
	put("/proc/self/mountinfo", formatted("9 1 0:9 / %s/nas rw - nfs4 nas:/ rw\n", root));
	assert_string_equal(
		refused("/nas/sunrpc.ko"),
		"it is on a file system that may stop answering; copy it to a local one");
	btf__free(types);
}
