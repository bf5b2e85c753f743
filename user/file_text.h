/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A whole file as bytes in memory.
 */
#ifndef XIDSCOPE_FILE_TEXT_H
#define XIDSCOPE_FILE_TEXT_H

#include <stddef.h>

struct file_text {
	char *bytes; /* NUL follows the last; free with file_text_free() */
	size_t len;
	double modified; /* seconds since the epoch */
};

/* Reads the regular file @path. Returns 0 or -errno: -EFBIG if it is longer
 * than @max bytes, -EINVAL if it is no regular file. On failure *@f is empty. */
int file_text_read(struct file_text *f, const char *path, size_t max);

/* What such an error means, in words. */
const char *file_text_error(int err);

void file_text_free(struct file_text *f);

#endif
