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

TEST(an_event_has_its_variables)
{
	static const char probed[] =
		"add@/devices/pci0000:c0/0000:c1:00.0\0ACTION=add\0"
		"DEVPATH=/devices/pci0000:c0/0000:c1:00.0\0SUBSYSTEM=pci\0PCI_CLASS=30200\0"
		"PCI_ID=10DE:2330\0PCI_SLOT_NAME=0000:c1:00.0\0SEQNUM=77";
	static const char asked[] = "add@/module/nvidia\0ACTION=add\0SYNTH_UUID=0\0SEQNUM=78";
	struct uevent e;

	assert_true(uevent_parse(probed, sizeof(probed), &e));
	assert_printed("add /devices/pci0000:c0/0000:c1:00.0 pci 30200 10DE:2330 0000:c1:00.0 1",
		       "%s %s %s %s %s %s %d", e.action, e.path, e.subsystem, e.pci_class, e.pci_id,
		       e.pci_slot, e.genuine);
	/* Somebody wrote to the file "uevent" in /sys. */
	assert_true(uevent_parse(asked, sizeof(asked), &e));
	assert_printed("/module/nvidia '' 0", "%s '%s' %d", e.path, e.subsystem, e.genuine);
	/* What udev sends has another form. */
	assert_false(uevent_parse("libudev", sizeof("libudev"), &e));
	assert_false(uevent_parse("", 1, &e));
}

static void note_genuine(void *context, const struct uevent *event)
{
	bool *genuine = context;

	*genuine |= event->genuine;
}

TEST(what_a_process_sends_is_not_genuine)
{
	bool genuine = false;

	if (events < 0 || sender < 0)
		skip();
	send_event("add@/module/nvidia");
	assert_false(uevents_read(events, note_genuine, &genuine));
	assert_false(genuine);
}
