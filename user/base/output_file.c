// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that is replaced as a whole, or not at all. */
#include "base/output_file.h"

#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_text.h"

/* A FIFO or a device that was put in a file's place must not make open() wait. */
#define OPEN_SAFELY (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Who may read the kernel log is often restricted, and the lines have texts of it. */
#define APPEND_MODE 0640

/* Between two tries to get the lock. */
#define LOCK_STEP_MS 20

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

	*f = (struct output_file){ .lock = -1, .max = OUTPUT_APPEND_MAX };
	if (!strcmp(path, "-"))
		return 0;
	f->folder = output_split(path, &name);
	f->names[OUTPUT_FILE] = strdup(name);
	if (asprintf(&f->names[OUTPUT_TEMPORARY], ".%s.tmp", name) < 0)
		f->names[OUTPUT_TEMPORARY] = NULL;
	if (asprintf(&f->names[OUTPUT_LOCK], ".%s.lock", name) < 0)
		f->names[OUTPUT_LOCK] = NULL;
	return f->folder && f->names[OUTPUT_FILE] && f->names[OUTPUT_TEMPORARY] &&
			       f->names[OUTPUT_LOCK] ?
		       0 :
		       -ENOMEM;
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
	  "at the name that an older one gets (.1, .damaged or .late) is no regular file with one link",
	  NULL },
	{ ETIMEDOUT, "its file system does not answer", "check that mount" },
	{ EBUSY, "another agent writes it", "stop one of the two" },
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

/* Records which file @err is about, 0 or -errno, and returns it. */
static int fail(struct output_file *f, enum output_part part, int err)
{
	f->part = part;
	return err;
}

