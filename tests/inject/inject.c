// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that no failing system call makes the agent crash, hang, tear its file,
 * take a counter back, or lose or double a fault; see usage below. Prints one
 * line for each case, fields separated by tabs. As root.
 */
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent.h"
#include "disturb.h"

static const char usage[] =
	"inject list DIR AGENT [OPTION...]: the system calls that an agent makes once it has\n"
	"    started: name, calls in an interval, calls in all, calls after SIGTERM\n"
	"inject errors SYSCALL: those with which it may fail\n"
	"inject case DIR SYSCALL ERROR first|walk|all|end CALLS AGENT [OPTION...]: makes it fail;\n"
	"    prints SYSCALL ERROR PATTERN, how often it failed, and ok or what was wrong\n"
	"inject disturb DIR WHAT TIMES AGENT [OPTION...]: disturbs it as disturb.c has it;\n"
	"    prints WHAT, how often, and ok or what was wrong\n";

/* The errors that the manual pages, and the kernel for what the agent opens, have
 * for a call; "": those of any other. A filter of system calls gives EPERM. */
static const struct {
	const char *call, *errors;
} plausible[] = {
	{ "read", "EINTR EAGAIN EIO ENOMEM" },
	{ "pread64", "EINTR EIO" },
	{ "write", "EINTR EAGAIN EIO ENOSPC EDQUOT" },
	{ "open", "EINTR ENOENT EACCES EMFILE ENOMEM EROFS ENOSPC" },
	{ "openat", "EINTR ENOENT EACCES EMFILE ENOMEM EROFS ENOSPC" },
	{ "close", "EINTR EIO" },
	{ "fstat", "EIO ENOMEM" },
	{ "newfstatat", "ENOENT EACCES EIO ENOMEM" },
	{ "statx", "ENOENT EACCES EIO ENOMEM" },
	{ "access", "ENOENT EACCES EIO" },
	{ "faccessat", "ENOENT EACCES EIO" },
	{ "faccessat2", "ENOENT EACCES EIO" },
	{ "rename", "ENOENT EACCES ENOSPC EROFS EIO" },
	{ "renameat2", "ENOENT EACCES ENOSPC EROFS EIO" },
	{ "unlink", "ENOENT EACCES EROFS EIO" },
	{ "fchmod", "EPERM EROFS EIO" },
	{ "flock", "EINTR EWOULDBLOCK ENOLCK" },
	{ "lseek", "EIO" },
	{ "getdents64", "EIO ENOMEM" },
	{ "poll", "EINTR ENOMEM" },
	{ "ppoll", "EINTR ENOMEM" },
	{ "epoll_wait", "EINTR" },
	{ "epoll_pwait", "EINTR" },
	{ "epoll_ctl", "ENOMEM ENOSPC" },
	{ "recvfrom", "EINTR ENOBUFS ENOMEM" },
	{ "bpf", "ENOMEM EPERM EAGAIN" },
	{ "mmap", "ENOMEM" },
	{ "mremap", "ENOMEM" },
	{ "munmap", "ENOMEM" },
	{ "madvise", "ENOMEM EAGAIN" },
	{ "brk", "ENOMEM" },
	{ "exit_group", NULL },
	{ "rt_sigreturn", NULL },
	{ "restart_syscall", NULL },
	{ "", "EPERM ENOMEM" },
};

static const char *errors_of(const char *call)
{
	size_t i = 0;

	while (*plausible[i].call && strcmp(plausible[i].call, call) != 0)
		i++;
	return plausible[i].errors;
}

static int error_number(const char *name)
{
	for (int e = 1; e < 134; e++)
		if (strerrorname_np(e) && !strcmp(strerrorname_np(e), name))
			return e;
	/* The same number as EAGAIN. */
	if (!strcmp(name, "EWOULDBLOCK"))
		return EWOULDBLOCK;
	error(2, 0, "no error %s", name);
	return 0;
}

