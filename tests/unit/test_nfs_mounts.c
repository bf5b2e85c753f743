// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that the NFS mounts of mountinfo are found with names from outside as they are, each once, within the bound,
 * and that one of another network namespace has its server's name there. */
#include <malloc.h>

#include "unit.h"
#include "made_up_tree.h"
#include "owners/mount_calls.h"
#include "rpc/polled/polled.h"
#include "snapshot.h"
#include "snapshot/calls.h"

static void put_mounts(const char *text)
{
	put("/proc/1/mountinfo", text);
}

/* @now has nothing but the mounts as they are now. */
static void look(void)
{
	struct nfs_mounts m = { .changes = -1 };

	snapshot_free(&now);
	nfs_mounts_add(&m, root, &now);
	nfs_mounts_free(&m);
}

static void assert_mount(size_t n, const char *expected)
{
	const struct nfs_mount *m = &now.calls.mounts[n];

	assert_printed(expected, "%s|%s|%s|%s|%s|%u", m->server, m->export, m->mountpoint,
		       m->version, m->remote.address, m->remote.port);
}

TEST(a_mount_has_server_export_mountpoint_and_version)
{
	put_mounts("22 1 0:20 / /sys rw shared:7 - sysfs sysfs rw\n"
		   "40 22 0:45 / /mnt/a\\040b\\012c rw shared:3 - nfs4 nas-1:/srv/a\\134b "
		   "rw,vers=4.2,proto=tcp,addr=10.0.0.1\n"
		   "41 22 0:46 / /v6 rw - nfs [fd00::1]:/ rw,vers=3,port=20049,addr=fd00::1\n"
		   "42 22 0:47 / /odd rw - nfs na\"s\\134x\\012\xff:/e:f rw,vers=3,addr=10.0.0.2\n"
		   "43 22 0:45 / /mnt/bind rw - nfs4 nas-1:/srv/sub rw,vers=4.2,addr=10.0.0.1\n");
	look();
	assert_int_equal(now.calls.mount_count, 4);
	assert_mount(0, "nas-1|/srv/a\\b|/mnt/a b\\x0ac|4.2|10.0.0.1|2049");
	assert_mount(1, "fd00::1|/|/v6|3|fd00::1|20049");
	assert_mount(2, "na\"s\\x\\x0a\\xff|/e:f|/odd|3|10.0.0.2|2049");
	assert_mount(3, "nas-1|/srv/sub|/mnt/bind|4.2|10.0.0.1|2049");
	assert_printed("0 0", "%zu %lu", now.self.drop_count, now.calls.left_out_entries);
}

#define VOLUMES "/var/lib/kubelet/pods/0a1b2c3d-0000-1111-2222-333344445555/"

/* Kubelet's path has the pod's UID. */
TEST(a_volume_has_its_name_for_all_pods)
{
	static const char *const points[][2] = {
		{ VOLUMES "volumes/kubernetes.io~nfs/train", "pv:train" },
		{ VOLUMES "volumes/kubernetes.io~csi/pvc-1.a/mount", "pv:pvc-1.a" },
		{ VOLUMES "volumes/kubernetes.io~csi/a\\040b\\012/mount", "pv:a b\\x0a" },
		{ VOLUMES "volume-subpaths/train/main/0", "pv:train" },
		{ VOLUMES "volumes/kubernetes.io~local-volume/disk", "pv:disk" },
		{ VOLUMES "volumes/vendor.com~driver/flex", "pv:flex" },
		{ VOLUMES "volumes/x/flex", VOLUMES "volumes/x/flex" },
		{ "/raid/kubelet/pods/0a1b2c3d000011112222333344445555/volumes/kubernetes.io~nfs/t",
		  "pv:t" },
		{ "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/train/globalmount", "pv:train" },
		{ VOLUMES "volumes/kubernetes.io~empty-dir/x",
		  VOLUMES "volumes/kubernetes.io~empty-dir/x" },
		{ VOLUMES "volumes/kubernetes.io~nfs/", VOLUMES "volumes/kubernetes.io~nfs/" },
		{ "/home/pods/x/volumes/kubernetes.io~nfs/train",
		  "/home/pods/x/volumes/kubernetes.io~nfs/train" },
	};

	for (size_t i = 0; i < COUNT(points); i++) {
		put_mounts(formatted("40 22 0:45 / %s rw - nfs4 a:/x rw,vers=4.2,addr=10.0.0.1\n",
				     points[i][0]));
		look();
		assert_string_equal(now.calls.mounts[0].mountpoint, points[i][1]);
	}
}

