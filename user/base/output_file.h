/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is replaced as a whole, or to which lines are appended. It must be a regular file with one link. Whatever
 * other users put into its folder, no symbolic link is followed, no FIFO is waited for, and nothing else is truncated,
 * renamed or removed. A write can wait for the disk: see writer/writer.h. */
#pragma once

#include <sys/types.h>

#include "base/std.h"

/* A file of lines that would grow beyond this is renamed to NAME.1, replacing an older one. */
#define OUTPUT_APPEND_MAX (16u << 20)

struct output_file {
	char *folder; /* NULL: standard output */
	char *name; /* in that folder; .NAME.tmp and .NAME.lock are beside it */
	int lock; /* its descriptor; -1: none */
	bool durable; /* each write waits for the disk: after a reset the file is the old or the new one, never an empty one */
	bool written; /* since output_file_init() */
	size_t max; /* bytes of a file of lines */
	bool torn; /* the last line was not written to its end */
};

/* @path "-" is standard output. Returns 0 or -ENOMEM. */
int output_file_init(struct output_file *f, const char *path);

/* All of these return -errno on failure. If the path is no regular file with one link, they return -ELOOP (a symbolic
 * link), -EMLINK (several links), -EISDIR (a folder) or -ENXIO (anything else). If .NAME.tmp, .NAME.lock or another name
 * beside the file is none, they return -ENOTUNIQ. */

/* Opens the folder to which the path leads now; -1: standard output has none. */
int output_file_folder(const struct output_file *f);

/* Returns 0 if the file can be replaced or made: it is missing, or regular with one link. */
int output_file_check(struct output_file *f);

/* Makes sure that no other process writes this file. Waits at most @ms milliseconds for one that is about to end.
 * Returns 0; -EBUSY if another process writes the file; or another error if the lock cannot be made.
 * output_file_write() does the same without waiting. */
int output_file_lock(struct output_file *f, unsigned int ms);

/* Replaces the file by @size bytes of @data, mode 0644: writes a temporary file beside it, whose name does not end in ".prom",
 * and renames it. On failure the old file is unchanged. With @aside the old file is renamed to NAME.@aside before. */
int output_file_write(struct output_file *f, const char *data, size_t size, const char *aside);

/* Appends the lines in @size bytes of @data, each with its newline, to a file that is opened each time: it may be
 * renamed at any time. A new file has mode 0640, and permissions beyond that are taken from an existing one.
 * @done: the bytes of the lines that were written to their end. A torn line is ended before the next. The first call leaves out
 * lines with which the file ends: another process has written them. -EAGAIN: nobody reads standard output. */
int output_file_append(struct output_file *f, const char *data, size_t size, size_t *done);

/* Removes the lock, and the file that was written unless @keep; then frees. */
void output_file_close(struct output_file *f, bool keep);

/* Opens a regular file with one link, or makes one, for writing in place. The path is examined before it is opened,
 * because opening a device may have an effect: a watchdog restarts the node. Returns a descriptor or -errno. */
int output_open(const char *path);

/* Whether @err is one of those for a path that is no regular file with one link. */
bool output_is_refused(int err);

/* The text of such an error or of another -errno; and what to do about it. */
const char *output_error(int err);
const char *output_advice(int err);
