// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that a file on NFS is recognized by the deepest mount above it, with its
 * server, whatever else is mounted.
 */
#include "unit.h"
#include "kernel/mounts.h"
#include "made_up_tree.h"

TEST_WITH(the_deepest_and_last_mount_counts, enter, leave)
{
	static const struct {
		const char *mounts; /* %s: the folder of the test */
		const char *source; /* NULL: not on NFS */
	} cases[] = {
		{ "/dev/sda / ext4 rw 0 0\nnas:/a %s nfs4 rw 0 0\n", "nas:/a" },
		{ "nas:/root / nfs rw 0 0\n", "nas:/root" },
		{ "nas:/root / nfs rw 0 0\ntmpfs %s tmpfs rw 0 0\n", NULL },
		{ "nas:/a %s nfs rw 0 0\nnas:/b / nfs rw 0 0\n", "nas:/a" },
		{ "nas:/a %s nfs rw 0 0\nnas:/b %s nfs4 rw 0 0\n", "nas:/b" },
		{ "nas:/a %s nfs rw 0 0\ntmpfs %s tmpfs rw 0 0\n", NULL },
		{ "nas:/a %s/x nfs rw 0 0\nnas:/b /tm nfs rw 0 0\n/dev/sda / ext4 rw 0 0\n", NULL },
		{ "nfsd /proc/fs/nfsd nfsd rw 0 0\n", NULL },
		{ "", NULL },
	};
	char mounts[512], source[64], path[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(mounts, sizeof(mounts), cases[i].mounts, root, root);
		put("/proc/self/mounts", mounts);
		snprintf(path, sizeof(path), "%s/x.prom", root);
		assert_int_equal(mounts_find_nfs(root, path, source, sizeof(source)),
				 cases[i].source != NULL);
		if (cases[i].source)
			assert_string_equal(source, cases[i].source);
	}
}

TEST_WITH(a_relative_or_missing_folder, enter, leave)
{
	char source[64], path[64], old[256];

	put("/proc/self/mounts", "nas:/root / nfs rw 0 0\n");
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(root), 0);
	assert_true(mounts_find_nfs(root, "x.prom", source, sizeof(source)));
	assert_true(mounts_find_nfs(root, "proc/x.prom", source, sizeof(source)));
	assert_true(mounts_find_nfs(root, "/x.prom", source, sizeof(source)));
	assert_int_equal(chdir(old), 0);
	snprintf(path, sizeof(path), "%s/missing/x.prom", root);
	assert_false(mounts_find_nfs(root, path, source, sizeof(source)));
	assert_false(mounts_find_nfs("/missing", "/x.prom", source, sizeof(source)));
}
