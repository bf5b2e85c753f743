/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is replaced as a whole, or not at all; or one to which lines are appended. Only a regular file with one
 * link is written, whatever other users do in its folder: no symbolic link is followed, no FIFO waited for, and
 * nothing else is truncated, renamed or removed. */
#pragma once

#include "base/std.h"

/* A file of lines that would grow beyond this is renamed to NAME.1, replacing an older one. */
#define OUTPUT_APPEND_MAX (16u << 20)

/* The file that an error is about. */
enum output_part { OUTPUT_FILE, OUTPUT_TEMPORARY, OUTPUT_LOCK, OUTPUT_PARTS };

struct output_file {
	char *folder;
	char *names[OUTPUT_PARTS]; /* in that folder: NAME, .NAME.tmp, .NAME.lock */
	enum output_part part; /* of the last error */
	bool unlocked; /* take no lock */
	bool locked; /* the lock was taken, on this file: */
	dev_t lock_device;
	ino_t lock_inode;
	int lock; /* its descriptor, or -1 */
	bool written;
	bool append; /* for lines: it may also be a character device */
	size_t max; /* bytes of a file of lines */
	bool torn; /* the last line on standard output was not written to its end */
};

/* @path "-" is standard output, which needs no lock. Returns 0 or -ENOMEM. */
int output_file_init(struct output_file *f, const char *path);

/* All of these return -errno on failure, and set @part. What is there instead of a regular file with one link is
 * -ELOOP (a symbolic link), -EMLINK (several links), -EISDIR (a folder) or -ENXIO (anything else). */

/* Opens the folder by which the file is found now. */
int output_file_folder(struct output_file *f);

/* Returns 0 if the file can be replaced or made: it is missing, or regular with one link. */
int output_file_check(struct output_file *f);

/* Makes sure that no other process writes this file. Returns 0; -EBUSY if another one does; or another error if the
 * lock cannot be made, for example because the folder is missing: then output_file_write() tries again. */
int output_file_lock(struct output_file *f);

/* The same, but waits for another process, which may be about to end: at most @ms milliseconds. */
int output_file_wait_lock(struct output_file *f, unsigned int ms);

/* The descriptor that holds a lock which was taken since the last call, or -1. The caller closes it to end the lock. */
int output_file_give_lock(struct output_file *f);

/* Replaces the file by @size bytes of @data, mode 0644: writes a temporary file in the same folder, whose name does
 * not end in ".prom", and renames it. On failure the old file is unchanged. With @aside the old file gets that name
 * behind its own and a dot. */
int output_file_write(struct output_file *f, const char *data, size_t size, const char *aside);

/* Appends the lines in @size bytes of @data, each with its newline, to a file that is opened each time, so that it
 * can be renamed at any time. A new file has mode 0640, and permissions beyond that are taken from an existing one.
 * @done: the bytes of the lines that were written. A line that was not written to its end is not among them, and is
 * ended before the next. */
int output_file_append(struct output_file *f, const char *data, size_t size, size_t *done);

/* Opens the file for reading. */
int output_file_open(struct output_file *f);

/* Removes the lock, and the file unless @keep; then frees. */
void output_file_close(struct output_file *f, bool keep);

/* Opens a regular file with one link, or makes one, for writing in place. What is there is looked at before: a device
 * may act when it is opened, as a watchdog, which restarts the node. Returns a descriptor or -errno. */
int output_open(const char *path);

/* Whether @err says that something else than a regular file with one link is there. */
bool output_is_refused(int err);

/* The text of such an error, or of another errno, and what to do about it. */
const char *output_error(int err);
const char *output_advice(int err);

/* Splits @path into a folder, which the caller frees, and a name; NULL: no memory. */
char *output_split(const char *path, const char **name);
