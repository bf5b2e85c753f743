// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that mounts are shown with the options, connections and readahead that are in force, and with the modules. */
#include "made_up_tree.h"
#include "nfs/mount_settings.h"
#include "rpc/polled/polled.h"
#include "snapshot.h"

static struct mount_settings m;
static struct nfs_mounts mounts;

BEFORE_EACH()
{
	m = (struct mount_settings){ .period_ns = MOUNT_SETTINGS_NS };
	mounts = (struct nfs_mounts){ .changes = -1 };
}

AFTER_EACH()
{
	free(m.mounts);
	nfs_mounts_free(&mounts);
}

#define OPTIONS                                                                                  \
	"rw,vers=4.2,rsize=1048576,wsize=65536,namlen=255,acregmin=1,soft,proto=tcp,nconnect=4," \
	"max_connect=16,timeo=600,retrans=2,sec=krb5p,clientaddr=10.0.0.1,lookupcache=none,"     \
	"local_lock=flock,addr=10.0.0.9"
#define OP "\t        OPEN: 0 0 0 0 0 0 0 0 0\n"
#define OPS OP OP OP OP OP OP OP OP OP OP
#define XPRT "\txprt:\ttcp 0 0 1 0 0 9 9 0 9 0 2 0 0\n"

static uint64_t reads, writes; /* calls so far */

/* After further READs and WRITEs. */
static void add_with(uint64_t seconds, uint64_t more_reads, uint64_t more_writes)
{
	snapshot_free(&now);
	now.time_ns = seconds * SECOND;
	snapshot_op(&now.calls, "nas", "READ")->total.bucket[0] = reads += more_reads;
	snapshot_op(&now.calls, "nas", "WRITE")->total.bucket[0] = writes += more_writes;
	nfs_mounts_add(&mounts, root, &now);
	mount_settings_add(&m, root, &now);
}

static void add(uint64_t seconds)
{
	add_with(seconds, 1, 0);
}

/* All options of a mount that are known, in their order, and its readahead. */
static void assert_mount(size_t mount, const char *expected)
{
	const struct nfs_mount *m = &now.calls.mounts[mount];
	char got[300] = "";

	for (int o = 0; o < NFS_OPTIONS; o++)
		if (*m->options[o])
			append_text(got, "%s=%s ", nfs_option_names[o], m->options[o]);
	if (m->readahead_known)
		append_text(got, "readahead=%lu ", m->readahead_bytes);
	assert_string_equal(got, expected);
}

static void put_mounts(const char *more)
{
	put("/proc/1/mountinfo",
	    formatted("30 1 8:1 / / rw - ext4 /dev/sda rw\n"
		      "31 30 0:52 / /mnt/with\\040blank rw,relatime shared:9 - nfs4 nas:/x " OPTIONS
		      "\n"
		      "32 30 0:53 / /b rw - nfs nas:/x rw,vers=3,rsize=4096,hard,noac,timeo=50%s\n",
		      more));
}

TEST(options_are_as_in_force)
{
	put_mounts("");
	put("/proc/1/mountstats",
	    "device nas:/x mounted on /mnt/with\\040blank with fstype nfs4 statvers=1.1\n"
	    "\topts:\trw\n"
	    "\timpl_id:\tname='x',domain='y',date='0,0'\n" XPRT XPRT XPRT
		    /* A part is longer than what the server can choose. */
		    OPS OPS OPS OPS OPS OPS
	    "device nas:/x mounted on /b with fstype nfs statvers=1.1\n" XPRT
	    "device nas:/x mounted on /b2 with fstype nfs statvers=1.1\n" XPRT XPRT);
	put("/sys/class/bdi/0:52/read_ahead_kb", "15360\n");
	add(100);
	/* nconnect is not as asked for */
	assert_mount(0,
		     "rsize=1048576 wsize=65536 nconnect=3 max_connect=16 recovery=soft timeo=600 "
		     "retrans=2 sec=krb5p proto=tcp ac=1,60,30,60 lookupcache=none "
		     "local_lock=flock readahead=15728640 ");
	/* What the kernel leaves out has its default, or is not known. */
	assert_mount(1, "rsize=4096 nconnect=1 max_connect=1 recovery=hard timeo=50 ac=noac "
			"lookupcache=all local_lock=none ");
}

TEST(volumes_of_one_name_have_settings_of_their_own)
{
#define VOLUME "/pods/0a1b2c3d000011112222333344445555/volumes/kubernetes.io~nfs/data"
	put("/proc/1/mountinfo", "31 30 0:52 / /a" VOLUME " rw - nfs4 nas:/a rw\n"
				 "32 30 0:53 / /b" VOLUME " rw - nfs4 nas:/b rw\n");
	put("/proc/1/mountstats",
	    "device nas:/a mounted on /a" VOLUME " with fstype nfs4 statvers=1.1\n" XPRT XPRT
	    "device nas:/b mounted on /b" VOLUME " with fstype nfs4 statvers=1.1\n" XPRT);
	add(100);
	assert_string_equal(now.calls.mounts[0].mountpoint, "pv:data");
	assert_string_equal(now.calls.mounts[0].options[NFS_NCONNECT], "2");
	assert_string_equal(now.calls.mounts[1].options[NFS_NCONNECT], "1");
}

