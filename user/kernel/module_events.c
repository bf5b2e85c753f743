// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Kernel modules and devices that come and go, by uevents. */
#include "kernel/module_events.h"

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* "add@/devices/...", then "ACTION=add", "DEVPATH=/devices/..." and more, each with
 * a NUL. A write to a file "uevent" in /sys has the kernel send one with SYNTH_UUID. */
bool uevent_parse(const char *message, size_t len, struct uevent *out)
{
	const struct {
		const char *name;
		const char **value;
	} variables[] = {
		{ "ACTION=", &out->action },          { "SUBSYSTEM=", &out->subsystem },
		{ "PCI_CLASS=", &out->pci_class },    { "PCI_ID=", &out->pci_id },
		{ "PCI_SLOT_NAME=", &out->pci_slot },
	};
	const char *at = strchr(message, '@');

	*out = (struct uevent){ "", "", "", "", "", "", true };
	if (!at)
		return false;
	out->path = at + 1;
	for (at = message + strlen(message) + 1; at < message + len; at += strlen(at) + 1) {
		for (size_t i = 0; i < COUNT(variables); i++)
			if (!strncmp(at, variables[i].name, strlen(variables[i].name)))
				*variables[i].value = at + strlen(variables[i].name);
		out->genuine &= strncmp(at, "SYNTH_UUID=", 11) != 0;
	}
	return true;
}

bool uevents_read(int fd, uevent_handler *handle, void *context)
{
	char message[MESSAGE_SIZE];
	bool lost = false;

	for (;;) {
		struct sockaddr_nl from = {};
		socklen_t size = sizeof(from);
		struct uevent event;
		ssize_t len = recvfrom(fd, message, sizeof(message) - 1, 0,
				       (struct sockaddr *)&from, &size);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == ENOBUFS) {
			lost = true; /* some did not fit */
			continue;
		}
		if (len < 0)
			return lost;
		message[len] = 0;
		if (!uevent_parse(message, (size_t)len + 1, &event))
			continue;
		event.genuine &= !from.nl_pid;
		handle(context, &event);
	}
}

/* Any process may have sent it, because it only causes a look. */
static void note_module(void *context, const struct uevent *event)
{
	bool *changed = context;

	*changed |= !strncmp(event->path, "/module/", 8);
}

bool module_events_read(int fd)
{
	bool changed = false;

	return uevents_read(fd, note_module, &changed) || changed;
}

ino_t module_number(const char *root, const char *name)
{
	struct stat st;

	return stat(PATHF("%s/sys/module/%s", root, name), &st) ? 0 : st.st_ino;
}
