// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether file systems of servers can be used. */
#include "health/node.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"

#define PROC_MAX_BYTES (64 << 20)
#define LOCK_TRY_US 20000
/* A turn of the wait that took longer counts as this: the processes have had no CPU, which says nothing
 * of the server. Nothing is known if the wait then takes so much longer than the limit. */
#define TURN_NS 50000000ull
#define STARVED_NS 4000000000ull
/* How long to wait for a process that was killed: one that sleeps uninterruptibly stays. */
#define KILL_NS 50000000ull

/* One mount while it is asked. */
struct probe {
	struct node_mount *mount;
	int answer; /* pipe; -1: not asked, or it has answered */
	pid_t pid;
	uint64_t replies; /* of its server, at half of the time */
};

/* ---- what the kernel knows ---- */

/* Without the list of mounts nothing is known against any. */
void node_mounts_look(struct node_state *node, const char *mountinfo)
{
	FILE_TEXT text = {};
	struct mountinfo_line m;
	struct span rest;
	bool read = node->mount_count && !file_text_read(&text, mountinfo, PROC_MAX_BYTES);

	ARRAY_EACH(mount, node->mounts, node->mount_count) {
		mount->state = read ? MOUNT_ABSENT : MOUNT_FINE;
		mount->device[0] = 0;
	}
	rest = file_text_span(&text);
	while (span_left(rest))
		if (mountinfo_read_line(&m, span_take_line(&rest)))
			ARRAY_EACH(mount, node->mounts, node->mount_count)
				node_mount_look(mount, &m);
	ARRAY_EACH(mount, node->mounts, node->mount_count)
		if (mount->helpers && mount->state == MOUNT_ABSENT)
			mount->state = MOUNT_FINE;
}

static uint64_t count_replies(const struct probe *p)
{
	FILE_TEXT text = {};

	file_text_read(&text, "/proc/self/mountstats", PROC_MAX_BYTES);
	return mount_replies(file_text_span(&text), p->mount->path);
}

/* ---- asking ---- */

/* From now on this process does not see what others mount: between the look at the mounts and the question, a user
 * could mount a file system of their own over one of them. Returns a descriptor of the namespace before, or -1: only
 * root can do that. */
static int freeze_mounts(void)
{
	int before = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);

	if (before >= 0 &&
	    (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))) {
		close(before);
		before = -1;
	}
	return before;
}

/* What the failure of a question says of the mount; 0: it did not fail. A server that refuses has answered. */
static char state_of_error(int error)
{
	switch (error) {
	case ESTALE:
		return MOUNT_STALE;
	case EIO:
	case ETIMEDOUT:
	case ECONNREFUSED:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return MOUNT_HUNG;
	default:
		return MOUNT_FINE;
	}
}

/* In a process of its own, whose end gives the lock back. It leaves the namespace of freeze_mounts(): there
 * it would keep all mounts of the node busy while it hangs. */
static void __attribute__((noreturn)) ask(const char *path, int answer, int lock, int before)
{
	struct statx status;
	int folder, error;
	char state;

	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "xidscope-mount");
	/* Who has called this program may wait for the end of its output, or for another lock. */
	answer = fcntl(answer, F_DUPFD, 3);
	lock = fcntl(lock, F_DUPFD, 3);
	before = fcntl(before, F_DUPFD, 3);
	dup2(answer, 0);
	dup2(lock, 1);
	dup2(before, 2);
	closefrom(before < 0 ? 2 : 3);
	folder = chdir("/") ? -1 : open(path, O_PATH | O_CLOEXEC); /* asks no server */
	error = folder < 0 ? errno : 0;
	if (before >= 0 && !setns(2, CLONE_NEWNS))
		close(2);
	if (!error &&
	    statx(folder, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status))
		error = errno;
	state = state_of_error(error);
	if (write(0, &state, 1) < 0)
		_exit(1);
	_exit(0);
}

