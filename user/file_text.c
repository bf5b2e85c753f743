// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A whole file as bytes in memory. */
#include "file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file may grow or shrink meanwhile: read() tells what there is. */
static int read_all(struct file_text *f, int fd, size_t room)
{
	ssize_t n;

	f->bytes = malloc(room + 1);
	if (!f->bytes)
		return -ENOMEM;
	while (f->len < room) {
		n = read(fd, f->bytes + f->len, room - f->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		f->len += (size_t)n;
	}
	f->bytes[f->len] = 0;
	return 0;
}

int file_text_read(struct file_text *f, const char *path, size_t max)
{
	struct stat status;
	int fd, err = 0;

	*f = (struct file_text){};
	/* Opening a FIFO must not wait for a writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = -EINVAL;
	else if ((size_t)status.st_size > max)
		err = -EFBIG;
	else
		err = read_all(f, fd, (size_t)status.st_size);
	close(fd);
	if (err) {
		file_text_free(f);
		return err;
	}
	f->modified = (double)status.st_mtim.tv_sec +
		      (double)status.st_mtim.tv_nsec / 1e9;
	return 0;
}

const char *file_text_error(int err)
{
	switch (-err) {
	case EINVAL:
		return "it is no regular file";
	case EFBIG:
		return "it is too long";
	default:
		return strerror(-err);
	}
}

void file_text_free(struct file_text *f)
{
	free(f->bytes);
	*f = (struct file_text){};
}
