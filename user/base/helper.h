/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that does what may block, and whose answer the caller reads from a pipe. helper.c explains it. */
#pragma once

#include <sys/types.h>

#include "base/file_text.h"

#define HELPER_AGE_NS \
	5000000000ull /* helper_ask() asks again after this, and kills a process that hangs */
#define HELPER_WAIT_NS 300000000ull /* how long helper_ask() waits */
#define HELPER_ONCE_NS \
	2000000000ull /* the same if the process gets no CPU; the least for helper_ask_once() */
#define HELPER_STARVED_NS 15000000000ull /* what helper_ask_once() gives a process without a CPU */

/* Initialise with {}. */
struct helper {
	bool running; /* a process is at work */
	int pipe; /* of it; does not block */
	pid_t pid;
	uint64_t begun_ns; /* CLOCK_MONOTONIC; 0: never */
	bool whole; /* it has ended and has written all */
	char *text; /* what helper_collect() has read of the last process; NULL: nothing */
	size_t len; /* of it; a NUL follows */
};

/* What a process does. It writes its answer to @out, which is flushed when it ends. */
typedef void helper_work(const void *context, FILE *out);

/* Starts a process with this @name that calls @work and ends. It has none of the caller's files, and ends with the caller.
 * Does nothing while an earlier one is at work: one that hangs is not followed by a second. The caller must ignore SIGCHLD.
 * Returns whether it was started. */
bool helper_start(struct helper *h, const char *name, helper_work *work, const void *context);

/* Adds what the process has written to @text, and waits for more until @deadline_ns. At its end @running is false. */
void helper_collect(struct helper *h, uint64_t deadline_ns);

/* Starts the process if the last one began HELPER_AGE_NS ago, and collects until it has worked for HELPER_WAIT_NS. After a
 * late answer it does not wait again. Returns whether it is all there. */
bool helper_ask(struct helper *h, const char *name, helper_work *work, const void *context);

/* For questions at the start: takes the answer into *@f, for file_text_free(). Returns 0, -EAGAIN: the process was killed or has not
 * started; or -ETIMEDOUT, immediately while an earlier question of these has no answer. */
int helper_ask_once(struct file_text *f, helper_work *work, const void *context);

/* Work that reads a file of at most 1 MB; @own as in file_text_read_own(). helper_open_file() makes *@f, which has the answer,
 * the file's text. Returns as file_text_read() does. */
struct helper_file {
	const char *path;
	bool own;
};
void helper_send_file(const void *file, FILE *out);
int helper_open_file(struct file_text *f);

/* Reads such a file by helper_ask_once(). */
int helper_read_file(struct file_text *f, const char *path, bool own);

/* Whether the process sleeps. One that runs or waits for a CPU proves nothing about a server. */
bool helper_sleeps(const struct helper *h);

/* Kills the process. If it sleeps uninterruptibly, it stays and keeps the pipe open until it has ended. */
void helper_kill(struct helper *h);

/* Ends the process and forgets it. */
void helper_free(struct helper *h);
