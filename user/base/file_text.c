// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/file_text.h"

#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than a file of proc has that is read for one number. */
#define NUMBER_FILE_MAX (1 << 20)

/* Up to the end of the file: its length may change meanwhile, and is 0 in proc. */
static int read_all(struct file_text *f, int fd, size_t room, size_t max)
{
	char *grown;
	ssize_t n;

	for (;;) {
		if (!f->bytes || f->len == room) {
			room = f->bytes ? 2 * room : room + 1;
			grown = realloc(f->bytes, room + 1);
			if (!grown)
				return -ENOMEM;
			f->bytes = grown;
		}
		n = read(fd, f->bytes + f->len, room - f->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		f->len += (size_t)n;
		if (f->len > max)
			return -EFBIG;
	}
	f->bytes[f->len] = 0;
	return 0;
}

bool file_is_anybodys(const struct stat *st)
{
	return (st->st_uid && st->st_uid != geteuid()) || st->st_mode & S_IWOTH;
}

int file_open_regular(const char *path, int flags, struct stat *status)
{
	/* Opening a FIFO must not wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);

	if (fd < 0)
		return -errno;
	return file_unless(fd, fstat(fd, status) ? -errno : S_ISREG(status->st_mode) ? 0 : -EINVAL);
}

int file_text_read_as(struct file_text *f, const char *path, size_t max, bool own)
{
	struct stat status = {};
	OPEN_FILE fd = file_open_regular(path, own ? O_NOFOLLOW : 0, &status);
	int err;

	*f = (struct file_text){};
	if (fd < 0)
		return fd;
	if (own && status.st_nlink > 1)
		return -EMLINK;
	if (own && file_is_anybodys(&status))
		return -EPERM;
	if ((size_t)status.st_size > max)
		return -EFBIG;
	err = read_all(f, fd, status.st_size ? (size_t)status.st_size : 4096, max);
	if (err)
		file_text_free(f);
	return err;
}

const char *file_text_error(int err)
{
	switch (-err) {
	case ELOOP:
		return "it is a symbolic link";
	case EMLINK:
		return "it has several hard links";
	case EPERM:
		return "it does not belong to root, or everybody may write it";
	case EINVAL:
		return "it is not a regular file";
	case EFBIG:
		return "it is too long";
	case ETIMEDOUT:
		return "its file system does not answer";
	default:
		return strerror(-err);
	}
}

ssize_t file_read_and_close(int fd, char *text, size_t size)
{
	OPEN_FILE file = fd;
	ssize_t n = file < 0 ? -1 : 1, len = 0;

	while (n > 0 && (size_t)len < size - 1) {
		n = TEMP_FAILURE_RETRY(read(file, text + len, size - 1 - (size_t)len));
		len += n > 0 ? n : 0;
	}
	text[len] = 0;
	return n < 0 ? -errno : len;
}

bool file_first_line(const char *path, char *line, size_t size)
{
	bool found = file_read_and_close(open(path, O_RDONLY | O_CLOEXEC), line, size) > 0;

	line[found ? strcspn(line, "\n") : 0] = 0;
	return found;
}

bool file_begins(const char *path, const char *text)
{
	char line[32];

	return file_first_line(path, line, sizeof(line)) && !strncmp(line, text, strlen(text));
}

uint64_t file_number(const char *path, const char *label, int base)
{
	FILE_TEXT file = {};
	const char *at =
		file_text_read(&file, path, NUMBER_FILE_MAX) ? NULL : strstr(file.bytes, label);

	return at ? strtoull(at + strlen(label), NULL, base) : 0;
}

const char *path_print(char *path, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(path, PATH_MAX, format, args);
	va_end(args);
	return path;
}

char *stream_text(FILE *out, char **text)
{
	bool cut = !out || ferror(out);

	if (out && !(fclose(out) || cut))
		return *text;
	free(*text);
	return *text = NULL;
}

void file_text_free(struct file_text *f)
{
	free(f->bytes);
	*f = (struct file_text){};
}

struct span file_text_span(const struct file_text *f)
{
	return (struct span){ f->bytes, f->bytes + f->len };
}

void file_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

int file_unless(int fd, int err)
{
	OPEN_FILE refused = err ? fd : -1;

	return refused < 0 ? fd : err;
}

int file_watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void folder_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

const char *folder_next(DIR *folder)
{
	const struct dirent *entry;

	do
		entry = folder ? readdir(folder) : NULL;
	while (entry && *entry->d_name == '.');
	return entry ? entry->d_name : NULL;
}
