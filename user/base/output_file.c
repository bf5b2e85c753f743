// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/output_file.h"

#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_text.h"

/* A FIFO or a device that was put in a file's place must not make open() wait. */
#define OPEN_SAFELY (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Lines have texts of the kernel log, which often not all users may read. */
#define APPEND_MODE 0640

#define LOCK_STEP_MS 20 /* between two tries to get the lock */
#define READER_MS 100 /* how long lines wait for the reader of standard output */

#define TEMPORARY(f) PATHF(".%s.tmp", (f)->name)
#define LOCK(f) PATHF(".%s.lock", (f)->name)

int output_file_init(struct output_file *f, const char *path)
{
	const char *slash = strrchr(path, '/');

	*f = (struct output_file){ .lock = -1, .max = OUTPUT_APPEND_MAX };
	if (!strcmp(path, "-"))
		return 0;
	f->folder = !slash ? strdup(".") : strndup(path, slash > path ? (size_t)(slash - path) : 1);
	f->name = strdup(slash ? slash + 1 : path);
	return f->folder && f->name ? 0 : -ENOMEM;
}

static int kind_error(const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (!S_ISREG(st->st_mode))
		return -ENXIO;
	return st->st_nlink > 1 ? -EMLINK : 0;
}

bool output_is_refused(int err)
{
	return err == -ELOOP || err == -EMLINK || err == -EISDIR || err == -ENXIO;
}

struct error_row {
	int err; /* 0: any other */
	const char *text, *advice; /* "": that of strerror() */
};

static const struct error_row errors[] = {
#define TABLE_ROW(...) { __VA_ARGS__ },
#include "output_errors.inc"
};

static const struct error_row *find_error(int err)
{
	return ARRAY_FIND(e, errors, COUNT(errors), e->err == -err || !e->err);
}

const char *output_error(int err)
{
	const char *text = find_error(err)->text;

	return *text ? text : strerror(-err);
}

const char *output_advice(int err)
{
	return find_error(err)->advice;
}

int output_file_folder(const struct output_file *f)
{
	int folder = f->folder ? open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	return folder < 0 && f->folder ? -errno : folder;
}

/* 0, or an error of the kind of file that is there. */
static int path_check(int folder, const char *name)
{
	struct stat st;

	if (!*name)
		return -EISDIR; /* of a path that ends in a slash */
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	return kind_error(&st);
}

/* Opens a regular file with one link, if nothing else is there. Returns a descriptor or -errno. */
static int open_regular(int folder, const char *name, int flags, mode_t mode)
{
	int err = path_check(folder, name), fd;
	struct stat st;

	if (err)
		return err;
	fd = openat(folder, name, flags | OPEN_SAFELY, mode);
	if (fd < 0)
		return -errno;
	return file_unless(fd, fstat(fd, &st) ? -errno : kind_error(&st));
}

static int error_beside(int err)
{
	return output_is_refused(err) ? -ENOTUNIQ : err;
}

int output_open(const char *path)
{
	return open_regular(AT_FDCWD, path, O_WRONLY | O_CREAT, 0644);
}

/* ---- the lock: an empty file, flock(2) ---- */

/* Read-only: a file that is open for writing prevents a remount of its file system as read-only. */
static int open_lock(const struct output_file *f, int folder)
{
	int fd = open_regular(folder, LOCK(f), O_RDONLY, 0);

	if (fd == -ENOENT)
		fd = open_regular(folder, LOCK(f), O_RDONLY | O_CREAT | O_EXCL, 0600);
	return error_beside(fd);
}

/* Each write takes it anew: by then the lock's file, or the folder, may be another one. */
static int take_lock(struct output_file *f, int folder)
{
	int fd = open_lock(f, folder), err = 0;
	struct stat held = {}, st;

	if (fd < 0)
		return fd;
	if (f->lock >= 0)
		fstat(f->lock, &held);
	if (fstat(fd, &st))
		return file_unless(fd, -errno);
	if (held.st_ino == st.st_ino && held.st_dev == st.st_dev) {
		close(fd);
		return 0;
	}
	/* Who has held it may have removed it meanwhile. */
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &st) || !st.st_nlink)
		err = -EBUSY;
	fd = file_unless(fd, err);
	if (fd < 0)
		return fd;
	file_close(&f->lock);
	f->lock = fd;
	return 0;
}

/* ---- what is done in the folder ---- */

int output_file_check(struct output_file *f)
{
	OPEN_FILE folder = output_file_folder(f);

	return folder >= 0 ? path_check(folder, f->name) : f->folder ? folder : 0;
}

int output_file_lock(struct output_file *f, unsigned int ms)
{
	OPEN_FILE folder = output_file_folder(f);
	int err;

	if (folder < 0)
		return f->folder ? folder : 0;
	/* The lock's file is made and removed by the others. */
	while ((err = take_lock(f, folder)) == -EBUSY || err == -EEXIST) {
		if (ms < LOCK_STEP_MS)
			break;
		ms -= LOCK_STEP_MS;
		usleep(LOCK_STEP_MS * 1000);
	}
	return err;
}

