// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that no failing system call makes the agent crash, hang, tear its file, take a counter back, or lose or
 * double a fault; see usage below. Prints one line for each case, fields separated by tabs. As root. */
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent.h"

/* Of the metrics file, the state and the event log. */
#define WRITERS 3

/* How long it may take until an agent says that a file is not written. */
#define TELL_MS 10000

static const char usage[] =
	"inject list DIR AGENT [OPTION...]: the system calls that an agent and its writers make\n"
	"    once it has started: who, name, calls in an interval, calls in all, calls while\n"
	"    writers are killed, calls after SIGTERM\n"
	"inject errors SYSCALL: those with which it may fail\n"
	"inject case DIR WHO SYSCALL ERROR first|walk|all|restart|end CALLS AGENT [OPTION...]: makes\n"
	"    it fail; prints WHO SYSCALL ERROR PATTERN, how often it failed, and ok or what was\n"
	"    wrong. restart: while its writers are killed\n"
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
	/* Not ENOENT: by it the agent knows that a module or its types are gone. */
	{ "access", "EACCES EIO" },
	{ "faccessat", "EACCES EIO" },
	{ "faccessat2", "EACCES EIO" },
	{ "rename", "ENOENT EACCES ENOSPC EROFS EIO" },
	{ "renameat2", "ENOENT EACCES ENOSPC EROFS EIO" },
	{ "renameat", "ENOENT EACCES ENOSPC EROFS EIO" },
	{ "unlink", "ENOENT EACCES EROFS EIO" },
	{ "unlinkat", "ENOENT EACCES EROFS EIO" },
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
	{ "sendto", "EINTR EAGAIN ENOBUFS ENOMEM EPIPE" },
	{ "sendmsg", "EINTR EAGAIN ENOBUFS ENOMEM EPIPE" },
	{ "recvmsg", "EINTR ENOMEM ENOBUFS" },
	{ "socketpair", "EMFILE ENFILE ENOMEM" },
	{ "memfd_create", "EMFILE ENFILE ENOMEM" },
	{ "fcntl", "EINTR EMFILE ENOMEM" },
	{ "dup", "EMFILE" },
	{ "dup2", "EINTR EBUSY EMFILE" },
	{ "dup3", "EINTR EBUSY EMFILE" },
	{ "clone", "EAGAIN ENOMEM EPERM" },
	{ "clone3", "EAGAIN ENOMEM EPERM" },
	{ "fork", "EAGAIN ENOMEM EPERM" },
	{ "close_range", "EPERM ENOMEM ENOSYS" },
	{ "prctl", "EPERM EINVAL" },
	{ "capset", "EPERM" },
	{ "readlink", "ENOENT EACCES EIO" },
	{ "readlinkat", "ENOENT EACCES EIO" },
	{ "bpf", "ENOMEM EPERM EAGAIN" },
	{ "mmap", "ENOMEM" },
	{ "mremap", "ENOMEM" },
	{ "munmap", "ENOMEM" },
	{ "madvise", "ENOMEM EAGAIN" },
	{ "brk", "ENOMEM" },
	{ "clock_gettime", "EPERM" },
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

/* Faults are printed and all files written for some seconds. */
static void go_on(struct agent *a, int faults)
{
	for (int i = 0; i < faults; i++) {
		agent_fault(a);
		agent_serve(a, 500);
	}
	agent_catch_up(a);
	agent_serve(a, 3000);
}

static int list(const char *dir, char **command)
{
	static unsigned int run[CALLERS][SYSCALLS], restart[CALLERS][SYSCALLS],
		end[CALLERS][SYSCALLS];
	unsigned int versions;
	struct agent a;

	agent_begin(&a, dir, command, true);
	versions = a.file.versions;
	a.calls.counts = run;
	kill(a.calls.pid, SIGHUP);
	go_on(&a, 5);
	versions = a.file.versions - versions;
	/* All bursts are over: the next fault has a line at once. */
	agent_serve(&a, 6000);
	a.calls.counts = restart;
	intercept_kill_writers(&a.calls);
	go_on(&a, 2);
	a.calls.counts = end;
	agent_stop(&a);
	for (int c = 0; c < CALLERS; c++)
		for (int n = 0; n < SYSCALLS; n++)
			if (run[c][n] + restart[c][n] + end[c][n])
				printf("%s\t%s\t%u\t%u\t%u\t%u\n", caller_names[c], syscall_name(n),
				       (run[c][n] + versions - 1) / versions, run[c][n],
				       restart[c][n], end[c][n]);
	return 0;
}

/* What is to fail. */
struct failure {
	enum caller caller;
	int number, error;
	const char *pattern;
	unsigned int cycle;
};

static bool is(const struct failure *f, const char *pattern)
{
	return !strcmp(f->pattern, pattern);
}

/* Whether no message can be written, either, not even with a line for the event log. */
static bool is_log(const struct failure *f)
{
	return f->caller == CALLER_AGENT && f->number == SYS_write && !is(f, "first");
}

