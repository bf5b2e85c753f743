/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An agent under test, in a folder of its own: its system calls pass through this program, each version of its
 * metrics file is watched, and faults are written to the kernel log for it to count. */
#pragma once

#include <stdbool.h>

#include "intercept.h"
#include "watch.h"

/* Texts on the way to a writer, files in the agent's folder, others. */
enum { DESCRIPTORS_OF_MEMORY, DESCRIPTORS_OF_FILES, OTHER_DESCRIPTORS, DESCRIPTOR_KINDS };

struct agent {
	struct intercepted calls;
	struct watch file;
	const char *dir;
	char **command; /* the program and more of its options; ends with NULL */
	bool intercepted; /* else only watched */
	char device[24]; /* in whose name faults are written */
	long faults; /* that the agent should have counted */
	char wrong[400]; /* "; "-separated; "": nothing so far */
};

__attribute__((format(printf, 2, 3))) void wrong(struct agent *a, const char *format, ...);

/* Makes @dir and starts the agent there; returns when its file is there, and all faults of the log are counted. */
void agent_begin(struct agent *a, const char *dir, char **command, bool intercepted);

/* Starts it once more, without waiting. */
void agent_start(struct agent *a);

/* Handles its calls and watches its file for that long. */
void agent_serve(struct agent *a, int ms);

/* Writes one fault to the kernel log. */
void agent_fault(struct agent *a);

/* What the file has for this agent's device. */
long agent_counted(const struct agent *a);

/* Serves until its file has counted all; false: not within a minute, which is for guests that are slow. */
bool agent_catch_up(struct agent *a);

/* How many processes write its files or read those of GPUs' holders; @pids: at most so many. */
size_t agent_writers(const struct agent *a, pid_t *pids, size_t most);

/* How many lines it has logged. */
size_t agent_messages(const struct agent *a);

/* By the agent's log, a file that could not be written and has not been written since, or
 * NULL. Serves for a minute at most, for each is tried again. */
const char *agent_unwritten(struct agent *a);

/* For how many faults there are lines in the event log, or else, where that could not be
 * written, in the agent's log. */
long agent_events(const struct agent *a);

/* The open files of an agent and of its processes. A slow guest writes some file most of the time: each kind is counted by
 * itself, and may be idle at another moment. */
struct descriptors {
	long of[DESCRIPTOR_KINDS];
};

long descriptors_sum(const struct descriptors *d);

/* The least that are open while four versions of the file are written: serves meanwhile. */
struct descriptors descriptors_idle(struct agent *a);

/* It is wrong if there are more than @idle and @allowed in all, or less of a kind: by the moment nearest to @idle for
 * each kind. Serves until there are not, a minute at most: a file that could not be opened is tried again. */
void descriptors_judge(struct agent *a, const struct descriptors *idle, long allowed);

long agent_resident_kb(const struct agent *a);

/* SIGTERM: it must end within five seconds, with status 0. */
void agent_stop(struct agent *a);

/* Another one goes on from the state: it must have counted the same. The folder
 * must then have nothing but what it should. The first one's last file becomes DIR.prom. */
void agent_verify(struct agent *a);

/* Runs a disturbance other than failing system calls, by its name in disturb.c, and prints its line. Returns 0 if nothing
 * was wrong, or 1; exits with 2 if there is no such disturbance. */
int disturb(const char *dir, const char *name, unsigned int times, char **command);
