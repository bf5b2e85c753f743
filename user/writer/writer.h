/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that another process writes: a file system may stop answering at any time, and then only that process waits.
 * It shares memory for two texts with the agent: it writes one while the agent fills the other. The newest text that
 * replaces the file waits; appended lines wait up to a limit. A process that has ended is replaced for the next text.
 * One that hangs is not: of two, the slower one would put an older text in place of a newer one. */
#pragma once

#include "base/clock.h"
#include "base/log.h"

/* Lines that wait take no more than this: enough for a full kernel log of faults. */
#define WRITER_LINES_MAX (4u << 20)
#define WRITER_TEXT_MAX (32u << 20)

/* Work that takes longer than this is reported. */
#define WRITER_HANG_NS 2000000000ull

struct writer_role {
	const char *option; /* that names the file */
	bool append; /* lines; otherwise a text replaces the file */
	bool reads; /* read the file at the start */
	const char *meanwhile; /* the effect while the file cannot be written: a sentence */
};

/* The memory of the agent and the process. */
struct writer_shared {
	char texts[2][WRITER_TEXT_MAX]; /* first, because their pages are given back */
	unsigned int current; /* the text of the process */
	size_t from, size; /* its bytes that are not written; the content that was read */
	char aside[16]; /* the old file gets this suffix before it is replaced; "": none */
	bool end, keep; /* when the socket is closed, remove the lock, and the file unless @keep */
	/* Results: */
	int error, read_error; /* 0 or -errno */
	char beside[280]; /* "NAME: " of the file beside the path that @error is about; or "" */
	char network[128]; /* the source of a mount that may stop answering; or "" */
};

struct writer {
	const struct writer_role *role;
	const struct log *log;
	const char *path;
	struct writer_shared *shared; /* NULL: there is no file, and all functions do nothing */
	int epoll;
	int socket; /* of the process; -1: there is none */
	int lock; /* of the file; -1: none */
	enum { WRITER_IDLE, WRITER_OPENS, WRITER_WRITES } work; /* of the process */
	struct waited waited; /* since then */
	uint64_t took_ns; /* duration of the last write */
	bool ready; /* the start is over: the path was checked and read, or is late */
	int open_error, read_error; /* 0 or -errno */
	int refused; /* -errno: the path can never be written; or 0 */
	const char *content; /* of the file, until the first text; NULL: none */
	bool text, next; /* there is a text of the process, a text that waits */
	size_t next_size; /* of that */
	const char *aside; /* suffix for the old file at the next write; NULL: none */
	bool written; /* at least once */
	int error; /* -errno that was reported last, or 0 */
};

/* Starts the process, which opens the path. Call it before anything that the process must not inherit. @log, @role
 * and @path must outlive the writer. @epoll gets the descriptor that is readable when writer_serve() has work; also
 * call that every second, unless it is idle. */
void writer_start(struct writer *w, const struct log *log, const struct writer_role *role,
		  const char *path, int epoll);

/* Waits until all are ready, for @most_ns in which this process has a CPU, or until SIGTERM or
 * SIGINT is pending. A file that is read later is set aside. */
void writers_wait_ready(struct writer *w, size_t count, uint64_t most_ns);

/* Returns whether a write has succeeded or failed: then *@err is 0 or -errno, which has been logged if it is new. */
bool writer_serve(struct writer *w, int *err);

/* Whether the process has nothing to do: then writer_serve() has work only when the descriptor is readable. */
bool writer_is_idle(const struct writer *w);

/* Whether the process has not answered for WRITER_HANG_NS, by the last writer_serve(). */
bool writer_hangs(const struct writer *w);

/* A stream for a text that replaces the file, and its end, which gives the text to the process.
 * NULL, or -errno: it could not be made; this has been logged if it is new. */
FILE *writer_begin(struct writer *w);
int writer_end(struct writer *w, FILE *text);

/* Appends a line. Failures are logged. False: no room to keep it. */
bool writer_append(struct writer *w, const char *line, size_t size);

/* Ends all @count writers within @most_ns in which this process has a CPU: writes the texts that
 * wait, removes the locks, and the file of the first writer unless @keep. Work that is not done by
 * then is reported, and its process ends with the agent. */
void writers_finish(struct writer *w, size_t count, bool keep, uint64_t most_ns);

/* For writer.c: starts the process of @w. Returns its socket, or -1 with errno. The process sends a byte when it has opened
 * the path and when it has written a text, for which it receives one; with it a lock that it has taken, which thus ends
 * with the agent, even if the process hangs. It ends when the socket is closed, and with the agent. */
int writer_process_start(const struct writer *w);
