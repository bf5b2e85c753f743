// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a mount which a server or a process must answer for is recognized by its number and type, with what is
 * mounted, whatever else is. */
#include <fcntl.h>
#include <unistd.h>

#include "golden.h"
#include "base/mountinfo.h"
#include "made_up_tree.h"
#include "unit.h"

/* What is mounted at @path, or as the mount with that number. */
static const char *network_mount(int number, const char *path)
{
	char source[64];

	if (!mounts_find_network(root, number, path, false, source, sizeof(source)))
		return "local";
	return formatted("from %s", source);
}

static const char *mount_of_line(const char *line)
{
	put("/proc/self/mountinfo", formatted("3 1 0:9 / /a rw - nfs nas:/other rw\n%s\n"
					      "136 1 0:9 / /b rw - nfs nas:/other rw\n",
					      line));
	return network_mount(36, NULL);
}

TEST(the_mount_of_that_number_counts)
{
	char source[64];

	assert_golden_in(TEST_DATA "/texts.tsv", "a line of mountinfo", mount_of_line);
	assert_false(mounts_find_network(root, -1, NULL, false, source, sizeof(source)));
	assert_false(mounts_find_network("/missing", 36, NULL, false, source, sizeof(source)));
}

static const char *mount_of_path(const char *path)
{
	return network_mount(-1, path);
}

TEST(the_deepest_mount_on_the_way_counts)
{
	char source[64];

	put("/proc/self/mountinfo",
	    "1 0 0:1 / / rw - ext4 /dev/sda rw\n"
	    "2 1 0:2 / /nas rw - nfs nas:/a rw\n"
	    "3 2 0:3 / /nas/local rw - tmpfs tmpfs rw\n"
	    "4 1 0:4 / /home rw - autofs auto rw\n"
	    "5 4 0:5 / /home rw - nfs4 nas:/home rw\n"
	    "6 1 0:6 / /over rw - nfs nas:/b rw\n"
	    "7 6 0:7 / /over rw - tmpfs tmpfs rw\n"
	    "8 1 0:8 / /net rw - autofs auto.net rw\n"
	    "9 8 0:9 / /net/local rw - tmpfs tmpfs rw\n"
	    "10 1 0:10 / /with\\040blank rw - nfs nas:/c rw\n"
	    "11 1 0:11 / /overlay/far rw - overlay overlay rw,lowerdir=/l,"
	    "upperdir=/nas/up\\054per,workdir=/w\n"
	    "12 1 0:12 / /overlay/near rw - overlay overlay rw,lowerdir=/nas,"
	    "upperdir=/var/x,workdir=/w\n"
	    "13 1 0:13 / /overlay/lower ro - overlay overlay ro,lowerdir+=/l,lowerdir+=/m:/nas\n"
	    "14 1 0:14 / /overlay/itself rw - overlay overlay "
	    "rw,upperdir=/overlay/itself/x\n"
	    "15\n\n");
	assert_golden_in(TEST_DATA "/texts.tsv", "paths on mounts", mount_of_path);
	/* Names are looked up in the lower layers. */
	assert_true(mounts_find_network(root, -1, "/overlay/near/x", true, source, sizeof(source)));
	assert_string_equal(source, "nas:/a");
	assert_true(
		mounts_find_network(root, -1, "/overlay/lower/x", true, source, sizeof(source)));
	assert_false(
		mounts_find_network(root, -1, "/overlay/itself/x", true, source, sizeof(source)));
	assert_false(mounts_find_network("/missing", -1, "/nas/x", false, source, sizeof(source)));
	put("/proc/self/mountinfo", "1 0 0:1 / / rw - nfs4 nas:/root rw\n"
				    "2 1 0:2 / /run rw - tmpfs tmpfs rw\n");
	assert_true(mounts_find_network(root, -1, "/etc/x", false, source, sizeof(source)));
	assert_string_equal(source, "nas:/root");
	assert_false(mounts_find_network(root, -1, "/run/x", false, source, sizeof(source)));
}

/* The real kernel's: a folder's mount is in the list, with another number than that of proc. */
TEST(the_number_is_the_kernels)
{
	int folder = open("/", O_PATH | O_DIRECTORY), proc = open("/proc", O_PATH | O_DIRECTORY);
	char source[64];

	assert_true(mounts_number(folder) > 0);
	assert_int_not_equal(mounts_number(folder), mounts_number(proc));
	assert_false(
		mounts_find_network("", mounts_number(proc), NULL, false, source, sizeof(source)));
	assert_int_equal(mounts_number(-1), -1);
	close(folder);
	close(proc);
}
