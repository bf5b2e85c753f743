// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that mountstats, mountinfo and xprt_info are read as kernels write them, and that what is not understood is
 * passed over. */
#include "unit.h"
#include "rpc/polled/polled.h"

/* The kernel writes all ops, also those without calls. */
#define OPS_4                                                                    \
	"\t LAYOUTSTATS: 0 0 0 0 0 0 0 0 0\n\t       CLONE: 0 0 0 0 0 0 0 0 0\n" \
	"\t        COPY: 0 0 0 0 0 0 0 0 0\n\t        SEEK: 0 0 0 0 0 0 0 0 0\n"
#define OPS_64                                                                                    \
	OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 OPS_4 \
		OPS_4

/* As Debian's 6.1 writes them. */
static const char stats[] =
	"device sysfs mounted on /sys with fstype sysfs\n"
	"no device mounted on /odd with fstype autofs\n"
	"device nas-1:/srv/a\\040b mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n"
	"\topts:\trw,vers=4.2,rsize=524288,proto=tcp,nconnect=2\n"
	"\tage:\t17\n"
	"\timpl_id:\tname='',domain='',date='0,0'\n"
	"\tcaps:\tcaps=0xfffbc0bf,wtmult=512,dtsize=524288\n"
	"\tsec:\tflavor=1,pseudoflavor=1\n"
	"\tevents:\t1 2 3 \n"
	"\tbytes:\t1 2 3 \n"
	"\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
	"\txprt:\ttcp 880 1 2 0 4 42 42 0 42 0 2 0 0\n"
	"\txprt:\ttcp 693 1 3 0 4 30 30 0 30 0 2 0 0\n"
	"\tper-op statistics\n"
	"\t        NULL: 3 3 0 132 72 0 1 2 0\n"
	"\t        READ: 100 103 1 20000 412800 12 345 400 2\n"
	"\t       WRITE: 0 0 0 0 0 0 0 0 0\n" OPS_64 "\n"
	"device [fd00::1]:/ mounted on /v6 with fstype nfs statvers=1.1\n"
	"\tage:\t1\n"
	"\txprt:\tudp 1023 1 7 7 0 7 0\n"
	"\tper-op statistics\n"
	"\t        READ: 1 1 0 200 300 0 0 1\n"
	"device proc mounted on /proc with fstype proc\n";

TEST(mounts_are_read_one_by_one)
{
	static struct mountstats_mount mount;
	struct span m = { stats, stats + strlen(stats) };
	const struct mountstats_op *op = &mount.ops[1];

	assert_true(mountstats_next(&m, &mount));
	/* WRITE has not been called */
	assert_printed("nas-1 '/mnt/a b' 17: 2 of tcp 880, 3; 2 ops",
		       "%s '%s' %lu: %zu of %s %u, %lu; %zu ops", mount.server, mount.mountpoint,
		       mount.age, mount.transport_count, mount.transports[0].protocol,
		       mount.transports[0].port, mount.transports[1].connects, mount.op_count);
	assert_printed("READ 100 103 1 20000 412800 345 400 2",
		       "%s %lu %lu %lu %lu %lu %lu %lu %lu", op->name, op->calls, op->transmits,
		       op->timeouts, op->sent_bytes, op->received_bytes, op->rtt_ms, op->total_ms,
		       op->errors);
	assert_true(mountstats_next(&m, &mount));
	/* no errors before 5.3 */
	assert_printed("fd00::1 1 0 1 0", "%s %zu %lu %zu %lu", mount.server, mount.transport_count,
		       mount.transports[0].connects, mount.op_count, mount.ops[0].errors);
	assert_false(mountstats_next(&m, &mount));
}