int output_file_folder(struct output_file *f)
{
	int folder = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return folder < 0 ? fail(f, OUTPUT_FILE, -errno) : folder;
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

/* Opens a regular file with one link, after a look at what is there. Returns a descriptor or -errno. */
static int open_file(int folder, const char *name, int flags, mode_t mode, struct stat *st)
{
	int err = path_check(folder, name), fd;

	if (err)
		return err;
	fd = openat(folder, name, flags | OPEN_SAFELY, mode);
	if (fd < 0)
		return -errno;
	return file_unless(fd, fstat(fd, st) ? -errno : kind_error(st));
}

int output_open(const char *path)
{
	return open_file(AT_FDCWD, path, O_WRONLY | O_CREAT, 0644, &(struct stat){});
}

static int check(struct output_file *f, int folder, enum output_part part)
{
	return fail(f, part, path_check(folder, f->names[part]));
}

/* ---- the lock ---- */

static bool is_locked(const struct output_file *f, const struct stat *st)
{
	return f->locked && st->st_ino == f->lock_inode && st->st_dev == f->lock_device;
}

/* Whether the lock's name is of the file that was locked. */
static bool holds_name(const struct output_file *f, int folder)
{
	struct stat named;

	return f->locked && !fstatat(folder, f->names[OUTPUT_LOCK], &named, AT_SYMLINK_NOFOLLOW) &&
	       is_locked(f, &named);
}

/* Read-only: a file that is open for writing prevents a remount of its file system as read-only. */
static int open_lock(const struct output_file *f, int folder, struct stat *st)
{
	const char *name = f->names[OUTPUT_LOCK];
	int fd = open_file(folder, name, O_RDONLY, 0, st);

	return fd == -ENOENT ? open_file(folder, name, O_RDONLY | O_CREAT | O_EXCL, 0600, st) : fd;
}

static int take_lock(struct output_file *f, int folder)
{
	struct stat st = {};
	int fd, err = 0;

	if (f->unlocked || holds_name(f, folder))
		return 0;
	fd = open_lock(f, folder, &st);
	if (fd < 0)
		return fd;
	/* Its name could not be looked up before. Another descriptor would not get the lock. */
	if (is_locked(f, &st)) {
		close(fd);
		return 0;
	}
	file_close(&f->lock);
	f->lock = -1;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	f->lock_device = st.st_dev;
	f->lock_inode = st.st_ino;
	f->locked = !err;
	/* The process that held the lock may have removed the file meanwhile. */
	if (!err && !holds_name(f, folder))
		err = -EAGAIN;
	f->locked = !err;
	if (err)
		close(fd);
	else
		f->lock = fd;
	return err;
}

static int check_lock(struct output_file *f, int folder)
{
	return fail(f, OUTPUT_LOCK, take_lock(f, folder));
}

int output_file_give_lock(struct output_file *f)
{
	int fd = f->lock;

	f->lock = -1;
	return fd;
}

/* ---- what is done in the folder ---- */

/* Whether lines may be appended to the character device that is there. */
static bool is_device(const struct output_file *f, int folder)
{
	struct stat st;

	return f->append && !fstatat(folder, f->names[OUTPUT_FILE], &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISCHR(st.st_mode);
}

static int check_file(struct output_file *f, int folder)
{
	return is_device(f, folder) ? 0 : check(f, folder, OUTPUT_FILE);
}

static int in_folder(struct output_file *f, int (*work)(struct output_file *f, int folder))
{
	OPEN_FILE folder = f->folder ? output_file_folder(f) : -1;

	if (!f->folder) /* standard output */
		return 0;
	return folder < 0 ? folder : work(f, folder);
}

int output_file_check(struct output_file *f)
{
	return in_folder(f, check_file);
}

int output_file_lock(struct output_file *f)
{
	return in_folder(f, check_lock);
}

int output_file_wait_lock(struct output_file *f, unsigned int ms)
{
	int err;

	/* The lock's file is made and removed by the others. */
	while ((err = output_file_lock(f)) == -EBUSY || err == -EAGAIN || err == -EEXIST) {
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
	const char *name = f->names[OUTPUT_TEMPORARY];
	struct stat st;
	int fd, err;

	if (unlinkat(folder, name, 0) && errno != ENOENT)
		return -errno;
	fd = open_file(folder, name, O_WRONLY | O_CREAT | O_EXCL, 0644, &st);
	if (fd < 0)
		return fd;
	err = fchmod(fd, 0644) ? -errno : write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* Renames what is there, if it is, to NAME.SUFFIX, in place of an older one. Returns 0 or -errno:
 * -ENOTUNIQ if something else than a regular file with one link has that name. */
static int set_aside(int folder, const char *name, const char *suffix)
{
	const char *older = PATHF("%s.%s", name, suffix);

	if (path_check(folder, older))
		return -ENOTUNIQ;
	return renameat(folder, name, folder, older) && errno != ENOENT ? -errno : 0;
}

static int replace(struct output_file *f, int folder, const char *data, size_t size,
		   const char *aside)
{
	int err = fail(f, OUTPUT_TEMPORARY, write_temporary(f, folder, data, size));

	if (!err && aside)
		err = fail(f, OUTPUT_FILE, set_aside(folder, f->names[OUTPUT_FILE], aside));
	if (!err && renameat(folder, f->names[OUTPUT_TEMPORARY], folder, f->names[OUTPUT_FILE]))
		err = fail(f, OUTPUT_FILE, -errno);
	if (err)
		unlinkat(folder, f->names[OUTPUT_TEMPORARY], 0);
	else
		f->written = true;
	return err;
}

int output_file_write(struct output_file *f, const char *data, size_t size, const char *aside)
{
	OPEN_FILE folder = f->folder ? output_file_folder(f) : -1;

	if (!f->folder) /* standard output */
		return write_all(STDOUT_FILENO, data, size);
	if (folder < 0)
		return folder;
	return check_lock(f, folder)                 ?:
		       check(f, folder, OUTPUT_FILE) ?:
						       replace(f, folder, data, size, aside);
}

/* ---- lines ---- */

/* What was opened: 0 or an error. Takes away permissions beyond APPEND_MODE. */
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
	fd = openat(folder, f->names[OUTPUT_FILE], access | O_APPEND | OPEN_SAFELY, APPEND_MODE);
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
	return set_aside(folder, f->names[OUTPUT_FILE], "1") ?: open_lines(f, folder, st);
}

/* Writes each line in one piece, so that no other writer's line comes between: a pipe takes up to PIPE_BUF at once.
 * @whole: a file, which takes all lines at once. @torn: the line before was not written to its end. */
static int write_lines(int fd, bool whole, bool *torn, const char *data, size_t size, size_t *done)
{
	ssize_t n = *torn ? write_once(fd, "\n", 1) : 1;

	if (n <= 0)
		return n ? (int)n : -EIO;
	*torn = false;
	while (*done < size) {
		const char *line = data + *done, *end = whole ? NULL : strchrnul(line, '\n');
		size_t len = end ? (size_t)(end - line) + 1 : size - *done;

		n = write_once(fd, line, len);
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
	struct stat st;

	if (folder < 0)
		return folder;
	return fail(f, OUTPUT_FILE, open_file(folder, f->names[OUTPUT_FILE], O_RDONLY, 0, &st));
}

void output_file_close(struct output_file *f, bool keep)
{
	OPEN_FILE folder = !f->folder ? -1 : output_file_folder(f);

	/* In a folder that was replaced the file may be another agent's. */
	if (folder >= 0 && (f->unlocked || f->locked) && !check_lock(f, folder)) {
		if (f->written && !keep && !check(f, folder, OUTPUT_FILE))
			unlinkat(folder, f->names[OUTPUT_FILE], 0);
		if (!f->unlocked)
			unlinkat(folder, f->names[OUTPUT_LOCK], 0);
	}
	file_close(&f->lock);
	free(f->folder);
	for (int i = 0; i < OUTPUT_PARTS; i++)
		free(f->names[i]);
	*f = (struct output_file){ .lock = -1 };
}
