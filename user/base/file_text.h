/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A whole file as bytes in memory. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/types.h>

#include "base/span.h"

struct file_text {
	char *bytes; /* NUL follows the last; free with file_text_free() */
	size_t len;
};

/* Reads the regular file @path, also one of proc. Returns 0 or -errno: -EFBIG if it is longer than @max bytes, -EINVAL
 * if it is not a regular file. On failure *@f is empty. @own: see file_text_read_own(). */
#define file_text_read(f, path, max) file_text_read_as(f, path, max, false)
int file_text_read_as(struct file_text *f, const char *path, size_t max, bool own);

/* As file_text_read(), for a trusted file. Also -ELOOP: a link, which could lead to a mount that hangs, or to a device; -EMLINK:
 * several names; -EPERM: see file_is_anybodys(). */
#define file_text_read_own(f, path, max) file_text_read_as(f, path, max, true)

struct stat;

/* Opens a regular file for reading, with @flags. Returns a descriptor or -errno: -EINVAL if it is not one. */
int file_open_regular(const char *path, int flags, struct stat *status);

/* Whether others than root and this user own the file, or may write it. */
bool file_is_anybodys(const struct stat *st);

/* The text of an error that these functions return. */
const char *file_text_error(int err);

/* The first line of @path without its newline, cut to @size bytes with the NUL; "" and false if it cannot be read. */
bool file_first_line(const char *path, char *line, size_t size);

/* Whether @path can be read and begins with @text, of at most 31 bytes. */
bool file_begins(const char *path, const char *text);

/* Reads the beginning of a file as a text of at most @size bytes with its NUL, and closes @fd. Returns the length, or -errno.
 * @fd may be below 0: open() has failed, and errno is set. */
ssize_t file_read_and_close(int fd, char *text, size_t size);

/* The number after the first @label in the beginning of the file @path, as strtoull() reads it; 0: there is none. */
uint64_t file_number(const char *path, const char *label, int base);

/* A path as printf() makes it, cut to PATH_MAX; valid in the block in which it stands. */
#define PATHF(...) path_print((char[PATH_MAX]){ 0 }, __VA_ARGS__)
const char *path_print(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends @out, a stream of open_memstream() for @text. Returns the text, to be freed; NULL: @out is NULL, or no memory. */
char *stream_text(FILE *out, char **text);

/* What the statement @write writes to a stream @out, as a text to be freed; NULL: no memory. @size: a variable for its length. */
#define TEXT_OF(size, out, write)                            \
	({                                                   \
		char *text_ = NULL;                          \
		FILE *out = open_memstream(&text_, &(size)); \
		if (out) {                                   \
			write;                               \
		}                                            \
		stream_text(out, &text_);                    \
	})

void file_text_free(struct file_text *f);
struct span file_text_span(const struct file_text *f);

/* Variables that are freed or closed at the end of their block, unless they are below 0 or NULL. */
#define FILE_TEXT __attribute__((cleanup(file_text_free))) struct file_text
#define OPEN_FILE __attribute__((cleanup(file_close))) int
#define OPEN_FOLDER __attribute__((cleanup(folder_close))) DIR
void file_close(const int *fd);
void folder_close(DIR **folder);

/* Returns @fd. If @err is not 0, closes @fd and returns @err. */
int file_unless(int fd, int err);

/* Lets @epoll report when @fd is readable. Returns 0 or -errno: -EBADF if @fd is below 0. */
int file_watch(int epoll, int fd);

/* The next name in @folder that begins with no dot; NULL: there is none, or no folder. */
const char *folder_next(DIR *folder);