TEST(pods_that_share_a_volume_share_its_row_and_keep_their_devices)
{
	struct nfs_mounts m = { .changes = -1 };

	put_mounts("39 22 0:44 / /mnt rw - nfs4 a:/y rw,vers=4.2,addr=10.0.0.1\n"
		   "40 22 0:45 / " VOLUMES
		   "volumes/kubernetes.io~nfs/t rw - nfs4 a:/x rw,vers=4.2\n"
		   "41 22 0:46 / /k/pods/1a1b2c3d-0000-1111-2222-333344445555/volumes/"
		   "kubernetes.io~nfs/t ro - nfs4 a:/x ro,vers=4.2\n");
	nfs_mounts_add(&m, root, &now);
	assert_int_equal(now.calls.mount_count, 2);
	assert_int_equal(m.list.place_count, 3);
	assert_int_equal(m.list.places[1].row, 1);
	assert_int_equal(m.list.places[2].row, 1);
	assert_true(m.list.places[1].device != m.list.places[2].device);
	nfs_mounts_free(&m);
}

TEST(a_part_of_a_volume_has_no_row)
{
	struct nfs_mounts m = { .changes = -1 };

	put_mounts("40 22 0:45 / " VOLUMES
		   "volumes/kubernetes.io~nfs/t rw - nfs4 a:/x/p rw,vers=4.2\n"
		   "41 22 0:45 /pod-1 " VOLUMES
		   "volume-subpaths/t/main/0 rw - nfs4 a:/x/p/pod-1 rw,vers=4.2\n"
		   "42 22 0:45 / " VOLUMES
		   "volumes/kubernetes.io~nfs/u rw - nfs4 a:/x/pod rw,vers=4.2\n"
		   "43 22 0:45 / /mnt rw - nfs4 a:/x/p rw,vers=4.2\n"
		   "44 22 0:45 / /mnt/pod rw - nfs4 a:/x/p/pod-1 rw,vers=4.2\n");
	nfs_mounts_add(&m, root, &now);
	assert_int_equal(now.calls.mount_count, 4);
	assert_string_equal(now.calls.mounts[0].export, "/x/p");
	assert_int_equal(m.list.places[1].row, 0);
	assert_int_equal(m.list.places[4].row, 3);
	nfs_mounts_free(&m);
}

/* Two samples with the same labels would make the whole file invalid. */
TEST(a_mount_over_a_mount_is_one)
{
	put_mounts("40 22 0:45 / /m rw - nfs4 a:/x rw,vers=4.2,addr=10.0.0.1\n"
		   "41 40 0:45 / /m rw - nfs4 a:/x rw,vers=4.2,addr=10.0.0.1\n"
		   "42 41 0:46 / /m rw - nfs a:/x rw,vers=3,addr=10.0.0.1\n");
	look();
	assert_int_equal(now.calls.mount_count, 2);
}

/* Of several servers: those of one that hangs are the last in the file. */
TEST(more_mounts_than_the_bound_are_left_out_by_their_use)
{
	static char text[100 * (NFS_MOUNTS_MAX + 40)];

	text[0] = 0;
	for (int i = 0; i < NFS_MOUNTS_MAX + 40; i++)
		snprintf(text + strlen(text), 100,
			 "40 22 0:45 / /m%d rw - nfs4 s%d:/x rw,vers=4.2,addr=10.0.0.1\n", i,
			 i / 20);
	put_mounts(text);
	look();
	assert_int_equal(now.calls.mount_count, NFS_MOUNTS_MAX + 40);
	snapshot_server(&now.calls, "s13")->oldest_ns[RPC_QUEUE_PENDING] = 20000000000;
	snapshot_mount_calls(&now.calls, "s14", "/x", "/m290")->called_ns = 7;
	snapshot_mount_calls(&now.calls, "s0", "/x", "/m3")->called_ns = 9;
	nfs_mounts_limit(&now);
	assert_int_equal(now.calls.mount_count, NFS_MOUNTS_MAX);
	assert_int_equal(now.calls.left_out_entries, 40);
	/* 235 in the order of the file, 20 of the server that hangs, one that was used. */
	assert_string_equal(now.calls.mounts[234].mountpoint, "/m234");
	assert_string_equal(now.calls.mounts[235].mountpoint, "/m260");
	assert_string_equal(now.calls.mounts[254].mountpoint, "/m279");
	assert_string_equal(now.calls.mounts[255].mountpoint, "/m290");
	nfs_mounts_limit(&now);
	assert_int_equal(now.calls.left_out_entries, 40);
}

