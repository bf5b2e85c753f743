// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves which mounts of fstab are asked for, and that mounts of this machine are judged by what the kernel knows;
 * that a question never waits. Servers that do not answer are asked in a guest. */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "golden.h"
#include "made_up_tree.h"
#include "health/node.h"

/* The mounts from @first on, those that may only be read with ",ro", separated by blanks. */
static void assert_wanted(const struct node_state *f, size_t first, const char *expected)
{
	char got[300] = "";

	for (size_t i = first; i < f->mount_count; i++)
		append_text(got, "%s%s%s", *got ? " " : "", f->mounts[i].path,
			    f->mounts[i].read_only ? ",ro" : "");
	assert_string_equal(got, expected);
}

TEST(mounts_by_helpers_are_of_nfs)
{
	static const char text[] = "fs-12345678:/ /efs efs _netdev,tls 0 0\n"
				   "a.file.core.windows.net:/a/b /az aznfs sec=sys 0 0\n"
				   "x:/ /other oci-fss\n"
				   "mon-1:/ /ceph ceph ro\n"
				   "y:/ /absent oci-fss\n"
				   "LABEL=a /local ext4\n";
	struct node_state f = {};

	node_mounts_add_fstab(&f, text, strlen(text));
	assert_wanted(&f, 0, "/efs /az /other /ceph,ro /absent");
	/* What another helper mounts is looked at if it is one of NFS. */
	put("/mountinfo",
	    "1 0 0:9 / /other ro - nfs4 x:/ ro\n2 0 0:10 / /ceph ro - ceph mon:/ ro\n");
	node_mounts_look(&f, formatted("%s/mountinfo", root));
	assert_int_equal(f.mounts[0].state, MOUNT_ABSENT);
	assert_int_equal(f.mounts[2].state, MOUNT_READ_ONLY);
	assert_int_equal(f.mounts[3].state, MOUNT_FINE);
	assert_int_equal(f.mounts[4].state, MOUNT_FINE);
}

TEST(the_nfs_mounts_of_fstab_are_wanted)
{
	static const char text[] = "# nas:/x /commented nfs rw 0 0\n"
				   "nas:/a /a nfs rw 0 0\n"
				   "nas:/b\t/with\\040blank  nfs4 ro,hard 0 0\n"
				   "nas:/c /c nfs noauto 0 0\n"
				   "nas:/d /d nfs rw,x-systemd.automount 0 0\n"
				   "/dev/sda1 / ext4 defaults 0 1\n"
				   "nas:/e /e nfs noautos\n"
				   "nas:/f\n"
				   "nas:/e /e/ nfs\n"
				   "nas:/a /a nfs rw 0 0\n"
				   "nas:/g /g nfs";
	struct node_state f = {};

	node_mounts_add_fstab(&f, text, strlen(text));
	assert_wanted(&f, 0, "/a /with blank,ro /e /g");
	node_mounts_add(&f, "/data,ro");
	/* as mountinfo has them */
	node_mounts_add(&f, "//h///i/,ro");
	node_mounts_add(&f, "//");
	node_mounts_add(&f, "/e/,ro");
	assert_wanted(&f, 2, "/e,ro /g /data,ro /h/i,ro /");
	assert_int_equal(f.mounts_left_out, 0);
	for (int i = 0; i < 100; i++)
		node_mounts_add(&f, formatted("/many/%d", i));
	assert_int_equal(f.mount_count, NODE_MOUNTS_MAX);
	assert_int_equal(f.mounts_left_out, 7 + 100 - NODE_MOUNTS_MAX);
}

/* How mountinfo's @text leaves a mount at /data that may be written. */
static struct node_mount look(const char *text)
{
	struct node_mount mount = { .path = "/data", .state = MOUNT_ABSENT };
	struct span rest = span_of(text);
	struct mountinfo_line m;

	while (mountinfo_next_line(&rest, &m))
		node_mount_look(&mount, &m);
	return mount;
}

static const char *state_of(const char *mountinfo)
{
	static const char *const states[] = {
		[MOUNT_ABSENT] = "absent", [MOUNT_FINE] = "fine", [MOUNT_READ_ONLY] = "read-only"
	};
	const struct node_mount mount = look(mountinfo);

	assert_true(mount.state < COUNT(states));
	return formatted("%s%s%s", states[mount.state], *mount.device ? " " : "", mount.device);
}

TEST(the_nodes_own_mount_counts)
{
	assert_golden_in(TEST_DATA "/texts.tsv", "the mount at /data", state_of);
}

static uint64_t replies(const char *stats, const char *path)
{
	return mount_replies(span_of(stats), path);
}

TEST(replies_are_those_of_the_mounts_transports)
{
	static const char stats[] =
		"device nas:/other mounted on /other with fstype nfs statvers=1.1\n"
		"\txprt:\ttcp 1 2 3 4 5 6 100 8\n"
		"device nas:/d mounted on /with\\040blank with fstype nfs4 statvers=1.1\n"
		"\tage:\t7\n"
		"\txprt:\ttcp 1 2 3 4 5 6 20 8\n"
		"\txprt:\tudp 1 2 3 4 5 6\n"
		"\txprt:\ttcp 1 2 3\n"
		"no device mounted on /with\\040blank with fstype nfs\n"
		"device nas:/d mounted on /with\\040blank with fstype ext4\n"
		"\txprt:\ttcp 1 2 3 4 5 6 100 8\n";

	assert_int_equal(replies(stats, "/with blank"), 20 + 4);
	assert_int_equal(replies(stats, "/absent"), 0);
}

