// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which files are accepted for the types of a loaded module. */
#include "kernel/types_file.h"

#include <bpf/btf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_up_module.h"
#include "unit.h"

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

/* A member's type is the number of one, or beyond the last. */
TEST(types_with_numbers_out_of_range_are_refused)
{
	static const uint32_t numbers[] = { 2, 4, ~0u };

	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct btf_type *client;

		fresh();
		assert_int_equal(btf__add_int(types, "u64", 8, 0), 2);
		assert_int_equal(btf__add_struct(types, "rpc_clnt", 8), 3);
		assert_false(btf__add_field(types, "cl_prog", 2, 0, 0));
		client = (struct btf_type *)btf__type_by_id(types, 3);
		btf_members(client)[0].type = numbers[i];
		load_module();
		put_module("/sunrpc.ko", NOTE, types);
		if (i)
			assert_string_equal(
				refused("/sunrpc.ko"),
				"its types are damaged, or not based on those of this kernel");
		else
			assert_null(refused("/sunrpc.ko"));
	}
}

TEST(types_with_parts_of_names_are_refused)
{
	for (uint32_t cut = 0; cut < 2; cut++) {
		fresh();
		load_module();
		((struct btf_type *)btf__type_by_id(types, 1))->name_off += cut;
		put_module("/sunrpc.ko", NOTE, types);
		assert_true(!cut == !refused("/sunrpc.ko"));
	}
}

TEST(a_modules_place_is_made_of_its_build_id)
{
	char place[128];

	put_module("/sunrpc.ko", NOTE, types);
	assert_has(refused("/sunrpc.ko"), "the loaded module has no build id");
	assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, "");
	load_module();
	assert_true(types_file_place(place, sizeof(place), root, "sunrpc"));
	assert_string_equal(place, PLACE);
	put_bytes("/sys/module/sunrpc/notes/.note.gnu.build-id", NOTE, sizeof(NOTE) - 2);
	assert_false(types_file_place(place, sizeof(place), root, "sunrpc"));
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
