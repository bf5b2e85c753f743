/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that does what may block: it asks a server, or reads the files of a driver that may hang. The caller reads the
 * answer from a pipe when it comes, and never waits. */
#pragma once

#include <sys/types.h>

#include "base/std.h"

/* Initialise with { .pipe = -1 }. */
struct helper {
	int pipe; /* does not block; -1: no process is at work */
	pid_t pid;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
};

/* Starts a process with this @name that calls @work and ends. It writes its answer to @out; of the caller's files it has no
 * other. It ends with the caller. Does nothing while an earlier one is at work: one that hangs is not followed by a second.
 * The caller must ignore SIGCHLD. Returns whether it was started. */
bool helper_start(struct helper *h, const char *name, void (*work)(const void *context, int out),
		  const void *context);

/* Reads at most @size bytes of the answer. Returns their number; 0 at the end of the process, after which @pipe is -1;
 * -EAGAIN if none have come. */
ssize_t helper_read(struct helper *h, void *to, size_t size);

/* Whether the process sleeps, because it waits for something. A process that runs or waits for a CPU proves nothing about
 * a server. */
bool helper_sleeps(const struct helper *h);

/* Kills the process. If it sleeps uninterruptibly, it stays and keeps the pipe open until it has ended. */
void helper_kill(struct helper *h);

/* Ends the process and forgets it. */
void helper_free(struct helper *h);
