// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that is replaced as a whole, or not at all. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stdout(const struct output_file *f)
{
	return !strcmp(f->path, "-");
}

int output_file_init(struct output_file *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int dir = (int)(name - path);

	*f = (struct output_file){ .path = strdup(path), .lock = -1 };
	if (asprintf(&f->temporary, "%.*s.%s.tmp", dir, path, name) < 0)
		f->temporary = NULL;
	if (asprintf(&f->lock_path, "%.*s.%s.lock", dir, path, name) < 0)
		f->lock_path = NULL;
	return f->path && f->temporary && f->lock_path ? 0 : -ENOMEM;
}

/* Whether @fd is the file that has the lock's name now. */
static bool is_named(const struct output_file *f, int fd)
{
	struct stat held, named;

	return !fstat(fd, &held) && !stat(f->lock_path, &named) && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

int output_file_lock(struct output_file *f)
{
	int fd, err;

	if (is_stdout(f) || f->lock >= 0)
		return 0;
	/* Open read-only: a file that is open for writing prevents a remount of its
	 * file system as read-only. */
	fd = open(f->lock_path, O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (err == -EBADF) {
		/* On NFS the kernel uses an fcntl(2) lock, which needs a file open for writing. */
		close(fd);
		fd = open(f->lock_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			return -errno;
		err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	}
	if (err) {
		if (err == -EWOULDBLOCK)
			err = -EBUSY;
		close(fd);
		return err;
	}
	/* The process that held the lock may have removed the file meanwhile. */
	if (!is_named(f, fd)) {
		close(fd);
		return -EAGAIN;
	}
	f->lock = fd;
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Takes the lock again if its directory has been replaced since. */
static int check_lock(struct output_file *f)
{
	if (f->lock >= 0 && !is_named(f, f->lock)) {
		close(f->lock);
		f->lock = -1;
	}
	return output_file_lock(f);
}

int output_file_write(struct output_file *f, const char *data, size_t size)
{
	int fd, err;

	if (is_stdout(f))
		return write_all(STDOUT_FILENO, data, size);
	err = check_lock(f);
	if (err)
		return err;
	fd = open(f->temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	err = fchmod(fd, 0644) ? -errno : write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(f->temporary, f->path))
		err = -errno;
	if (err)
		unlink(f->temporary);
	else
		f->written = true;
	return err;
}

void output_file_close(struct output_file *f, bool keep)
{
	/* In a directory that was replaced the file may be another agent's. */
	if (f->path && f->lock >= 0)
		check_lock(f);
	if (f->path && !is_stdout(f) && f->lock >= 0) {
		if (f->written && !keep)
			unlink(f->path);
		unlink(f->lock_path);
	}
	if (f->lock >= 0)
		close(f->lock);
	free(f->path);
	free(f->temporary);
	free(f->lock_path);
	*f = (struct output_file){ .lock = -1 };
}
