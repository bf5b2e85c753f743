// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that shows when the agent last worked. */
#include "commands/agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_text.h"
#include "base/output_file.h"

#define EVERY_NS 5000000000ull

int heartbeat_open(struct heartbeat *h, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = path ? output_open(path) : -1;

	/* Which the process alone holds, not those that it starts. */
	if (fd >= 0 && fcntl(fd, F_SETLK, &lock) && (errno == EAGAIN || errno == EACCES))
		fd = file_unless(fd, -EBUSY);
	/* The probe may be another user's. */
	if (fd >= 0)
		fchmod(fd, 0644);
	*h = (struct heartbeat){ .path = fd < 0 ? NULL : path, .fd = fd };
	return path && fd < 0 ? fd : 0;
}

int heartbeat_write(struct heartbeat *h, uint64_t now_ns)
{
	char text[32];
	ssize_t n;
	int len;

	if (!h->path || now_ns < h->due_ns)
		return 0;
	/* Always of the same length, so that a reader never meets parts of two times. */
	len = snprintf(text, sizeof(text), "%020" PRIu64 "\n", now_ns);
	n = pwrite(h->fd, text, (size_t)len, 0);
	if (n != len)
		return n < 0 ? -errno : -EIO;
	h->due_ns = now_ns + EVERY_NS;
	return 0;
}

void heartbeat_close(struct heartbeat *h)
{
	if (!h->path)
		return;
	unlink(h->path);
	close(h->fd);
	*h = (struct heartbeat){ .fd = -1 };
}

int heartbeat_age(const char *path, double *age)
{
	uint64_t written = 0, now = monotonic_ns();
	FILE_TEXT file = {};
	int err = file_text_read_no_link(&file, path, 64);

	if (err)
		return err;
	written = strtoull(file.bytes, NULL, 10);
	if (!written || written > now)
		return -ENODATA;
	*age = (double)(now - written) / 1e9;
	return 0;
}