static int list(const char *dir, char **command)
{
	unsigned int before[SYSCALLS], versions;
	struct agent a;

	agent_begin(&a, dir, command);
	versions = a.file.versions;
	a.calls.counting = true;
	for (int i = 0; i < 5; i++) {
		agent_fault(&a);
		agent_serve(&a, 500);
	}
	kill(a.calls.pid, SIGHUP);
	agent_catch_up(&a);
	agent_serve(&a, 3000);
	versions = a.file.versions - versions;
	memcpy(before, a.calls.calls, sizeof(before));
	agent_stop(&a);
	for (int n = 0; n < SYSCALLS; n++)
		if (a.calls.calls[n])
			printf("%s\t%u\t%u\t%u\n", syscall_name(n),
			       (before[n] + versions - 1) / versions, before[n],
			       a.calls.calls[n] - before[n]);
	return 0;
}

/* While calls fail, faults are printed and the agent is asked for its file. */
static void fail_calls(struct agent *a, int number, int err, enum pattern pattern,
		       unsigned int cycle)
{
	unsigned int limit = pattern == PATTERN_FIRST ? 1 : pattern == PATTERN_WALK ? cycle : 2000;

	intercept_arm(&a->calls, pattern, number, err, cycle, limit);
	for (int i = 0; i < 20 && !a->calls.ended && a->calls.failed < limit; i++) {
		if (i % 3 == 0)
			agent_fault(a);
		if (i == 4)
			kill(a->calls.pid, SIGHUP);
		agent_serve(a, 200);
		if (pattern == PATTERN_ALL && i == 7)
			break;
	}
}

static int run_case(const char *dir, const char *call, const char *err, const char *pattern_name,
		    unsigned int cycle, char **command)
{
	enum pattern pattern = !strcmp(pattern_name, "first") ? PATTERN_FIRST :
			       !strcmp(pattern_name, "walk")  ? PATTERN_WALK :
								PATTERN_ALL;
	int number = syscall_number(call);
	bool at_end = !strcmp(pattern_name, "end");
	long descriptors, resident, leaked;
	unsigned int failed;
	struct agent a;

	if (number < 0)
		error(2, 0, "no system call %s", call);
	agent_begin(&a, dir, command);
	agent_fault(&a);
	if (!agent_catch_up(&a))
		wrong(&a, "even before, %ld faults, not %ld", agent_counted(&a), a.faults);
	descriptors = agent_descriptors(&a);
	resident = agent_resident_kb(&a);
	if (!at_end)
		fail_calls(&a, number, error_number(err), pattern, cycle);
	failed = a.calls.failed;
	intercept_disarm(&a.calls);
	agent_fault(&a);
	if (!agent_catch_up(&a) && !a.calls.ended)
		wrong(&a, "%ld faults, not %ld", agent_counted(&a), a.faults);
	/* What fails to be closed here stays open. */
	if (number == SYS_close)
		descriptors += failed;
	leaked = agent_settle(&a, descriptors) - descriptors;
	if (leaked && !a.calls.ended)
		wrong(&a, "%+ld descriptors", leaked);
	if (agent_resident_kb(&a) > resident + 1024)
		wrong(&a, "%ld kB of memory more", agent_resident_kb(&a) - resident);
	if (at_end) {
		intercept_arm(&a.calls, PATTERN_ALL, number, error_number(err), 1, 20);
		agent_stop(&a);
		failed = a.calls.failed;
	} else {
		agent_stop(&a);
	}
	agent_verify(&a);
	printf("%s\t%s\t%s\t%u\t%s\n", call, err, pattern_name, failed, *a.wrong ? a.wrong : "ok");
	return *a.wrong != 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc > 3 && !strcmp(argv[1], "list"))
		return list(argv[2], argv + 3);
	if (argc == 3 && !strcmp(argv[1], "errors")) {
		const char *errors = errors_of(argv[2]);

		return errors ? puts(errors) < 0 : 0;
	}
	if (argc > 7 && !strcmp(argv[1], "case"))
		return run_case(argv[2], argv[3], argv[4], argv[5],
				(unsigned int)strtoul(argv[6], NULL, 10), argv + 7);
	if (argc > 5 && !strcmp(argv[1], "disturb"))
		return disturb(argv[2], argv[3], (unsigned int)strtoul(argv[4], NULL, 10),
			       argv + 5);
	fputs(usage, stderr);
	return 2;
}
