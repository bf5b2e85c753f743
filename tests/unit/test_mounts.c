// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a mount which a server or a process must answer for is recognized by its number and type, with what is
 * mounted, whatever else is. */
#include <fcntl.h>
#include <unistd.h>

#include "base/mountinfo.h"
#include "made_up_tree.h"
#include "unit.h"

TEST(the_mount_of_that_number_counts)
{
	static const struct {
		const char *line; /* of mount 36 */
		const char *source; /* NULL: local */
	} cases[] = {
		{ "36 25 8:1 / / rw shared:1 - ext4 /dev/sda rw", NULL },
		{ "36 25 0:50 / /mnt rw,relatime shared:7 - nfs4 nas:/a rw,vers=4.2", "nas:/a" },
		{ "36 25 0:50 /b /mnt rw - nfs nas:/a/b rw", "nas:/a/b" },
		{ "36 25 0:50 / /mnt rw shared:7 master:2 propagate_from:3 - nfs [::1]:/x rw",
		  "[::1]:/x" },
		{ "36 25 0:50 / /mnt rw - fuse.sshfs me@host: rw", "me@host:" },
		{ "36 25 0:50 / /mnt rw - cifs //srv/my\\040share rw", "//srv/my\\040share" },
		{ "36 25 0:50 / /mnt rw - autofs systemd-1 rw,direct", "systemd-1" },
		{ "36 25 0:50 / /mnt rw - nfsd nfsd rw", NULL },
		{ "36 25 0:50 / /mnt\\040-\\040nfs rw - tmpfs tmpfs rw", NULL },
		{ "36 25 0:50 / /mnt rw - fusectl fusectl rw", NULL },
		{ "36 25 0:50 / /mnt rw -", NULL },
		{ "36 25 0:50 / /mnt rw - nfs", "" },
		{ "36", NULL },
		{ "", NULL },
		{ "x - nfs nas:/x rw", NULL },
	};
	char source[64];

	for (size_t i = 0; i < COUNT(cases); i++) {
		put("/proc/self/mountinfo", formatted("3 1 0:9 / /a rw - nfs nas:/other rw\n%s\n"
						      "136 1 0:9 / /b rw - nfs nas:/other rw\n",
						      cases[i].line));
		assert_int_equal(mounts_find_network(root, 36, NULL, false, source, sizeof(source)),
				 cases[i].source != NULL);
		if (cases[i].source)
			assert_string_equal(source, cases[i].source);
	}
	assert_false(mounts_find_network(root, -1, NULL, false, source, sizeof(source)));
	assert_false(mounts_find_network("/missing", 36, NULL, false, source, sizeof(source)));
}

TEST(the_deepest_mount_on_the_way_counts)
{
	static const struct {
		const char *path, *source; /* NULL: local */
	} cases[] = {
		{ "/nas/x/y", "nas:/a" },
		{ "/nas", "nas:/a" },
		{ "/nas/local/x", NULL },
		{ "/nasty/x", NULL },
		{ "/home/x", "nas:/home" },
		{ "/net/nas/x", "auto.net" },
		{ "/net/local/x", NULL },
		{ "/over/x", NULL },
		{ "/with blank/x", "nas:/c" },
		{ "/overlay/far/x", "nas:/a" },
		{ "/overlay/near/x", NULL },
		{ "/overlay/lower/x", NULL },
		{ "/overlay/itself/x", NULL },
		{ "/etc/xidscope/acks", NULL },
		{ "nas/x", NULL },
		{ "", NULL },
	};
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
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
			mounts_find_network(root, -1, cases[i].path, false, source, sizeof(source)),
			cases[i].source != NULL);
		if (cases[i].source)
			assert_string_equal(source, cases[i].source);
	}
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
