// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether file systems of servers can be used. */
#include "health/mount_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mountstats_head.h"

#define BLANKS " \t"
#define LOCK_TRY_US 20000
/* A turn of the wait that took longer counts as this: the processes have had no CPU, which says nothing
 * of the server. Nothing is known if the wait then takes so much longer than the limit. */
#define TURN_NS 50000000ull
#define STARVED_NS 4000000000ull
/* How long to wait for a process that was killed: one that sleeps uninterruptibly stays. */
#define KILL_NS 50000000ull

/* One mount while it is asked. */
struct probe {
	struct mount_fact *fact;
	char device[32]; /* "0:52"; "": no server is asked */
	int answer; /* pipe; -1: not asked, or it has answered */
	pid_t pid;
	uint64_t replies; /* of its server, at half of the time */
};

/* ---- which mounts there are to be ---- */

/* \ooo in fstab and proc. False: it does not fit. */
static bool unescape(struct span from, char *to, size_t size)
{
	size_t used = 0;

	while (span_left(from)) {
		char c = *from.at++;

		if (c == '\\' && span_left(from) >= 3 && span_digit(from.at[0]) < 4 &&
		    span_digit(from.at[1]) < 8 && span_digit(from.at[2]) < 8) {
			c = (char)(span_digit(from.at[0]) << 6 | span_digit(from.at[1]) << 3 |
				   span_digit(from.at[2]));
			from.at += 3;
		}
		if (!c || used + 1 == size)
			return false;
		to[used++] = c;
	}
	to[used] = 0;
	return used;
}

/* Whether @options, separated by commas, have this one. */
static bool has_option(struct span options, const char *name)
{
	while (span_left(options)) {
		if (span_is(span_take_until(&options, ","), name))
			return true;
		span_take(&options, ",");
	}
	return false;
}

/* As mountinfo has it: without a '/' that another one follows, or that ends it. */
static void add(struct node_facts *facts, const char *path, bool read_only)
{
	struct mount_fact *m, new = { .read_only = read_only };
	size_t used = 0;

	for (; *path; path++) {
		if (*path == '/' && (path[1] == '/' || (!path[1] && used)))
			continue;
		if (used + 1 == sizeof(new.path))
			return;
		new.path[used++] = *path;
	}
	for (m = facts->mounts; m < facts->mounts + facts->mount_count; m++)
		if (!strcmp(m->path, new.path)) {
			m->read_only |= read_only;
			return;
		}
	if (facts->mount_count < MAX_MOUNT_FACTS)
		facts->mounts[facts->mount_count++] = new;
	else
		facts->mounts_left_out++;
}

void mount_facts_add(struct node_facts *facts, const char *path)
{
	size_t len = strlen(path);
	bool read_only = len > 3 && !strcmp(path + len - 3, ",ro");
	char name[LABEL_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)(read_only ? len - 3 : len), path);
	add(facts, name, read_only);
}

static struct span take_field(struct span *line)
{
	span_take_run(line, BLANKS);
	return span_take_until(line, BLANKS);
}

void mount_facts_add_fstab(struct node_facts *facts, const char *text, size_t len)
{
	struct span rest = { text, text + len }, line, source, path, type, options;
	char name[LABEL_SIZE];

	while (span_left(rest)) {
		line = span_take_line(&rest);
		source = take_field(&line);
		path = take_field(&line);
		type = take_field(&line);
		options = take_field(&line);
		if (span_starts_with(source, "#") ||
		    !(span_is(type, "nfs") || span_is(type, "nfs4")))
			continue;
		if (!has_option(options, "noauto") && !has_option(options, "x-systemd.automount") &&
		    unescape(path, name, sizeof(name)))
			add(facts, name, has_option(options, "ro"));
	}
}

/* ---- what the kernel knows ---- */

/* Whether it is a file system that a user has mounted: whoever may write to a folder can mount one over it (fusermount3(1)). */
static bool is_users(struct span type, struct span super)
{
	while (span_starts_with(type, "fuse") && span_left(super)) {
		struct span option = span_take_until(&super, ",");

		if (span_take(&option, "user_id="))
			return !span_is(option, "0");
		span_take(&super, ",");
	}
	return false;
}