/* The longest that a server can choose, with the begin of another mount at its end. */
TEST(the_text_of_a_server_begins_no_mount)
{
	static const char forged[] =
		"\n\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\tevil 1 1 1\n"
		"\tper-op statistics\n\tEVIL: 1 1 0 1 1 1 1 1 0\n\n"
		"device nas-2:/ mounted on /two with fstype nfs statvers=1.1\n\timpl_id:\tname='";
	static struct mountstats_mount mount;
	char text[3 * sizeof(stats)], name[1025];
	struct span m;

	snprintf(name, sizeof(name), "%*s%s", (int)(sizeof(name) - sizeof(forged)), "", forged);
	snprintf(text, sizeof(text),
		 "device nas-1:/ mounted on /one with fstype nfs4 statvers=1.1\n\tage:\t17\n"
		 "\timpl_id:\tname='%s',domain='%s',date='18446744073709551615,4294967295'\n"
		 "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\ttcp 880 1 2 0 4\n"
		 "\tper-op statistics\n\tREAD: 100 103 1 20000 412800 12 345 400 2\n" OPS_64
		 "\ndevice nas-2:/ mounted on /two with fstype nfs statvers=1.1\n\tage:\t1\n",
		 name, name);
	m = (struct span){ text, text + strlen(text) };
	assert_true(mountstats_next(&m, &mount));
	assert_printed("/one 1 READ 1 tcp", "%s %zu %s %zu %s", mount.mountpoint, mount.op_count,
		       mount.ops[0].name, mount.transport_count, mount.transports[0].protocol);
	assert_true(mountstats_next(&m, &mount));
	assert_printed("/two 0", "%s %zu", mount.mountpoint, mount.op_count);
	assert_false(mountstats_next(&m, &mount));
}

TEST(the_same_mounts_in_mountinfo)
{
	static const char text[] =
		"22 1 0:20 / /sys rw shared:7 - sysfs sysfs rw\n"
		"40 22 0:45 / /mnt/a\\040b rw,relatime shared:9 master:3 - nfs4 nas-1:/srv/a\\040b "
		"rw,vers=4.2,proto=tcp,clientaddr=10.0.0.9,local_lock=none,addr=10.0.0.1\n"
		"41 22 0:46 / /v6 rw - nfs [fd00::1]:/ rw,port=20049,addr=fd00::1,x\n"
		"42 22 bad / /x rw - nfs a:/ rw\n"
		"44 22 0:48 / /o rw - nfs other:/other rw\n"
		"43 22 0:47\n";
	struct span m = { text, text + strlen(text) };
	struct nfs_mount mount;

	assert_true(mountinfo_next(&m, &mount));
	/* not the client's address */
	assert_printed("45 '/mnt/a b' 10.0.0.1 2049", "%lu '%s' %s %u", mount.device,
		       mount.mountpoint, mount.remote.address, mount.remote.port);
	assert_true(mountinfo_next(&m, &mount));
	assert_printed("46 fd00::1 20049", "%lu %s %u", mount.device, mount.remote.address,
		       mount.remote.port);
	assert_true(mountinfo_next(&m, &mount));
	assert_string_equal(mount.server, "\\x6fther"); /* the name of what has been folded */
	assert_false(mountinfo_next(&m, &mount));
}

TEST(a_transport_of_sysfs)
{
	static const char text[] =
		"last_used=4294901\ncur_cong=256\ncong_win=512\nmax_num_slots=65536\n"
		"min_num_slots=2\nnum_reqs=33\nbinding_q_len=0\nsending_q_len=1\n"
		"pending_q_len=7\nbacklog_q_len=0\nmain_xprt=1\nsrc_port=880\n"
		"tasks_queuelen=0\ndst_port=2049\n";
	struct xprt_file info = {};

	assert_true(xprt_info_parse(&info, text, strlen(text)));
	assert_printed("65536 33 7 1 2049", "%u %u %u %d %u", info.slots_max, info.slots_allocated,
		       info.pending, info.has_port, info.remote.port);
	/* 5.14 ends before the port */
	info = (struct xprt_file){};
	assert_true(xprt_info_parse(&info, "max_num_slots=1\nnum_reqs=2\npending_q_len=3\n", 44));
	assert_false(info.has_port);
	assert_false(xprt_info_parse(&info, "num_reqs=2\npending_q_len=3\n", 27));
	assert_false(xprt_info_parse(&info, "max_num_slots=x\nnum_reqs=2\npending_q_len=3\n", 44));
	assert_false(xprt_info_parse(&info, "", 0));
}