TEST(a_servers_text_begins_no_mount)
{
	static const char stats[] = "device nas:/a mounted on /a with fstype nfs4 statvers=1.1\n"
				    "\timpl_id:\tname='x\n"
				    "device nas:/d mounted on /d with fstype nfs4 statvers=1.1\n"
				    "',domain='y',date='0,0'\n"
				    "\txprt:\ttcp 1 2 3 4 5 6 20 8\n";

	assert_int_equal(replies(stats, "/d"), 0);
	assert_int_equal(replies(stats, "/a"), 20);
}

/* ---- questions to servers ---- */

static struct mount_question q;
static struct node_state f;
static uint64_t asked_ns;
/* What the process that asks comes to: it ends, sleeps after its first byte, or runs on. */
static enum { ENDS, SLEEPS, RUNS } fate;

/* A mount of this machine, and no question to it yet. */
BEFORE_EACH()
{
	signal(SIGCHLD, SIG_IGN);
	f = (struct node_state){};
	q = (struct mount_question){};
	asked_ns = 1;
	fate = ENDS;
	node_mounts_add(&f, "/proc");
	node_mounts_look(&f, "/proc/self/mountinfo");
}

/* system() fails while the signal is ignored. */
AFTER_EACH()
{
	helper_free(&q.helper);
	signal(SIGCHLD, SIG_DFL);
}

static bool no_stats; /* mountstats cannot be opened */

int open(const char *path, int flags, ...)
{
	va_list more;
	int mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (no_stats && strstr(path, "mountstats")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* After that many more seconds, and when the process has come to its fate. */
static enum mount_state answer_after(uint64_t seconds)
{
	struct pollfd pipe = { .events = POLLIN };

	asked_ns += seconds * 1000000000;
	node_mounts_ask(&f, &q, 1, asked_ns);
	for (int tries = 0; q.helper.running && tries < 300000; tries++) {
		pipe.fd = q.helper.pipe;
		poll(&pipe, 1, 1);
		if (pipe.revents & POLLHUP)
			break;
		if ((pipe.revents & POLLIN || q.asked) && fate != ENDS)
			if (fate == RUNS || helper_sleeps(&q.helper))
				break;
		usleep(1000);
	}
	return f.mounts[0].answer;
}

TEST(a_mount_of_this_machine_answers)
{
	assert_string_not_equal(f.mounts[0].device, "");
	assert_int_equal(answer_after(0), MOUNT_FINE);
	assert_true(q.helper.running);
	assert_int_equal(answer_after(1), MOUNT_FINE);
	assert_false(q.helper.running);
	assert_true(q.asked);
	/* every half minute */
	assert_int_equal(answer_after(28), MOUNT_FINE);
	assert_false(q.helper.running);
	answer_after(1);
	assert_true(q.helper.running);
}

/* As a file system that a user has mounted over it since. */
TEST(another_device_is_not_asked)
{
	strcpy(f.mounts[0].device, "0:9999");
	answer_after(0);
	answer_after(1);
	assert_false(q.helper.running);
	assert_false(q.asked);
}

static void ask_a_mute_server(const void *context, FILE *out)
{
	fputc('a', out);
	fflush(out);
	for (;;)
		if (context) /* never: it has no CPU */
			continue;
		else
			pause();
}

/* Asks such a server; the process comes to this fate within the second that it has. */
static void ask_a_server_that(__typeof__(fate) sleeps_or_runs)
{
	fate = sleeps_or_runs;
	q.due_ns = UINT64_MAX;
	q.deadline_ns = 1000000000;
	assert_true(helper_start(&q.helper, "mute", ask_a_mute_server, fate == RUNS ? &q : NULL));
	/* one that hangs is not followed by a second */
	assert_false(helper_start(&q.helper, "mute", ask_a_mute_server, NULL));
	assert_int_equal(answer_after(0), MOUNT_FINE);
}

TEST(a_server_that_does_not_answer_has_hung)
{
	ask_a_server_that(SLEEPS);
	fate = ENDS; /* it is killed */
	assert_int_equal(answer_after(1), MOUNT_HUNG);
	/* its process has ended, the answer stays until the next */
	assert_int_equal(answer_after(1), MOUNT_HUNG);
	assert_false(q.helper.running);
	q.due_ns = 0;
	answer_after(1);
	assert_int_equal(answer_after(1), MOUNT_FINE);
}

TEST(without_mountstats_no_server_has_hung)
{
	ask_a_server_that(SLEEPS);
	fate = ENDS;
	no_stats = true;
	assert_int_equal(answer_after(1), MOUNT_FINE);
	assert_true(q.killed);
	no_stats = false;
}

TEST(a_process_without_a_cpu_says_nothing_of_the_server)
{
	ask_a_server_that(RUNS);
	assert_int_equal(answer_after(5), MOUNT_FINE);
	assert_true(q.helper.running);
}
