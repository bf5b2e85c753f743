/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file to which lines are appended, bounded in size. It may be a regular file with one
 * link, a character device or standard output, and nothing else. It is opened for each
 * write, so that it can be renamed at any time.
 */
#ifndef XIDSCOPE_APPEND_FILE_H
#define XIDSCOPE_APPEND_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* A file that would grow beyond this is renamed to NAME.1, replacing an older one. */
#define APPEND_FILE_MAX (16u << 20)

struct append_file {
	const char *path; /* "-": standard output */
	size_t max; /* bytes; 0: APPEND_FILE_MAX */
	bool torn; /* the last line on standard output was not written to its end */
};

/* Returns 0 if the file is missing or can be appended to; otherwise an error as
 * output_file.h describes them. */
int append_file_check(const struct append_file *f);

/*
 * Appends the lines in @size bytes of @data. A file that is made has mode 0640, and
 * permissions beyond that are taken from one that is there. Returns 0 or -errno, and in
 * @done the bytes of the lines that were written. A line that was not written to its end
 * is not among them, and is ended before the next.
 */
int append_file_write(struct append_file *f, const char *data, size_t size, size_t *done);

#endif
