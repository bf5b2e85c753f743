/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs an agent whose system calls, and those of its processes, which write its files and look who holds a GPU, all
 * pass through this program, which lets them go on or makes them fail (seccomp_unotify(2), Linux 5.6 and later, as
 * root). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define SYSCALLS 512

/* Who calls. All but the agent are known by the names that they have given themselves; those from
 * CALLER_OUTPUT on are writers. */
enum caller {
	CALLER_AGENT,
	CALLER_NEW, /* a process that has no name of its own yet */
	CALLER_GPUS, /* looks who holds the GPUs, after a fault */
	CALLER_OUTPUT,
	CALLER_STATE,
	CALLER_EVENTS,
	CALLERS
};

enum pattern {
	PATTERN_NONE,
	PATTERN_FIRST, /* the first call */
	PATTERN_WALK, /* one call in each cycle, the next one each time */
	PATTERN_ALL, /* every call */
};

struct intercepted {
	pid_t pid;
	pid_t callers[CALLERS]; /* of those that have called; 0: none so far */
	int listener;
	bool ended;
	int status; /* as of waitpid(), once it has ended */
	/* What is to fail, and how often at most. */
	enum pattern pattern;
	enum caller caller;
	int number, error;
	unsigned int cycle; /* calls in a cycle */
	unsigned int limit;
	unsigned int matched, failed;
	/* Where calls are counted, or NULL: they are not. */
	unsigned int (*counts)[SYSCALLS]; /* for each caller */
};

/* Starts it, standard output and error going to @log. Exits on failure. Without @all_calls
 * none passes through this program, which sees only the end: nothing makes it slower. */
void intercept_start(struct intercepted *i, const char *log, char *const argv[], bool all_calls);

/* From now on, calls of @number by @caller fail with @error by @pattern, @limit times at most. */
void intercept_arm(struct intercepted *i, enum pattern pattern, enum caller caller, int number,
		   int error, unsigned int cycle, unsigned int limit);
void intercept_disarm(struct intercepted *i);

/* Handles calls for @ms milliseconds, or until the program has ended. */
void intercept_serve(struct intercepted *i, int ms);

/* Kills all writers. */
void intercept_kill_writers(struct intercepted *i);

/* By name; -1: there is none. */
int syscall_number(const char *name);
const char *syscall_name(int number);
int caller_number(const char *name);
extern const char *const caller_names[CALLERS];
