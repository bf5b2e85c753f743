/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agent's files on disks, which another process writes: writer.c explains how. */
#pragma once

#include "base/clock.h"
#include "base/file_text.h"
#include "base/log.h"

/* Lines that wait take no more than this: enough for a full kernel log of faults. */
#define WRITER_LINES_MAX (4u << 20)

/* A state that is longer is not read. */
#define WRITER_STATE_MAX (32u << 20)

/* Work that takes longer than this is reported. */
#define WRITER_HANG_NS 2000000000ull

/* In the order in which they are opened. The state is read at the start, the output is removed at the end; both are
 * replaced as a whole. Lines are appended to the events. */
enum writer_file { WRITER_STATE, WRITER_OUTPUT, WRITER_EVENTS, WRITER_FILES };

/* The option that names the file. */
extern const char *const writer_options[WRITER_FILES];

struct writer_output {
	const char *path; /* NULL: it is not wanted */
	struct file_text now; /* to be written; the process may have some or all of it */
	struct file_text next; /* the text that replaces it; lines have none */
	bool opened;
	int open_error, read_error; /* 0 or -errno, once it is opened */
	const char *aside; /* suffix for the old file at the next write; NULL: none */
	uint64_t took_ns; /* duration of the last write */
	uint64_t retry_ns; /* CLOCK_MONOTONIC; not before */
	int error; /* -errno that was reported last, or 0 */
};

/* The messages. The text follows the request, the state's content follows the answer. */
struct writer_request {
	enum { WRITER_OPEN, WRITER_WRITE, WRITER_END } work;
	int file;
	size_t size; /* bytes of the text */
	char aside[16]; /* "": the old file is replaced */
};

struct writer_answer {
	int error, read_error; /* 0 or -errno */
	size_t done; /* bytes of the text that were written, or are given up */
	size_t size; /* bytes of the content */
};

struct writer {
	const struct log *log;
	struct writer_output files[WRITER_FILES];
	bool keep; /* the output at the end */
	bool started; /* the start no longer waits for files to be opened */
	bool ending; /* failures are not tried again */
	bool ended; /* the process has got the request to end */
	int epoll; /* readable when writer_serve() has work */
	int socket; /* of the process; -1: there is none */
	int busy; /* the file that the process works on; -1: none */
	struct waited waited; /* for that */
	struct writer_request request;
	struct writer_answer answer;
	size_t sent, received; /* bytes of these, with what follows them */
	struct file_text content; /* of the state as it was at the start; no text: see read_error */
	/* Takes each write's result: 0 or -errno, which has been logged if it is new. NULL: nobody. */
	void (*written)(void *context, enum writer_file file, int err);
	void *context;
};

/* Starts the process, which opens all @paths; they and @log must outlive the writer. Call it before anything that the
 * process must not inherit. Waits for it, at most @most_ns in which this process has a CPU, or until SIGTERM or SIGINT
 * is pending. A state that is read later is set aside. @keep: the output stays at the end. Returns 0 or -errno. Then,
 * and for a writer of all zeros, writer_finish() does nothing. */
int writer_start(struct writer *w, const struct log *log, const char *const paths[WRITER_FILES],
		 bool keep, uint64_t most_ns);

/* Goes on with the work. Call it when @epoll is readable, and every second. */
void writer_serve(struct writer *w);

/* Whether the process has not answered for WRITER_HANG_NS, by the last writer_serve(). */
bool writer_hangs(const struct writer *w);

/* Replaces the file by @size bytes of @text, which the writer frees; NULL: there was no memory for it. Returns 0, or
 * -ENOMEM, which has been logged if it is new. */
int writer_replace(struct writer *w, enum writer_file file, char *text, size_t size);

/* Appends a line to the events of the struct writer. Failures are logged. False: no room to keep it. */
bool writer_append(void *writer, const char *line, size_t size);

/* Writes the texts that wait, removes the locks, and the output unless it is kept, within @most_ns in which this
 * process has a CPU. Work that is not done by then is reported, and the process ends with the agent. */
void writer_finish(struct writer *w, uint64_t most_ns);

/* In writer_process.c: starts the process. Returns its socket, or -errno; -EUSERS: it cannot be started. */
int writer_process_start(const struct writer *w);

/* ---- messages.c: the messages, which another process writes if standard error is a file ---- */

/* Makes standard error a socket if it is a file. The new process writes there what comes, and ends with this one; SIGTERM must
 * be blocked and SIGXFSZ ignored. Returns 0 or -errno. */
int messages_start(void);

/* Starts it again if it has ended. Messages since then are lost. Call it every interval. */
void messages_serve(void);

/* Waits until the file has the messages, at most @most_ns in which this process has a CPU. */
void messages_finish(uint64_t most_ns);