/* Waits at most @ms for a pipe or terminal that is full. One that is ready takes PIPE_BUF bytes, the longest line, at once. */
static ssize_t write_once(int fd, const char *data, size_t size, int ms)
{
	ssize_t n;

	do {
		if (!poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, ms))
			return -EAGAIN;
		n = write(fd, data, size);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n ?: -EIO;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	for (; size; data += n, size -= (size_t)n) {
		n = write_once(fd, data, size, -1);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

static int write_temporary(struct output_file *f, int folder, const char *data, size_t size)
{
	OPEN_FILE fd = -1;

	if (unlinkat(folder, TEMPORARY(f), 0) && errno != ENOENT)
		return error_beside(-errno);
	fd = open_regular(folder, TEMPORARY(f), O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return error_beside(fd);
	if (fchmod(fd, 0644))
		return -errno;
	return write_all(fd, data, size) ?: f->durable && fdatasync(fd) ? -errno : 0;
}

/* The new name is on the disk after this. */
static int sync_folder(int folder)
{
	OPEN_FILE fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

/* Renames the file, if it exists, to NAME.SUFFIX, which replaces an older one. Returns 0 or -errno. */
static int set_aside(int folder, const char *name, const char *suffix)
{
	const char *older = PATHF("%s.%s", name, suffix);
	int err = path_check(folder, older);

	if (err)
		return error_beside(err);
	return renameat(folder, name, folder, older) && errno != ENOENT ? -errno : 0;
}

int output_file_write(struct output_file *f, const char *data, size_t size, const char *aside)
{
	OPEN_FILE folder = output_file_folder(f);
	int err;

	if (folder < 0)
		return f->folder ? folder : write_all(STDOUT_FILENO, data, size);
	err = take_lock(f, folder) ?: path_check(folder, f->name);
	if (err)
		return err;
	err = write_temporary(f, folder, data, size);
	if (!err && aside)
		err = set_aside(folder, f->name, aside);
	if (!err && renameat(folder, TEMPORARY(f), folder, f->name))
		err = -errno;
	if (err)
		unlinkat(folder, TEMPORARY(f), 0);
	f->written |= !err;
	return err ?: f->durable ? sync_folder(folder) : 0;
}

/* ---- lines ---- */

/* Opens the file, and removes permissions beyond APPEND_MODE. */
static int open_lines(struct output_file *f, int folder, struct stat *st)
{
	/* Readable, because the end of its last line is checked. */
	int fd = open_regular(folder, f->name, O_RDWR | O_CREAT | O_APPEND, APPEND_MODE);

	if (fd >= 0 && (fstat(fd, st) || (st->st_mode & 07777 & ~APPEND_MODE &&
					  fchmod(fd, st->st_mode & APPEND_MODE))))
		return file_unless(fd, -errno);
	return fd;
}

/* Opens the file, after renaming one that has no room for @size bytes. */
static int open_with_room(struct output_file *f, size_t size)
{
	OPEN_FILE folder = output_file_folder(f);
	char last = '\n';
	struct stat st;
	int fd;

	if (folder < 0)
		return folder;
	fd = open_lines(f, folder, &st);
	if (fd >= 0 && st.st_size > 0 && (size_t)st.st_size + size > f->max) {
		close(fd);
		fd = set_aside(folder, f->name, "1") ?: open_lines(f, folder, &st);
	}
	if (fd >= 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) < 0)
		return file_unless(fd, -errno);
	f->torn = last != '\n';
	return fd;
}

/* How many bytes of these lines the file ends with. An earlier process was killed when it had written them and had not answered
 * yet. Each event has its time: no line is in the log twice otherwise. */
static size_t count_written(int fd, const char *data, size_t size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t len = end < 0 ? 0 : end < (off_t)size ? (size_t)end : size, skip = 0;
	FREED char *tail = len ? malloc(len) : NULL;
	const char *next;

	if (!tail || pread(fd, tail, len, end - (off_t)len) != (ssize_t)len)
		skip = len;
	while (skip < len && memcmp(tail + skip, data, len - skip) != 0) {
		next = memchr(tail + skip, '\n', len - skip);
		skip = next ? (size_t)(next + 1 - tail) : len;
	}
	/* A line that was cut is written again. */
	for (len = skip < len ? len - skip : 0; len && data[len - 1] != '\n'; len--)
		;
	return len;
}

/* Each line by itself: on standard output no other writer's line comes between. */
static int write_lines(struct output_file *f, int fd, const char *data, size_t size, size_t *done)
{
	while (*done < size) {
		const char *line = f->torn ? "\n" : data + *done;
		const char *end = f->torn ? line : memchr(line, '\n', size - *done);
		size_t len = (size_t)(end - line) + 1;
		ssize_t n = write_once(fd, line, len, READER_MS);

		if (n < 0)
			return (int)n;
		if ((size_t)n < len) {
			f->torn = true;
			return -ENOSPC;
		}
		*done += f->torn ? 0 : len;
		f->torn = false;
	}
	return 0;
}

int output_file_append(struct output_file *f, const char *data, size_t size, size_t *done)
{
	OPEN_FILE fd = -1;

	*done = 0;
	if (!f->folder) /* standard output */
		return write_lines(f, STDOUT_FILENO, data, size, done);
	fd = open_with_room(f, size);
	if (fd >= 0 && !f->written)
		*done = count_written(fd, data, size);
	f->written |= fd >= 0;
	return fd < 0 ? fd : write_lines(f, fd, data, size, done);
}

void output_file_close(struct output_file *f, bool keep)
{
	OPEN_FILE folder = output_file_folder(f);

	/* In a folder that was replaced the file may be another agent's. */
	if (folder >= 0 && f->lock >= 0 && !take_lock(f, folder)) {
		if (f->written && !keep && !path_check(folder, f->name))
			unlinkat(folder, f->name, 0);
		unlinkat(folder, LOCK(f), 0);
	}
	file_close(&f->lock);
	free(f->folder);
	free(f->name);
	*f = (struct output_file){ .lock = -1 };
}