/* Whether its file was written, or a message says that it was not: such as that of a writer which does not answer for
 * two seconds. Retries of calls that fail at once take longer in an emulated guest. */
static bool is_told(struct agent *a, unsigned int versions, size_t messages)
{
	for (int ms = TELL_MS; ms > 0 && !a->calls.ended; ms -= 200) {
		if (a->file.versions != versions || agent_messages(a) != messages)
			return true;
		agent_serve(a, 200);
	}
	return false;
}

/* While calls fail, faults are printed and the agent is asked for its file. */
static void fail_calls(struct agent *a, const struct failure *f)
{
	bool first = is(f, "first"), walk = is(f, "walk");
	enum pattern pattern = first ? PATTERN_FIRST : walk ? PATTERN_WALK : PATTERN_ALL;
	unsigned int limit = first ? 1 : walk ? f->cycle : 2000;
	size_t messages = agent_messages(a);
	unsigned int versions = a->file.versions;

	intercept_arm(&a->calls, pattern, f->caller, f->number, f->error, f->cycle, limit);
	if (is(f, "restart"))
		intercept_kill_writers(&a->calls);
	for (int i = 0; i < 20 && !a->calls.ended && a->calls.failed < limit; i++) {
		if (i % 3 == 0)
			agent_fault(a);
		if (i == 4)
			kill(a->calls.pid, SIGHUP);
		agent_serve(a, 200);
		if (pattern == PATTERN_ALL && i == 7)
			break;
	}
	if (pattern == PATTERN_ALL && a->calls.failed && !is_log(f) &&
	    !is_told(a, versions, messages))
		wrong(a, "the file was not written, and no message says so");
}

/* Another try to do all after the failures; the agent is as it was before. */
static void recover(struct agent *a, const struct failure *f, const struct descriptors *descriptors,
		    long resident)
{
	unsigned int failed = a->calls.failed;
	size_t writers;
	/* What fails to be unmapped stays mapped: each time a buffer. */
	long grown = resident + 1024 + (f->number == SYS_munmap ? 256 * (long)failed : 0);

	intercept_disarm(&a->calls);
	agent_fault(a);
	if (!agent_catch_up(a) && !a->calls.ended)
		wrong(a, "%ld faults, not %ld", agent_counted(a), a->faults);
	/* What fails to be closed here stays open, until a writer ends. */
	descriptors_judge(a, descriptors, f->number == SYS_close ? failed : 0);
	if (a->calls.ended)
		return;
	if (!is_log(f) && agent_unwritten(a))
		wrong(a, "%s is not written again", agent_unwritten(a));
	writers = agent_writers(a, NULL, 0);
	if (writers != WRITERS)
		wrong(a, "%zu writers", writers);
	if (agent_resident_kb(a) > grown)
		wrong(a, "%ld kB of memory more", agent_resident_kb(a) - resident);
}

static int run_case(const char *dir, const struct failure *f, char **command)
{
	struct descriptors descriptors;
	unsigned int failed;
	long resident;
	struct agent a;

	agent_begin(&a, dir, command, true);
	agent_fault(&a);
	if (!agent_catch_up(&a))
		wrong(&a, "even before, %ld faults, not %ld", agent_counted(&a), a.faults);
	descriptors = descriptors_idle(&a);
	resident = agent_resident_kb(&a);
	if (!is(f, "end"))
		fail_calls(&a, f);
	failed = a.calls.failed;
	recover(&a, f, &descriptors, resident);
	if (is(f, "end")) {
		intercept_arm(&a.calls, PATTERN_ALL, f->caller, f->number, f->error, 1, 20);
		agent_stop(&a);
		failed = a.calls.failed;
	} else {
		agent_stop(&a);
	}
	agent_verify(&a);
	if (agent_events(&a) < a.faults && !is_log(f))
		wrong(&a, "the event log has %ld faults, not %ld", agent_events(&a), a.faults);
	printf("%s\t%s\t%s\t%s\t%u\t%s\n", caller_names[f->caller], syscall_name(f->number),
	       strerrorname_np(f->error), f->pattern, failed, *a.wrong ? a.wrong : "ok");
	return *a.wrong != 0;
}

/* @words: WHO SYSCALL ERROR PATTERN CALLS. */
static struct failure failure_of(char *const *words)
{
	struct failure f = { .caller = (enum caller)caller_number(words[0]),
			     .number = syscall_number(words[1]),
			     .error = error_number(words[2]),
			     .pattern = words[3],
			     .cycle = (unsigned int)strtoul(words[4], NULL, 10) };

	if (caller_number(words[0]) < 0 || f.number < 0)
		error(2, 0, "no caller %s or no system call %s", words[0], words[1]);
	return f;
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
	if (argc > 8 && !strcmp(argv[1], "case")) {
		const struct failure f = failure_of(argv + 3);

		return run_case(argv[2], &f, argv + 8);
	}
	if (argc > 5 && !strcmp(argv[1], "disturb"))
		return disturb(argv[2], argv[3], (unsigned int)strtoul(argv[4], NULL, 10),
			       argv + 5);
	fputs(usage, stderr);
	return 2;
}