/* The figures of mountstats since the mount, as many as the kernel prints. */
static void put_stats(const char *bytes, unsigned int readaheads)
{
	put("/proc/1/mountstats",
	    formatted(
		    "device nas:/x mounted on /b with fstype nfs statvers=1.1\n"
		    "\tevents:\t1 2 3 4 5 6 7 8 9 %u 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 \n"
		    "\tbytes:\t%s 0 \n" XPRT,
		    readaheads, bytes));
}

TEST(a_window_is_the_mean_readahead_since_the_last_look)
{
	const struct nfs_mount *b;

	put_mounts("");
	put_stats("9 9 0 900 4096000 1000 1000", 10);
	add(100);
	b = &now.calls.mounts[1];
	assert_int_equal(b->window_bytes, 100 * 4096);
	assert_true(b->direct_writes);
	put_stats("9 9 0 900 4096000 1000 1000", 10); /* nothing since */
	add(160);
	assert_int_equal(now.calls.mounts[1].window_bytes, 100 * 4096);
	assert_true(now.calls.mounts[1].direct_writes);
	put_stats("9 9 0 900 4915200 9000 1200", 14);
	add(220);
	assert_int_equal(now.calls.mounts[1].window_bytes, 50 * 4096);
	assert_false(now.calls.mounts[1].direct_writes);
	put_stats("9 9 0 900 5324800 9000 1300", 14); /* read ahead before the last look */
	add(280);
	assert_int_equal(now.calls.mounts[1].window_bytes, 50 * 4096);
	put_stats("9 9 9999999 900 9999999 9000 1301", 15); /* most of it direct */
	add(340);
	assert_int_equal(now.calls.mounts[1].window_bytes, 0);
}

TEST(writers_are_held_up_at_the_limit_of_dirty_pages)
{
	put_mounts("");
	put("/proc/vmstat",
	    "nr_free_pages 5\nnr_dirty 100\nnr_writeback 20\nnr_writeback_temp 7\n"
	    "nr_unstable 3\nnr_dirty_threshold 1000\nnr_dirty_background_threshold 500\n");
	add(100);
	assert_int_equal(now.calls.dirty_limit_bytes, 0); /* nobody has written */
	add_with(110, 0, 1);
	assert_int_equal(now.calls.dirty_bytes, 123 * sysconf(_SC_PAGESIZE));
	assert_int_equal(now.calls.dirty_limit_bytes, 1000 * sysconf(_SC_PAGESIZE));
	add(169);
	assert_int_equal(now.calls.dirty_bytes, 123 * sysconf(_SC_PAGESIZE));
	add(170);
	assert_int_equal(now.calls.dirty_limit_bytes, 0);
}

TEST(without_calls_only_readahead_is_read_again)
{
	put_mounts("");
	put_stats("9 9 0 900 4096000 1000 1000", 10);
	put("/sys/class/bdi/0:53/read_ahead_kb", "128\n");
	add(100);
	put_stats("9 9 9999999 900 9999999 9000 1301", 15);
	put("/sys/class/bdi/0:53/read_ahead_kb", "512\n");
	add_with(160, 0, 0);
	assert_int_equal(now.calls.mounts[1].readahead_bytes, 512 << 10);
	assert_int_equal(now.calls.mounts[1].window_bytes, 100 * 4096);
	add(220);
	assert_int_equal(now.calls.mounts[1].window_bytes, 0);
}

TEST(without_mountstats_the_connections_are_those_asked_for)
{
	put_mounts("");
	add(100);
	assert_string_equal(now.calls.mounts[0].options[NFS_NCONNECT], "4");
}

TEST(modules_have_their_build_and_origin)
{
	static const char note[] =
		"\4\0\0\0\24\0\0\0\3\0\0\0GNU\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\377";
	static const char *const expected[] = {
		"sunrpc 'A1B2' out-of-tree", "nfs '' built-in",
		"rpcrdma '0102030405060708090a0b0c0d0e0f10111213ff' in-tree"
	};

	put_mounts("");
	put("/sys/module/sunrpc/initstate", "live\n");
	put("/sys/module/sunrpc/taint", "OE\n");
	put("/sys/module/sunrpc/srcversion", "A1B2\n");
	put("/sys/module/nfs/parameters/x", "1\n");
	put("/sys/module/rpcrdma/initstate", "live\n");
	put("/sys/module/rpcrdma/taint", "\n");
	put_bytes("/sys/module/rpcrdma/notes/.note.gnu.build-id", note, sizeof(note) - 1);
	add(100);
	assert_int_equal(now.calls.module_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_printed(expected[i], "%s '%s' %s", now.calls.modules[i].name,
			       now.calls.modules[i].build, now.calls.modules[i].origin);
}

TEST(long_values_are_cut)
{
	put_mounts(",sec=0123456789012345678901234567890123456789,proto=tcp,=,,rsize");
	add(100);
	assert_mount(1,
		     "nconnect=1 max_connect=1 recovery=hard timeo=50 sec=01234567890123456789012 "
		     "proto=tcp ac=noac lookupcache=all local_lock=none ");
}
