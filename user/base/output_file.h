/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that is replaced as a whole, or not at all.
 */
#ifndef XIDSCOPE_OUTPUT_FILE_H
#define XIDSCOPE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct output_file {
	char *path;
	char *temporary; /* ".NAME.tmp" in the same directory */
	char *lock_path; /* ".NAME.lock" in the same directory */
	int lock; /* descriptor, or -1 while the lock could not be made */
	bool written;
};

/* @path "-" is standard output, which needs no lock. Returns 0 or -ENOMEM. */
int output_file_init(struct output_file *f, const char *path);

/*
 * Makes sure that no other process writes this file. Returns 0; -EBUSY if another one
 * does; or -errno if the lock cannot be made, for example because the directory is
 * missing: then output_file_write() tries again.
 */
int output_file_lock(struct output_file *f);

/*
 * Replaces the file by @size bytes of @data, mode 0644: writes a temporary file in the
 * same directory, whose name does not end in ".prom", and renames it. On failure the
 * old file is unchanged. Returns 0 or -errno.
 */
int output_file_write(struct output_file *f, const char *data, size_t size);

/* Releases the lock, and removes the file unless @keep. */
void output_file_close(struct output_file *f, bool keep);

#endif
