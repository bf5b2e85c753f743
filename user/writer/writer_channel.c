// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages with a descriptor, by unix(7). */
#include "writer/writer_channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long a lack of memory is waited for. What was sent stays readable, so that the caller's
 * next wait for it is none. */
#define NO_MEMORY_US 20000

union control {
	struct cmsghdr header; /* for its alignment */
	char bytes[CMSG_SPACE(sizeof(int))];
};

int channel_send(int socket, const void *message, size_t size, int fd)
{
	union control control = {};
	struct iovec data = { (void *)message, size };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS,
						   .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int channel_receive(int socket, void *message, size_t size, int *fd, int flags)
{
	union control control = {};
	struct iovec data = { message, size };
	struct msghdr m = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *header;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	/* A lack of memory is no end: the other side may be at work. */
	if (n < 0 && (errno == ENOMEM || errno == ENOBUFS)) {
		usleep(NO_MEMORY_US);
		return -EAGAIN;
	}
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -EPIPE;
	header = CMSG_FIRSTHDR(&m);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return (size_t)n == size ? 0 : -EPIPE;
}
