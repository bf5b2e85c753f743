// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes system calls of an agent and its writers fail, by seccomp's user notification. */
#include "intercept.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where the child has its listener: the parent takes a copy from there. */
#define LISTENER 3

static const struct {
	const char *name;
	int number;
} names[] = {
#include "syscalls.inc"
};

const char *const caller_names[CALLERS] = {
	[CALLER_AGENT] = "agent",   [CALLER_NEW] = "new",     [CALLER_GPUS] = "gpus",
	[CALLER_OUTPUT] = "output", [CALLER_STATE] = "state", [CALLER_EVENTS] = "events",
};

int caller_number(const char *name)
{
	for (int c = 0; c < CALLERS; c++)
		if (!strcmp(caller_names[c], name))
			return c;
	return -1;
}

int syscall_number(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name))
			return names[i].number;
	return -1;
}

const char *syscall_name(int number)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	return "unknown";
}

static void become(const char *log, char *const argv[], bool all_calls)
{
	struct sock_filter notify[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF) };
	struct sock_fprog program = { 1, notify };
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(127);
	syscall(SYS_close_range, LISTENER, ~0u, 0);
	/* The kernel closes the listener on exec. */
	if (all_calls && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				 SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) != LISTENER)
		_exit(127);
	execv(argv[0], argv);
	_exit(127);
}

/* A copy of the child's listener; -1: it has none yet. */
static int take_listener(int pidfd)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, LISTENER, 0);
	__u64 none = 0;

	/* What the child has inherited by that number is none. */
	if (fd >= 0 && ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &none) && errno != ENOENT) {
		close(fd);
		return -1;
	}
	return fd;
}

void intercept_start(struct intercepted *i, const char *log, char *const argv[], bool all_calls)
{
	int pidfd;

	*i = (struct intercepted){ .listener = -1 };
	i->pid = fork();
	if (!i->pid)
		become(log, argv, all_calls);
	pidfd = (int)syscall(SYS_pidfd_open, i->pid, 0);
	if (i->pid < 0 || pidfd < 0)
		error(1, errno, "cannot start %s", argv[0]);
	i->callers[CALLER_AGENT] = i->pid;
	for (int tries = 0; all_calls && i->listener < 0 && tries < 5000; tries++) {
		usleep(1000);
		i->listener = take_listener(pidfd);
	}
	close(pidfd);
	if (all_calls && i->listener < 0)
		error(1, 0, "cannot intercept %s: run this as root, on Linux 5.6 or later",
		      argv[0]);
}

void intercept_arm(struct intercepted *i, enum pattern pattern, enum caller caller, int number,
		   int error, unsigned int cycle, unsigned int limit)
{
	i->caller = caller;
	i->number = number;
	i->error = error;
	i->cycle = cycle;
	i->limit = limit;
	i->matched = 0;
	i->failed = 0;
	i->pattern = pattern;
}

void intercept_disarm(struct intercepted *i)
{
	i->pattern = PATTERN_NONE;
}

/* The process that called has the filter from the agent, and the agent's name until it gives itself one. */
static enum caller caller_of(struct intercepted *i, pid_t pid)
{
	char path[64], name[32] = "";
	FILE *comm;
	int caller = CALLER_NEW;

	for (int c = 0; c < CALLERS; c++)
		if (c != CALLER_NEW && i->callers[c] == pid)
			return (enum caller)c;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = fopen(path, "re");
	if (comm && fscanf(comm, "xidscope-%31s", name) == 1)
		caller = caller_number(name);
	if (comm)
		fclose(comm);
	if (caller < 0)
		error(1, 0, "what is xidscope-%s?", name);
	i->callers[caller] = pid;
	return (enum caller)caller;
}

static bool shall_fail(struct intercepted *i, enum caller caller, int number)
{
	unsigned int n;

	if (i->pattern == PATTERN_NONE || caller != i->caller || number != i->number ||
	    i->failed >= i->limit)
		return false;
	n = i->matched++;
	switch (i->pattern) {
	case PATTERN_FIRST:
		return n == 0;
	case PATTERN_WALK:
		return n % (i->cycle + 1) == 0;
	default:
		return true;
	}
}

static void handle_call(struct intercepted *i)
{
	struct seccomp_notif call = {};
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	enum caller caller;

	if (ioctl(i->listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return; /* it was killed meanwhile */
	answer.id = call.id;
	caller = caller_of(i, (pid_t)call.pid);
	if (i->counts && call.data.nr >= 0 && call.data.nr < SYSCALLS)
		i->counts[caller][call.data.nr]++;
	if (shall_fail(i, caller, call.data.nr)) {
		answer.flags = 0;
		/* brk() returns the break as it was: libc takes 0 for failure. */
		answer.error = call.data.nr == SYS_brk ? 0 : -i->error;
		i->failed++;
	}
	ioctl(i->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void intercept_serve(struct intercepted *i, int ms)
{
	struct pollfd listener = { .fd = i->listener, .events = POLLIN };
	double end = now_ms() + ms, left;

	while (!i->ended && (left = end - now_ms()) > 0) {
		/* The listener reports the end of the program with a delay. */
		poll(&listener, 1, left < 5 ? (int)left + 1 : 5);
		if (listener.revents & POLLIN)
			handle_call(i);
		else if (waitpid(i->pid, &i->status, WNOHANG) == i->pid)
			i->ended = true;
	}
	if (i->ended && i->listener >= 0) {
		close(i->listener);
		i->listener = -1;
	}
}

void intercept_kill_writers(struct intercepted *i)
{
	for (int c = CALLER_OUTPUT; c < CALLERS; c++)
		if (i->callers[c])
			kill(i->callers[c], SIGKILL);
}
