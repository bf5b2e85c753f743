/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agent's side of a file that another process writes (writer_child.h), so that the
 * agent never waits for a file system. The agent makes a text in memory, passes its
 * descriptor on, and learns the result later. One text is being written at a time. Of texts
 * that replace the file, the newest waits; lines that are appended wait up to a limit.
 */
#ifndef XIDSCOPE_WRITER_H
#define XIDSCOPE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"
#include "writer/writer_channel.h"

/* Lines that wait take no more than this: enough for a kernel log that is full of faults, and
 * replayed at once. */
#define WRITER_LINES_MAX (4u << 20)

/* What has not been done after this time is reported. */
#define WRITER_HANG_NS 2000000000ull

struct writer_role {
	const char *option; /* that names the file */
	bool append; /* lines; otherwise a text replaces the file */
	bool reads; /* read the file at the start */
	const char *meanwhile; /* what happens while it cannot be written: a sentence */
};

struct writer {
	const struct writer_role *role;
	const struct log *log;
	const char *path; /* NULL: there is no file, and all functions do nothing */
	int epoll;
	int socket; /* of the process; -1: there is none */
	int lock; /* of the file; -1: none */
	enum work work; /* what the process does now */
	uint64_t since_ns; /* since when */
	uint64_t took_ns; /* how long the last text took */
	bool opened; /* the path has been checked: */
	int open_error; /* 0 or -errno, about: */
	unsigned int open_part; /* enum output_part */
	bool read; /* the file has been read, or is too late: */
	int content; /* -1, or memory with the content; the owner takes it */
	int read_error; /* 0 or -errno */
	bool written; /* once, at least */
	bool closed;
	int text, next; /* memory that is being written, that waits; -1: none */
	uint64_t from, text_size, next_size; /* @text from that byte on */
	const char *aside; /* suffix for the old file when it is replaced next; NULL: none */
	int error; /* -errno that was reported last, or 0 */
};

/*
 * Starts the process, and opens the path. Call it before anything that the process shall
 * not inherit. @log, @role and @path must outlive the writer. @epoll gets the descriptor
 * that is readable when writer_serve() is to be called; call that every second, too.
 */
void writer_start(struct writer *w, const struct log *log, const struct writer_role *role,
		  const char *path, int epoll);

/* Whether the start is over: the path was opened and read, if that is possible. */
bool writer_ready(const struct writer *w);

/* What opening has shown cannot be written, for a reason that stays: -errno; or 0. */
int writer_refused(const struct writer *w);

/* The start takes too long: from now on it is late, and what was in a file that is read
 * later is set aside. */
void writer_give_up_start(struct writer *w);

/* Returns whether a text has been written, or could not be: then *@err is 0 or -errno, which
 * has been logged if it is new. */
bool writer_serve(struct writer *w, int *err);

/* Whether the process has not answered for WRITER_HANG_NS. */
bool writer_hangs(const struct writer *w);

/* A stream for a text that replaces the file, and its end, when it is given to the process.
 * NULL, or -errno: it could not be made; this has been logged if it is new. */
FILE *writer_begin(struct writer *w);
int writer_end(struct writer *w, FILE *text);

/* Appends a line. What cannot be written is logged. False: no room to keep it. */
bool writer_append(struct writer *w, const char *line, size_t size);

/* Ends all @count writers by @deadline_ns (CLOCK_MONOTONIC): what waits is written, locks
 * are removed, and the file of the first one unless @keep. What is not done by then is
 * reported, and left to die with the agent. */
void writers_finish(struct writer *w, size_t count, bool keep, uint64_t deadline_ns);

/* Waits until all are ready, for @most_ns in which this process has a CPU, or until SIGTERM or
 * SIGINT is pending. */
void writers_wait_ready(struct writer *w, size_t count, uint64_t most_ns);

#endif
