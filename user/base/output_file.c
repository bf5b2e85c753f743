// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that is replaced as a whole, or to which lines are appended. */
#include "base/output_file.h"

#include <poll.h>
#include <signal.h>
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

char *output_split(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	if (!slash)
		return strdup(".");
	return strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

int output_file_init(struct output_file *f, const char *path)
{
	const char *name;

	*f = (struct output_file){ .lock = -1, .max = OUTPUT_APPEND_MAX, .owner = getpid() };
	if (!strcmp(path, "-"))
		return 0;
	f->folder = output_split(path, &name);
	f->name = strdup(name);
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

static const struct {
	int err;
	const char *text, *advice; /* NULL: that of strerror(), the last advice */
} errors[] = {
	{ ELOOP, "it is a symbolic link", "remove it" },
	{ EMLINK, "it has several hard links", "remove it" },
	{ EISDIR, "it is a folder", "remove it" },
	{ ENXIO, "it is a device, a FIFO or a socket", "remove it" },
	{ ENOTUNIQ,
	  "beside it, at .NAME.tmp, .NAME.lock, NAME.1, NAME.damaged or NAME.late, is no regular file with one link",
	  "remove that" },
	{ ETIMEDOUT, "its file system does not answer", "check that mount" },
	{ EINPROGRESS, "another file is written first, and its file system does not answer",
	  "check that mount" },
	{ EREMOTE, "it is on a network file system or FUSE, which may stop answering",
	  "unmount that" },
	{ EAGAIN, "nobody reads it", "see who reads standard output" },
	{ EBUSY, "another agent writes it", "stop one of the two" },
	{ EOWNERDEAD, "a process of an agent that has ended still writes it",
	  "check that its disk answers" },
	{ ECHILD, "the process that writes it has ended", NULL },
	{ ENOENT, NULL, "create the folder" },
	{ EROFS, NULL, "under systemd, list its folder in ReadWritePaths= of the unit" },
	{ EACCES, NULL, "make the folder writable; the file must be this user's own" },
	{ EPERM, NULL, "make the folder writable; the file must be this user's own" },
	{ ENOSPC, NULL, "free some space" },
	{ EDQUOT, NULL, "free some space" },
	{ 0, NULL, "check that the folder can be written to" },
};

static size_t find_error(int err)
{
	size_t i = 0;

	while (errors[i].err && errors[i].err != -err)
		i++;
	return i;
}

const char *output_error(int err)
{
	return errors[find_error(err)].text ?: strerror(-err);
}

const char *output_advice(int err)
{
	return errors[find_error(err)].advice ?: errors[find_error(0)].advice;
}

int output_file_folder(struct output_file *f)
{
	int folder = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? -errno : folder;
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

/* The error of a name beside the file. */
static int error_beside(int err)
{
	return output_is_refused(err) ? -ENOTUNIQ : err;
}

int output_open(const char *path)
{
	return open_regular(AT_FDCWD, path, O_WRONLY | O_CREAT, 0644);
}

/* ---- the lock: an empty file's flock(2), with the owner's number for those who find it taken ---- */

/* Read-only: a file that is open for writing prevents a remount of its file system as read-only. */
static int open_lock(const struct output_file *f, int folder)
{
	int fd = open_regular(folder, LOCK(f), O_RDONLY, 0);

	if (fd == -ENOENT)
		fd = open_regular(folder, LOCK(f), O_RDONLY | O_CREAT | O_EXCL, 0600);
	return error_beside(fd);
}

/* Writes the owner's number into the lock. Called before the first write, not when the lock is taken: a disk that hangs can often
 * still be read. */
static void sign_lock(struct output_file *f, int folder)
{
	OPEN_FILE fd = f->is_signed ? -1 : open_regular(folder, LOCK(f), O_WRONLY | O_TRUNC, 0);

	if (fd >= 0)
		dprintf(fd, "%d\n", f->owner);
	f->is_signed = true;
}

static int busy_error(int fd)
{
	char text[16] = "";
	int owner = pread(fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;

	return owner > 0 && kill(owner, 0) && errno == ESRCH ? -EOWNERDEAD : -EBUSY;
}

/* Whether the lock's name is that of the open file: 1 or 0, or -errno. */
static int is_named(const struct output_file *f, int folder, int fd)
{
	struct stat named, opened;

	if (fd < 0 || fstatat(folder, LOCK(f), &named, AT_SYMLINK_NOFOLLOW))
		return fd < 0 || errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &opened))
		return -errno;
	return named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

static int take_lock(struct output_file *f, int folder)
{
	int named = is_named(f, folder, f->lock), fd, err = 0;

	if (named)
		return named < 0 ? named : 0;
	fd = open_lock(f, folder);
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? busy_error(fd) : -errno;
	/* The process that held the lock may have removed the file meanwhile. */
	if (!err)
		named = is_named(f, folder, fd);
	if (!err && named != 1)
		err = named ?: -EBUSY;
	fd = file_unless(fd, err);
	if (fd < 0)
		return fd;
	file_close(&f->lock);
	f->lock = fd;
	f->is_signed = false;
	return 0;
}

/* ---- what is done in the folder ---- */

static int in_folder(struct output_file *f, int (*work)(struct output_file *f, int folder))
{
	OPEN_FILE folder = f->folder ? output_file_folder(f) : -1;

	if (!f->folder) /* standard output */
		return 0;
	return folder < 0 ? folder : work(f, folder);
}

/* Whether lines may be appended to the character device that is there. */
static bool is_device(const struct output_file *f, int folder)
{
	struct stat st;

	return f->append && !fstatat(folder, f->name, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISCHR(st.st_mode);
}

static int check_file(struct output_file *f, int folder)
{
	return is_device(f, folder) ? 0 : path_check(folder, f->name);
}

int output_file_check(struct output_file *f)
{
	return in_folder(f, check_file);
}

int output_file_lock(struct output_file *f, unsigned int ms)
{
	int err;

	/* The lock's file is made and removed by the others. */
	while ((err = in_folder(f, take_lock)) == -EBUSY || err == -EOWNERDEAD || err == -EEXIST) {
		if (ms < LOCK_STEP_MS)
			break;
		ms -= LOCK_STEP_MS;
		usleep(LOCK_STEP_MS * 1000);
	}
	return err;
}

/* Waits for a pipe or terminal that another process made non-blocking. */
static ssize_t write_once(int fd, const char *data, size_t size)
{
	ssize_t n;

	do
		n = write(fd, data, size);
	while (n < 0 && (errno == EINTR ||
			 (errno == EAGAIN && poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, -1) > 0)));
	return n < 0 ? -errno : n;
}

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write_once(fd, data, size);
		if (n <= 0)
			return n ? (int)n : -EIO;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_temporary(struct output_file *f, int folder, const char *data, size_t size)
{
	int fd, err;

	if (unlinkat(folder, TEMPORARY(f), 0) && errno != ENOENT)
		return error_beside(-errno);
	fd = open_regular(folder, TEMPORARY(f), O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0)
		return error_beside(fd);
	err = fchmod(fd, 0644) ? -errno : write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	return err;
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
	OPEN_FILE folder = f->folder ? output_file_folder(f) : -1;
	int err;

	if (!f->folder) /* standard output */
		return write_all(STDOUT_FILENO, data, size);
	if (folder < 0)
		return folder;
	err = take_lock(f, folder) ?: path_check(folder, f->name);
	if (err)
		return err;
	sign_lock(f, folder);
	err = write_temporary(f, folder, data, size);
	if (!err && aside)
		err = set_aside(folder, f->name, aside);
	if (!err && renameat(folder, TEMPORARY(f), folder, f->name))
		err = -errno;
	if (err)
		unlinkat(folder, TEMPORARY(f), 0);
	f->written |= !err;
	return err;
}

/* ---- lines ---- */

/* Checks the opened file, and removes permissions beyond APPEND_MODE. Returns 0 or an error. */
static int check_open(int fd, struct stat *st)
{
	int err = fstat(fd, st) ? -errno : kind_error(st);

	if (err)
		return err == -ENXIO && S_ISCHR(st->st_mode) ? 0 : err;
	return st->st_mode & 07777 & ~APPEND_MODE && fchmod(fd, st->st_mode & APPEND_MODE) ?
		       -errno :
		       0;
}

/* A file is readable, because the end of its last line is checked. */
static int open_lines(struct output_file *f, int folder, struct stat *st)
{
	int access = is_device(f, folder) ? O_WRONLY : O_RDWR | O_CREAT, fd;
	int err = check_file(f, folder);

	if (err)
		return err;
	fd = openat(folder, f->name, access | O_APPEND | OPEN_SAFELY, APPEND_MODE);
	return fd < 0 ? -errno : file_unless(fd, check_open(fd, st));
}

/* Opens the file, after renaming one that has no room for @size bytes. */
static int open_with_room(struct output_file *f, size_t size, struct stat *st)
{
	OPEN_FILE folder = output_file_folder(f);
	int fd;

	if (folder < 0)
		return folder;
	fd = open_lines(f, folder, st);
	if (fd < 0 || st->st_size <= 0 || (size_t)st->st_size + size <= f->max)
		return fd;
	close(fd);
	return set_aside(folder, f->name, "1") ?: open_lines(f, folder, st);
}

/* A pipe that is ready takes PIPE_BUF bytes at once: no line is longer where it may be written to one. */
static ssize_t write_when_read(int fd, const char *data, size_t size)
{
	if (poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, READER_MS) == 0)
		return -EAGAIN;
	return write_once(fd, data, size);
}

/* Writes all lines to a @file at once, and each by itself to standard output, where no other writer's line may come
 * between. @torn: the line before was not written to its end. */
static int write_lines(int fd, bool file, bool *torn, const char *data, size_t size, size_t *done)
{
	ssize_t (*const write_some)(int, const char *, size_t) =
		file ? write_once : write_when_read;
	ssize_t n = *torn ? write_some(fd, "\n", 1) : 1;

	if (n <= 0)
		return n ? (int)n : -EIO;
	*torn = false;
	while (*done < size) {
		const char *line = data + *done, *end = file ? NULL : strchrnul(line, '\n');
		size_t len = end ? (size_t)(end - line) + 1 : size - *done;

		n = write_some(fd, line, len);
		if (n < 0)
			return (int)n;
		*torn = n > 0 && line[n - 1] != '\n';
		*done += (size_t)n;
		if ((size_t)n == len)
			continue;
		while (*done > 0 && data[*done - 1] != '\n')
			--*done;
		return -ENOSPC;
	}
	return 0;
}

int output_file_append(struct output_file *f, const char *data, size_t size, size_t *done)
{
	struct stat st = {};
	char last = '\n';
	int fd, err = 0;
	bool torn;

	*done = 0;
	if (!f->folder) /* standard output */
		return write_lines(STDOUT_FILENO, false, &f->torn, data, size, done);
	fd = open_with_room(f, size, &st);
	if (fd < 0)
		return fd;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) < 0)
		err = -errno;
	torn = last != '\n';
	if (!err)
		err = write_lines(fd, true, &torn, data, size, done);
	if (close(fd) && !err) {
		*done = 0;
		err = -errno;
	}
	return err;
}

/* ---- reading, and the end ---- */

int output_file_open(struct output_file *f)
{
	OPEN_FILE folder = output_file_folder(f);

	return folder < 0 ? folder : open_regular(folder, f->name, O_RDONLY, 0);
}

void output_file_close(struct output_file *f, bool keep)
{
	OPEN_FILE folder = !f->folder ? -1 : output_file_folder(f);

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
