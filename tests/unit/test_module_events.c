// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a module's uevent is distinguished from others, and that a lost one counts as a module's. Runs in a
 * network namespace of its own, so that no other process receives what it sends. Skipped where it may not create
 * one. */
#include <linux/netlink.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "kernel/module_events.h"

static int events = -1, sender = -1;

BEFORE_EACH()
{
	if (unshare(CLONE_NEWNET))
		return;
	events = module_events_open();
	sender = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
}

AFTER_EACH()
{
	close(events);
	close(sender);
}

static void send_event(const char *event)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = 1 };

	/* Refused by a receiver that is full. */
	(void)sendto(sender, event, strlen(event) + 1, 0, (const struct sockaddr *)&group,
		     sizeof(group));
}

TEST(a_module_is_distinguished_from_a_device)
{
	if (events < 0 || sender < 0)
		skip();
	assert_false(module_events_read(events));
	send_event("add@/devices/virtual/net/eth0/module");
	assert_false(module_events_read(events));
	send_event("add@/devices/virtual/net/eth0");
	send_event("add@/module/sunrpc");
	send_event("remove@/devices/virtual/net/eth0");
	assert_true(module_events_read(events));
	assert_false(module_events_read(events));
	send_event("remove@/module/nfs");
	assert_true(module_events_read(events));
}

TEST(a_lost_event_may_have_been_a_modules)
{
	int least = 1;

	if (events < 0 || sender < 0)
		skip();
	setsockopt(events, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	for (int i = 0; i < 1000; i++)
		send_event("add@/devices/virtual/net/eth0");
	assert_true(module_events_read(events));
	assert_false(module_events_read(events));
}
