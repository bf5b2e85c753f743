// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a profile of mounts is read, that what differs from it is found with option, value, what is wanted and a remedy,
 * and that what doctor writes finds nothing. */
#include "unit.h"
#include "health/health.h"
#include "printed.h"
#include "snapshot.h"

static struct mount_profile p;
static const struct node_state node;
static struct health_options o;
static struct health_report report;
static char error[256];

static void add_mount(const char *mountpoint)
{
	struct nfs_mount like = { .server = "nas", .export = "/x", .version = "4.2" }, *m;

	strcpy(like.mountpoint, mountpoint);
	m = snapshot_mount(&now.calls, &like);
	strcpy(m->options[NFS_RSIZE], "1048576");
	strcpy(m->options[NFS_NCONNECT], "16");
	strcpy(m->options[NFS_RECOVERY], "hard");
	strcpy(m->options[NFS_AC], "3,60,30,60");
	m->readahead_bytes = 131072;
	m->readahead_known = true;
}

BEFORE_EACH()
{
	health_defaults(&o);
	o.profile = &p;
	o.node = &node;
	add_mount("/data");
	add_mount("/mnt/home of all");
	*snapshot_module(&now.calls, "sunrpc") =
		(struct client_module){ "sunrpc", "0a1b", "in-tree" };
	*snapshot_module(&now.calls, "nfs") = (struct client_module){ "nfs", "", "built-in" };
}

AFTER_EACH()
{
	free(p.wishes);
	p = (struct mount_profile){};
}

static int read_text(const char *text)
{
	free(p.wishes);
	p = (struct mount_profile){};
	return mount_profile_read(&p, text, strlen(text), error, sizeof(error));
}

static void evaluate(const char *text)
{
	if (read_text(text))
		fail_msg("%s", error);
	health_evaluate(&now, &o, 1700000000, &report);
}

static void assert_finds(const char *text, const char *reason)
{
	evaluate(text);
	assert_int_equal(report.total, 1);
	assert_int_equal(report.rules[HEALTH_MOUNT_PROFILE], HEALTH_WARN);
	assert_string_equal(report.findings[0].reason, reason);
}

TEST(what_differs_is_found_with_a_remedy)
{
	assert_finds("/data nconnect 8\n",
		     "Mount /data: nconnect is 16, wanted 8: The first mount of a server decides: "
		     "unmount all of its mounts, and mount again.");
	assert_string_equal(report.findings[0].device, "/data");
	assert_string_equal(report.findings[0].brief, "nconnect is 16, not 8: /data");
	assert_finds(
		"/mnt/* readahead 1048576-16777216 # bytes\n",
		"Mount /mnt/home of all: readahead is 131072, wanted 1048576-16777216: Set it at each "
		"mount, with nfsrahead of nfs-utils or by read_ahead_kb in /sys/class/bdi.");
	assert_finds(
		"/data vers 3|4.1\n",
		"Mount /data: vers is 4.2, wanted 3|4.1: Correct the options, unmount it and mount it "
		"again: a remount keeps them.");
	assert_finds(
		"node sunrpc ffff\n",
		"The NFS client: sunrpc is 0a1b, wanted ffff: Install the build of the other nodes, "
		"and restart the node.");
}

TEST(what_is_wanted_or_not_known_is_no_finding)
{
	evaluate("* nconnect 1|8-16\n"
		 "* recovery hard\n"
		 "* wsize 1048576\n" /* not known */
		 "* ac 3,60,30,60\n"
		 "/elsewhere* rsize 1\n"
		 "node sunrpc in-tree\n"
		 "node rpcrdma 77\n" /* not there */
		 "node nfs built-in\n");
	assert_int_equal(report.total, 0);
	o.profile = NULL;
	health_evaluate(&now, &o, 1700000000, &report);
	assert_int_equal(report.total, 0);
}

TEST(the_last_line_that_fits_counts)
{
	evaluate("* rsize 4096\n"
		 "/data rsize 1048576\n"
		 "/mnt/home?of?all rsize 65536-\n"
		 "/mnt/* rsize 1048576\n");
	assert_int_equal(report.total, 0);
}

TEST(a_damaged_file_says_where)
{
	static const char *const lines[][2] = {
		{ "/data nconnect\n", "line 1 is not MOUNT OPTION WANTED" },
		{ "# x\n\n/data nconnect 1 2\n", "line 3 is not MOUNT OPTION WANTED" },
		{ "data nconnect 1\n",
		  "line 1 must begin with a mount point, a pattern of mount points or node" },
		{ "/data sunrpc 1\n", "line 1 has no option that can be compared" },
		{ "node rsize 1\n", "line 1 has no option that can be compared" },
		{ "/data rsize "
		  "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		  "0000000000000000000000000\n",
		  "line 1 is too long" },
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		assert_int_equal(read_text(lines[i][0]), -EINVAL);
		assert_string_equal(error, lines[i][1]);
	}
}

TEST(what_is_written_is_what_is_wanted)
{
	FILE *out = text_begin();

	mount_profile_write(out, &now.calls);
	text_end(out);
	assert_non_null(strstr(text, "\n/mnt/home?of?all\tnconnect\t16\n"));
	assert_non_null(strstr(text, "\n/data\treadahead\t131072\n"));
	assert_non_null(strstr(text, "\nnode\tsunrpc\t0a1b\nnode\tnfs\tbuilt-in\n"));
	evaluate(text);
	assert_int_equal(p.count, 2 * 6 + 2);
	assert_int_equal(report.total, 0);
	strcpy(now.calls.mounts[1].options[NFS_RECOVERY], "soft");
	health_evaluate(&now, &o, 1700000000, &report);
	assert_int_equal(report.total, 1);
	assert_string_equal(report.findings[0].head, "recovery /mnt/home of all");
}