/* Whether @path leads to @folder. */
static bool leads_to(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* The mount at this path, which a later one may cover. */
static void read_own(struct probe *p, struct span device, struct span type, struct span options,
		     struct span super)
{
	p->fact->state = MOUNT_FINE;
	p->device[0] = 0;
	/* What is mounted on demand is not asked for here. */
	if (span_is(type, "autofs"))
		return;
	if (!p->fact->read_only && (has_option(options, "ro") || has_option(super, "ro")))
		p->fact->state = MOUNT_READ_ONLY;
	else
		span_copy(device, p->device, sizeof(p->device));
}

/* A line of mountinfo (proc(5)). */
static void read_mount(struct probe *p, struct span line)
{
	struct span device, path, options, type, super, rest = line;
	char name[LABEL_SIZE];

	take_field(&rest);
	take_field(&rest);
	device = take_field(&rest);
	take_field(&rest);
	path = take_field(&rest);
	options = take_field(&rest);
	if (!unescape(path, name, sizeof(name)) || !leads_to(p->fact->path, name) ||
	    !span_take_through(&rest, " - "))
		return;
	type = take_field(&rest);
	take_field(&rest);
	super = take_field(&rest);
	/* The node's own mount cannot be asked through it. */
	if (p->fact->state != MOUNT_ABSENT && is_users(type, super))
		p->device[0] = 0;
	else if (!strcmp(name, p->fact->path))
		read_own(p, device, type, options, super);
}

static void read_mounts(struct probe *probes, size_t count)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (mounts && (len = getline(&line, &room, mounts)) > 0)
		for (size_t i = 0; i < count; i++)
			read_mount(&probes[i], (struct span){ line, line + len - 1 });
	free(line);
	if (mounts)
		fclose(mounts);
}

/* The replies that the transports of an NFS mount have brought, from mountstats, which asks no
 * server: of "xprt: tcp" and rdma the seventh figure, of udp the fourth. */
static uint64_t count_replies(const char *path)
{
	FILE *stats = fopen("/proc/self/mountstats", "re");
	char *line = NULL, name[LABEL_SIZE];
	uint64_t replies = 0, value;
	struct mountstats_place place = {};
	bool here = false;
	size_t room = 0;
	ssize_t len;

	while (stats && (len = getline(&line, &room, stats)) > 0) {
		struct span rest = { line, line + len - 1 };
		bool udp;

		/* "device nas:/export mounted on /mnt/with\\040blank with fstype nfs4" */
		if (mountstats_is_head(&place, rest))
			here = span_take_through(&rest, " mounted on ") &&
			       unescape(take_field(&rest), name, sizeof(name)) &&
			       !strcmp(name, path) && span_take(&rest, " with fstype nfs");
		if (!here || !span_take_through(&rest, "xprt:\t"))
			continue;
		udp = span_is(take_field(&rest), "udp");
		for (int i = 0; i < (udp ? 3 : 6); i++)
			take_field(&rest);
		if (span_number(take_field(&rest), UINT64_MAX, &value))
			replies += value;
	}
	free(line);
	if (stats)
		fclose(stats);
	return replies;
}

/* ---- asking ---- */

/*
 * From now on this process does not see what others mount: between the look at the mounts and the
 * question, a user could mount a file system of their own over one of them. Returns a descriptor of
 * the namespace before, or -1: only root can do that.
 */
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

/* In a process of its own, whose end gives the lock back. It leaves the namespace of freeze_mounts(), in
 * which each mount of the node would last as long as this process hangs. */
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

/* Returns a descriptor that holds the lock, or -1: another process asks, or -2: no lock can be
 * had. */
static int take_lock(const char *locks, const char *device)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/mount-%s", locks, device);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -2;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -1;
}

