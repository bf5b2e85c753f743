// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file to which lines are appended, bounded in size. */
#include "base/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"

/* Who may read the kernel log is often restricted, and the lines have texts of it. */
#define MODE 0640

static int open_folder(const char *path, const char **name)
{
	char *folder = output_split(path, name);
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int err = folder ? errno : ENOMEM;

	free(folder);
	return fd < 0 ? -err : fd;
}

/* What is there, without following a link: an error as of output_path_check(), but a
 * character device is fine. */
static int look(int folder, const char *name, bool *device)
{
	int err = output_path_check(folder, name);
	struct stat st;

	*device = err == -ENXIO && !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) &&
		  S_ISCHR(st.st_mode);
	return *device ? 0 : err;
}

int append_file_check(const struct append_file *f)
{
	const char *name;
	int folder, err;
	bool device;

	if (!strcmp(f->path, "-"))
		return 0;
	folder = open_folder(f->path, &name);
	if (folder < 0)
		return folder;
	err = look(folder, name, &device);
	close(folder);
	return err;
}

/* What was opened: 0 or an error, as of look(). Takes away permissions beyond MODE. */
static int check_open(int fd, struct stat *st)
{
	int err;

	if (fstat(fd, st))
		return -errno;
	if (S_ISCHR(st->st_mode))
		return 0;
	err = output_kind_error(st);
	if (err)
		return err;
	return st->st_mode & 07777 & ~MODE && fchmod(fd, st->st_mode & MODE) ? -errno : 0;
}

/* Opens the file in @folder. A FIFO or a device that was put there meanwhile must not make
 * open() wait. A file is readable, because the end of its last line is checked. */
static int open_there(int folder, const char *name, struct stat *st)
{
	const int flags = O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	bool device;
	int err = look(folder, name, &device), fd;

	if (err)
		return err;
	fd = openat(folder, name, flags | (device ? O_WRONLY : O_RDWR | O_CREAT), MODE);
	if (fd < 0)
		return -errno;
	err = check_open(fd, st);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Opens the file, after renaming one that has no room for @size bytes. */
static int open_file(const struct append_file *f, size_t size, struct stat *st)
{
	size_t max = f->max ? f->max : APPEND_FILE_MAX;
	const char *name;
	int folder = open_folder(f->path, &name), fd, err;

	if (folder < 0)
		return folder;
	fd = open_there(folder, name, st);
	if (fd >= 0 && st->st_size > 0 && (size_t)st->st_size + size > max) {
		close(fd);
		err = output_set_aside(folder, name, "1");
		fd = err ? err : open_there(folder, name, st);
	}
	close(folder);
	return fd;
}

/* Writes a line in one piece, so that no other writer's line comes between: a pipe takes
 * up to PIPE_BUF at once. Returns the bytes that were written, or -errno. */
static ssize_t write_once(int fd, const char *data, size_t size)
{
	ssize_t n;

	do
		n = write(fd, data, size);
	while (n < 0 && (errno == EINTR ||
			 (errno == EAGAIN && poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, -1) > 0)));
	return n < 0 ? -errno : n;
}

/* To a pipe, a terminal or what else standard output may be, line by line. */
static int write_stream(struct append_file *f, const char *data, size_t size, size_t *done)
{
	const char *newline;
	ssize_t n = 0;
	size_t len;

	if (f->torn) {
		n = write_once(STDOUT_FILENO, "\n", 1);
		if (n <= 0)
			return n ? (int)n : -EIO;
		f->torn = false;
	}
	while (*done < size) {
		newline = memchr(data + *done, '\n', size - *done);
		len = newline ? (size_t)(newline - data) + 1 - *done : size - *done;
		n = write_once(STDOUT_FILENO, data + *done, len);
		f->torn = n > 0 && (size_t)n < len;
		if (n < 0 || (size_t)n < len)
			return n < 0 ? (int)n : -ENOSPC;
		*done += len;
	}
	return 0;
}

/* To a file: at once. */
static int write_file(int fd, const struct stat *st, const char *data, size_t size, size_t *done)
{
	char last = '\n';
	ssize_t n;

	if (S_ISREG(st->st_mode) && st->st_size > 0 && pread(fd, &last, 1, st->st_size - 1) < 0)
		return -errno;
	if (last != '\n') {
		n = write_once(fd, "\n", 1);
		if (n <= 0)
			return n ? (int)n : -EIO;
	}
	n = write_once(fd, data, size);
	if (n < 0)
		return (int)n;
	for (*done = (size_t)n; *done > 0 && data[*done - 1] != '\n';)
		--*done;
	return (size_t)n < size ? -ENOSPC : 0;
}

int append_file_write(struct append_file *f, const char *data, size_t size, size_t *done)
{
	struct stat st = {};
	int fd, err;

	*done = 0;
	if (!strcmp(f->path, "-"))
		return write_stream(f, data, size, done);
	fd = open_file(f, size, &st);
	if (fd < 0)
		return fd;
	err = write_file(fd, &st, data, size, done);
	if (close(fd) && !err) {
		*done = 0;
		err = -errno;
	}
	return err;
}
