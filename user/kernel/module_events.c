// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Kernel modules that are loaded and unloaded, from uevents. */
#include "kernel/module_events.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The multicast group of messages that the kernel itself sends. */
#define KERNEL_GROUP 1u

int module_events_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd, err;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* A message begins with "ACTION@PATH", the path under /sys. Its sender does not
 * matter: the message only makes the caller check the modules. */
bool module_events_read(int fd)
{
	bool changed = false;
	char message[256]; /* its beginning is enough */
	ssize_t len;

	for (;;) {
		len = recv(fd, message, sizeof(message) - 1, 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == ENOBUFS) {
			changed = true; /* messages were lost: they did not fit */
			continue;
		}
		if (len < 0)
			return changed;
		message[len] = 0;
		changed |= strstr(message, "@/module/") != NULL;
	}
}