/* Tries to begin. False: another process is asking. */
static bool begin(struct probe *p, const char *locks, int before)
{
	int lock = take_lock(locks, p->device), pair[2];

	if (lock == -1)
		return false;
	p->pid = -1;
	if (lock >= 0 && !pipe2(pair, O_CLOEXEC)) {
		p->pid = fork();
		if (!p->pid)
			ask(p->fact->path, pair[1], lock, before);
		close(pair[1]);
		p->answer = pair[0];
	}
	if (p->pid < 0)
		p->device[0] = 0; /* it is not known */
	if (lock >= 0)
		close(lock);
	return true;
}

static void end(struct probe *p)
{
	close(p->answer);
	p->answer = -1;
	waitpid(p->pid, NULL, WNOHANG);
}

/* Reads the answers that have come. Returns how many mounts are still to answer, or to ask. */
static size_t serve(struct probe *probes, size_t count, const char *locks, int before)
{
	size_t left = 0;
	char state;

	for (struct probe *p = probes; p < probes + count; p++) {
		struct pollfd ready = { p->answer, POLLIN, 0 };

		if (!p->device[0])
			continue;
		if (!p->pid && !begin(p, locks, before)) {
			left++;
			continue;
		}
		if (!p->device[0] || p->answer < 0)
			continue;
		ready.fd = p->answer;
		if (poll(&ready, 1, 0) <= 0) {
			left++;
			continue;
		}
		if (read(p->answer, &state, 1) == 1 && state != MOUNT_FINE)
			p->fact->state = (enum mount_state)state;
		end(p);
	}
	return left;
}

/* Ends the processes that have not answered, if that is possible: they are waited for until
 * @until alone. */
static void give_up(struct probe *probes, size_t count, uint64_t until)
{
	for (struct probe *p = probes; p < probes + count; p++)
		if (p->pid > 0 && p->answer >= 0)
			kill(p->pid, SIGKILL);
	for (struct probe *p = probes; p < probes + count; p++) {
		if (p->pid <= 0 || p->answer < 0)
			continue;
		close(p->answer);
		while (!waitpid(p->pid, NULL, WNOHANG) && monotonic_ns() < until)
			usleep(1000);
	}
}

static bool is_waiting(const struct probe *p)
{
	return p->device[0] && (!p->pid || p->answer >= 0);
}

void mount_facts_ask(struct node_facts *facts, const char *locks, double limit)
{
	uint64_t time = (uint64_t)(limit * 1e9);
	struct waited waited = wait_begin();
	struct probe probes[MAX_MOUNT_FACTS] = {};
	bool counted = false;
	int before;

	for (size_t i = 0; i < facts->mount_count; i++) {
		probes[i] = (struct probe){ .fact = &facts->mounts[i], .answer = -1 };
		facts->mounts[i].state = MOUNT_ABSENT;
	}
	/* The caller may ignore it: then a process that has ended would leave its number to another. */
	signal(SIGCHLD, SIG_DFL);
	before = freeze_mounts();
	read_mounts(probes, facts->mount_count);
	mkdir(locks, 0700);
	while (serve(probes, facts->mount_count, locks, before)) {
		wait_turn(&waited, TURN_NS);
		if (waited.sum_ns >= time || waited.last_ns >= waited.begin_ns + time + STARVED_NS)
			break;
		if (!counted && waited.sum_ns > time / 10) {
			for (size_t i = 0; i < facts->mount_count; i++)
				if (is_waiting(&probes[i]))
					probes[i].replies = count_replies(probes[i].fact->path);
			counted = true;
		}
		usleep(counted ? LOCK_TRY_US : 1000);
	}
	for (size_t i = 0; i < facts->mount_count; i++) {
		struct probe *p = &probes[i];

		if (!is_waiting(p) || waited.sum_ns < time)
			continue;
		/* A server that answers others is slow, and has not hung. */
		if (!counted || count_replies(p->fact->path) == p->replies)
			p->fact->state = MOUNT_HUNG;
	}
	give_up(probes, facts->mount_count, monotonic_ns() + KILL_NS);
	if (before >= 0)
		close(before);
}