/* Returns a descriptor that holds the lock, or -1: another process asks, or -2: no lock can be had. */
static int take_lock(const char *locks, const char *device)
{
	int fd = open(PATHF("%s/mount-%s", locks, device),
		      O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -2;
	return file_unless(fd, flock(fd, LOCK_EX | LOCK_NB));
}

/* Tries to begin. False: another process is asking. */
static bool begin(struct probe *p, const char *locks, int before)
{
	int lock = take_lock(locks, p->mount->device), pair[2];

	if (lock == -1)
		return false;
	p->pid = -1;
	if (lock >= 0 && !pipe2(pair, O_CLOEXEC)) {
		p->pid = fork();
		if (!p->pid)
			ask(p->mount->path, pair[1], lock, before);
		close(pair[1]);
		p->answer = pair[0];
	}
	if (p->pid < 0)
		p->mount->device[0] = 0; /* it is not known */
	file_close(&lock);
	return true;
}

/* Reads the answers that have come. Returns how many mounts are still to answer, or to ask. */
static size_t serve(struct probe *probes, size_t count, const char *locks, int before)
{
	size_t left = 0;
	char state;

	ARRAY_EACH(p, probes, count) {
		struct pollfd ready = { p->answer, POLLIN, 0 };

		if (!p->mount->device[0])
			continue;
		if (!p->pid && !begin(p, locks, before)) {
			left++;
			continue;
		}
		if (!p->mount->device[0] || p->answer < 0)
			continue;
		ready.fd = p->answer;
		if (poll(&ready, 1, 0) <= 0) {
			left++;
			continue;
		}
		if (read(p->answer, &state, 1) == 1 && state != MOUNT_FINE)
			p->mount->state = (enum mount_state)state;
		close(p->answer);
		p->answer = -1;
		waitpid(p->pid, NULL, WNOHANG);
	}
	return left;
}

/* Ends the processes that have not answered, if that is possible: they are waited for until @until alone. */
static void give_up(struct probe *probes, size_t count, uint64_t until)
{
	ARRAY_EACH(p, probes, count)
		if (p->pid > 0 && p->answer >= 0)
			kill(p->pid, SIGKILL);
	ARRAY_EACH(p, probes, count) {
		if (p->pid <= 0 || p->answer < 0)
			continue;
		close(p->answer);
		while (!waitpid(p->pid, NULL, WNOHANG) && monotonic_ns() < until)
			usleep(1000);
	}
}

static bool is_waiting(const struct probe *p)
{
	return p->mount->device[0] && (!p->pid || p->answer >= 0);
}

void node_mounts_ask(struct node_state *node, const char *locks, double limit)
{
	uint64_t time = (uint64_t)(limit * 1e9);
	struct waited waited = wait_begin();
	struct probe probes[NODE_MOUNTS_MAX] = {};
	bool counted = false;
	int before;

	for (size_t i = 0; i < NODE_MOUNTS_MAX; i++)
		probes[i] = (struct probe){ .mount = &node->mounts[i], .answer = -1 };
	/* Where the caller ignores SIGCHLD, the kernel gives the number of a process that has ended to another
	 * one, which would then be killed. */
	signal(SIGCHLD, SIG_DFL);
	before = freeze_mounts();
	node_mounts_look(node, "/proc/self/mountinfo");
	mkdir(locks, 0700);
	while (serve(probes, node->mount_count, locks, before)) {
		wait_turn(&waited, TURN_NS);
		if (waited.sum_ns >= time || waited.last_ns >= waited.begin_ns + time + STARVED_NS)
			break;
		if (!counted && waited.sum_ns > time / 10) {
			for (size_t i = 0; i < node->mount_count; i++)
				if (is_waiting(&probes[i]))
					probes[i].replies = count_replies(&probes[i]);
			counted = true;
		}
		usleep(counted ? LOCK_TRY_US : 1000);
	}
	ARRAY_EACH(p, probes, node->mount_count) {
		if (!is_waiting(p) || waited.sum_ns < time)
			continue;
		/* A server that answers others is slow, and has not hung. */
		if (!counted || count_replies(p) == p->replies)
			p->mount->state = MOUNT_HUNG;
	}
	give_up(probes, node->mount_count, monotonic_ns() + KILL_NS);
	file_close(&before);
}