/* In kB; proc(5). */
static long resident(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long size, pages;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%ld %ld", &size, &pages), 2);
	fclose(statm);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Users mount file systems, too. */
TEST(memory_for_a_long_list_is_given_back)
{
	static char list[8 << 20];
	long at_first;

	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as main() does */
	for (char *end = list; end < list + sizeof(list) - 64;)
		end += sprintf(end, "22 1 0:20 / /home/me rw - fuse.sshfs sshfs rw\n");
	put_mounts(list);
	at_first = resident();
	for (unsigned int i = 0; i < 4; i++) {
		look();
		assert_int_equal(now.calls.mount_count, 0);
	}
	assert_true(resident() < at_first + 512);
}

TEST(long_names_are_cut)
{
	char name[1001];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	put_mounts(formatted("40 22 0:45 / /%s rw - nfs4 b:/x rw,vers=3,addr=1.2.3.4\n", name));
	look();
	assert_int_equal(now.calls.mount_count, 1);
	assert_true(strlen(now.calls.mounts[0].mountpoint) < LABEL_SIZE);
	assert_has(now.calls.mounts[0].mountpoint, "aaa...");
}

TEST(this_process_stands_in_for_process_1)
{
	look();
	assert_int_equal(now.calls.mount_count, 0);
	put("/proc/self/mountinfo", "40 22 0:45 / /m rw - nfs4 a:/x rw,vers=4.2,addr=10.0.0.1\n");
	look();
	assert_int_equal(now.calls.mount_count, 1);
}

/* The system's own list reports what is mounted: without a change nothing is read. */
TEST(a_list_without_a_change_is_not_read_again)
{
	struct nfs_mounts m = { .changes = -1 };
	size_t count;

	nfs_mounts_add(&m, "", &now);
	count = now.calls.mount_count;
	snapshot_free(&now);
	put_mounts("40 22 0:45 / /m/new rw - nfs4 a:/x rw,vers=4.2,addr=10.0.0.1\n");
	snprintf(m.list.process, sizeof(m.list.process), "%s/proc/1", root);
	nfs_mounts_add(&m, "", &now);
	assert_int_equal(now.calls.mount_count, count);
	snapshot_free(&now);
	nfs_mounts_free(&m);
}

TEST(many_mounts_that_change_are_read_now_and_then)
{
	struct nfs_mounts m = { .changes = -1 };
	static char text[100 * (NFS_MOUNTS_MAX + 1)];

	for (int i = 0; i <= NFS_MOUNTS_MAX; i++)
		sprintf(text + strlen(text), "%d 1 0:%d / /m%d rw - nfs s:/x rw,vers=3\n", i, i, i);
	put_mounts(text);
	for (int look = 0; look < 3; look++, m.changed = true) {
		now.time_ns = look == 2 ? m.due_ns : 0;
		nfs_mounts_add(&m, root, &now);
		assert_int_equal(m.list.changed, look != 1);
		assert_int_equal(now.calls.mount_count, NFS_MOUNTS_MAX + 1);
		snapshot_free(&now);
	}
	nfs_mounts_free(&m);
}

/* A mount of another network namespace has its server's name there, as long as that is one. */
TEST(a_mount_of_another_network_namespace_has_its_servers_name)
{
	struct nfs_mounts m = { .changes = -1 };

	put_mounts("40 22 0:45 / /own rw - nfs4 nas:/x rw,vers=4.2,addr=10.0.0.1\n"
		   "41 22 0:46 / /other rw - nfs4 nas:/x rw,vers=4.2,addr=10.0.0.1\n"
		   "42 22 0:47 / /at rw - nfs4 a@b:/x rw,vers=4.2,addr=10.0.0.2\n");
	put("/proc/1/net/nfsfs/volumes",
	    "NV SERVER   PORT DEV          FSID                              FSC\n"
	    "v4 0a000001 801 0:45         0:0                               no \n"
	    "v4 0a000002 801 0:47         0:0                               no \n");
	snapshot_transport(&now.calls, "nas", "tcp/0")->alive = true;
	snapshot_transport(&now.calls, "nas@4026532000", "tcp/0")->alive = true;
	snapshot_transport(&now.calls, "nas@4026531000", "tcp/0"); /* which has ended */
	snapshot_transport(&now.calls, "a@b@4026530000", "tcp/0")->alive = true;
	nfs_mounts_add(&m, root, &now);
	assert_printed("nas nas@4026532000 a@b@4026530000", "%s %s %s", now.calls.mounts[0].server,
		       now.calls.mounts[1].server, now.calls.mounts[2].server);
	snapshot_transport(&now.calls, "nas@4026533000", "tcp/0")->alive = true;
	now.calls.mount_count = 0;
	nfs_mounts_add(&m, root, &now);
	assert_string_equal(now.calls.mounts[1].server, "nas");
	nfs_mounts_free(&m);
}
