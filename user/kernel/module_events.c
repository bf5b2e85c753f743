// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/module_events.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file_text.h"

/* The multicast group of messages that the kernel itself sends. */
#define KERNEL_GROUP 1u

/* The kernel's variables have at most 2 KiB (UEVENT_BUFFER_SIZE); action and path precede them. */
#define MESSAGE_SIZE 8192

int module_events_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -errno;
	return file_unless(
		fd, bind(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0);
}

/* A message is "add@/devices/...", then its variables. Any process may have sent it, but it only causes a look. A message that
 * did not fit may have been a module's. */
bool module_events_read(int fd)
{
	char message[MESSAGE_SIZE];
	bool changed = false;

	for (;;) {
		ssize_t len = recv(fd, message, sizeof(message) - 1, 0);
		const char *at;

		if (len < 0 && errno == ENOBUFS)
			changed = true;
		if (len < 0 && errno != EINTR && errno != ENOBUFS)
			return changed;
		message[len < 0 ? 0 : len] = 0;
		at = strchr(message, '@');
		changed |= at && !strncmp(at, "@/module/", 9);
	}
}
