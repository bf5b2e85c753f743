// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which path of a file `trace --files` shows: below a mount only if it is there. */
#include "rpc.h"
#include "rpc/slow_calls.h"
#include "snapshot/snapshot.h"
#include "unit.h"

/* The path of @names, which end in two NULs: the file's own first, if @whole that of a root last. */
static const char *path_of(const char *names, size_t len, bool whole, bool directory)
{
	static char path[FILE_PATH_SIZE];
	struct rpc_file f = { .whole = whole };

	memcpy(f.names, names, len);
	file_calls_path(path, &f, directory);
	return path;
}
#define PATH(names, whole, directory) path_of(names, sizeof(names), whole, directory)

#define N32 "0123456789abcdef0123456789abcdef"
#define N127 N32 N32 N32 "0123456789abcdef0123456789abcde"

TEST(a_path_is_that_on_the_server)
{
	static const char twelve[] = "l\0k\0j\0i\0h\0g\0f\0e\0d\0c\0b\0a\0nas:/";

	assert_string_equal(PATH("file\0dir\0nas:/x", true, false), "/x/dir/file");
	assert_string_equal(PATH("file\0dir\0nas:/x", true, true), "/x/dir");
	assert_string_equal(PATH("file\0nas:/x/", true, true), "/x");
	assert_string_equal(PATH("file\0[fd00::1]:/", true, false), "/file");
	assert_string_equal(PATH("file\0[fd00::1]:/", true, true), "/");
	assert_string_equal(PATH("nas:/x", true, false), "/x");
	assert_string_equal(PATH("file\0dir", false, false), ".../dir/file");
	assert_string_equal(PATH("file\0dir", false, true), ".../dir");
	assert_string_equal(PATH("file", false, true), "");
	assert_string_equal(PATH("", false, false), "");
	assert_string_equal(PATH(twelve, true, false), "/a/b/c/d/e/f/g/h/i/j/k/l");
	/* Freed memory in the place of a root's path, and one that is cut. */
	assert_string_equal(PATH("file\0x", true, false), ".../file");
	assert_string_equal(
		PATH("file\0nas:/" N32 N32 N32 "0123456789abcdef0123456789", true, false),
		".../file");
	/* Names are cut at 127 bytes. */
	assert_string_equal(PATH(N127 "\0nas:/x", true, false), "/x/" N127 "...");
}

TEST(a_file_is_below_the_mount_that_its_calls_have_only_if_it_is_there)
{
	static const struct {
		const char *path, *export, *mountpoint, *mount, *below;
	} cases[] = {
		{ "/x/dir/file", "/x", "/data", "/data", "/dir/file" },
		{ "/x", "/x/", "/data", "/data", "/" },
		{ "/dir/file", "/", "/data", "/data", "/dir/file" },
		/* A folder of a file system, by NFSv4; a bind mount of a folder whose mount is gone. */
		{ "/x/pv-a/file", "/x/pv-a", "pv:a", "pv:a", "/file" },
		/* A mount contains the one of the file. */
		{ "/x/p/file", "/x", "/data", "/data", "/p/file" },
		/* A file that is open on a mount that is gone, and one of two volumes. */
		{ "/x/file", "/x/p", "/data", "", "/x/file" },
		{ "/x/pp/file", "/x/p", "/data", "", "/x/pp/file" },
		{ "/x/pv-a/file", "/x", "", "", "/x/pv-a/file" },
		{ ".../file", "/x", "/data", "/data", ".../file" },
		/* A directory of that name. */
		{ "/.../file", "/", "/data", "/data", "/.../file" },
		{ "/.../file", "/x", "/data", "", "/.../file" },
		{ "", "/x", "/data", "/data", "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char path[FILE_PATH_SIZE], mount[LABEL_SIZE] = "";

		print_message("# case %zu\n", i);
		strcpy(path, cases[i].path);
		file_calls_place(cases[i].export, cases[i].mountpoint, mount, path);
		assert_string_equal(mount, cases[i].mount);
		assert_string_equal(path, cases[i].below);
	}
}
