// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a narrow link is told from a narrow slot and from a device that sleeps, and that corrected errors are
 * counted by the hour, however often it is asked and whatever became of the device. */
#include "made_up_tree.h"
#include "health/node.h"

#define PORT "/sys/devices/pci0000:c0/0000:c0:01.0/"
#define DEVICE PORT "0000:c1:00.0/"
#define DRIVER "/sys/bus/pci/drivers/nvidia/"

static struct node_state f;

static void put_number(const char *path, unsigned int number)
{
	put(path, formatted("%u\n", number));
}

static void put_errors(const char *path, unsigned int errors)
{
	put(path, formatted("RxErr 1\nBadTLP %u\nBadDLLP 0\nRollover 0\nTimeout 0\nNonFatalErr 0\n"
			    "CorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR %u\n",
			    errors, errors));
}

/* A GPU with @lanes of the 16 that it could have, in a slot with @slot; 0: there is no file. */
static void put_gpu(unsigned int lanes, unsigned int slot)
{
	put_number(DEVICE "current_link_width", lanes);
	put_number(DEVICE "max_link_width", 16);
	put(DEVICE "power/runtime_status", "active\n");
	if (slot)
		put_number(PORT "max_link_width", slot);
	put(DRIVER "uevent", "");
	put(DRIVER "new_id", "");
	assert_int_equal(symlink("../../../../devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0",
				 formatted("%s" DRIVER "0000:c1:00.0", root)),
			 0);
}

static const struct node_link *read_one(void)
{
	f = (struct node_state){};
	pcie_links_read(&f, root);
	assert_int_equal(f.gpus, 1);
	assert_int_equal(f.link_count, 1);
	assert_string_equal(f.links[0].gpu, "0000:c1:00.0");
	return &f.links[0];
}

/* As without memory, or with too many open files: that drains no node. */
TEST(what_cannot_be_read_is_not_missing)
{
	f.gpus_wanted = 8;
	put("/sys/bus/pci/drivers/nvidia", "");
	pcie_links_read(&f, root);
	assert_int_equal(f.gpus, 8);
	strcpy(f.bus[0], "0000:c1:00.0");
	f.bus_count = 1;
	put("/sys/bus/pci/devices/0000:c1:00.0", "");
	pcie_gpus_read(&f, &f, root);
	assert_int_equal(f.bus_count, 1);
	assert_int_equal(f.unused_count, 0);
}

TEST(both_ends_say_how_wide_a_link_may_be)
{
	put_gpu(8, 16);
	assert_int_equal(read_one()->lanes, 8);
	assert_int_equal(f.links[0].lanes_possible, 16);
	put_number(PORT "max_link_width", 8); /* a slot with eight lanes */
	assert_int_equal(read_one()->lanes_possible, 8);
	put_number(PORT "max_link_width", 255); /* as a device that is gone says */
	assert_int_equal(read_one()->lanes_possible, 16);
	put_number(DEVICE "current_link_width", 63);
	assert_int_equal(read_one()->lanes, 0);
	put(DEVICE "current_link_width", "Unknown\n");
	assert_int_equal(read_one()->lanes, 0);
	/* A device that sleeps is not asked. */
	put_number(DEVICE "current_link_width", 1);
	assert_int_equal(read_one()->lanes, 1);
	put(DEVICE "power/runtime_status", "suspended\n");
	assert_int_equal(read_one()->lanes, 0);
}

TEST(in_a_virtual_machine_there_is_no_port)
{
	put_gpu(16, 0);
	assert_int_equal(read_one()->lanes, 16);
	assert_int_equal(f.links[0].lanes_possible, 16);
	assert_int_equal(f.links[0].corrected, 0);
}

static void put_on_bus(const char *address, const char *vendor, const char *class)
{
	put(formatted("/sys/bus/pci/devices/%s/vendor", address), vendor);
	put(formatted("/sys/bus/pci/devices/%s/class", address), class);
}

TEST(a_gpu_without_a_driver_beside_others_is_unused)
{
	put_on_bus("0000:41:00.0", "0x10de\n", "0x030000\n");
	put_on_bus("0000:42:00.0", "0x10de\n", "0x030200\n");
	put_on_bus("0000:43:00.0", "0x10de\n", "0x030200\n");
	put_on_bus("0000:44:00.0", "0x8086\n", "0x030200\n");
	put("/sys/bus/pci/drivers/vfio-pci/new_id", "");
	assert_int_equal(symlink("../../drivers/vfio-pci",
				 formatted("%s/sys/bus/pci/devices/0000:42:00.0/driver", root)),
			 0);
	put("/sys/bus/pci/devices/0000:43:00.0/physfn", "");
	f = (struct node_state){};
	pcie_gpus_read(&f, &(struct node_state){}, root);
	assert_int_equal(f.unused_count, 0); /* no GPU has the driver */
	assert_int_equal(f.guests, 1);
	f = (struct node_state){ .driver_expected = true };
	pcie_gpus_read(&f, &(struct node_state){}, root);
	assert_int_equal(f.unused_count, 1);
	assert_int_equal(f.bus_count,
			 2); /* one is a guest's; neither a function nor another vendor's */
	put_gpu(16, 16);
	read_one();
	pcie_gpus_read(&f, &(struct node_state){}, root);
	assert_int_equal(f.unused_count, 1);
	assert_string_equal(f.unused[0], "0000:41:00.0");
}

TEST(gpus_are_looked_for_again_when_the_bus_has_other_addresses)
{
	struct node_state before = {}, now = {};

	put_on_bus("0000:41:00.0", "0x10de\n", "0x030000\n");
	pcie_gpus_read(&before, &now, root);
	assert_int_equal(before.bus_count, 1);
	put("/sys/bus/pci/devices/0000:41:00.0/class", "0x020000\n");
	pcie_gpus_read(&now, &before, root);
	assert_int_equal(now.bus_count, 1);
	put("/sys/bus/pci/devices/0000:42:00.0/vendor", "0x8086\n");
	now = (struct node_state){};
	pcie_gpus_read(&now, &before, root);
	assert_int_equal(now.bus_count, 0);
}

static struct node_watch w;

BEFORE_EACH()
{
	w = (struct node_watch){};
}

/* The agent looks, @seconds after the boot: how many GPUs are unused. */
static size_t unused_at(double seconds)
{
	node_watch_look(&w, root, seconds, false);
	return w.node.unused_count;
}

static enum mount_state mount_at(double seconds, bool at_once)
{
	node_watch_look(&w, root, seconds, at_once);
	return w.node.mounts[0].state;
}

TEST(the_agent_waits_for_a_driver_that_loads)
{
	put_gpu(8, 16);
	put_on_bus("0000:41:00.0", "0x10de\n", "0x030200\n");
	assert_int_equal(unused_at(100), 0);
	assert_int_equal(w.node.links[0].lanes, 8);
	assert_int_equal(unused_at(159), 0); /* it does not look */
	assert_false(node_watch_look(&w, root, 159, true)); /* no mount is checked */
	put_on_bus("0000:42:00.0", "0x10de\n", "0x030200\n");
	assert_int_equal(unused_at(160), 1);
	assert_string_equal(w.node.unused[0], "0000:41:00.0");
	assert_int_equal(unused_at(220), 2);
	put("/sys/bus/pci/devices/0000:41:00.0/driver", "");
	assert_int_equal(unused_at(280), 1);
}

#define MOUNTED "44 27 0:35 / /data rw,relatime - nfs4 nas:/data rw,vers=4.2\n"

TEST(the_agent_waits_for_a_mount_while_the_node_boots)
{
	put("/etc/fstab", "nas:/data /data nfs4 defaults 0 0\n");
	put("/proc/1/mountinfo", "");
	node_watch_add_fstab(&w, root);
	assert_int_equal(w.node.mount_count, 1);
	assert_int_equal(mount_at(240, false), MOUNT_FINE);
	assert_int_equal(mount_at(300, false), MOUNT_ABSENT);
	put("/proc/1/mountinfo", MOUNTED);
	assert_int_equal(mount_at(310, false), MOUNT_ABSENT); /* it does not look */
	assert_int_equal(mount_at(310, true), MOUNT_FINE);
	/* that of process 1 comes first */
	put("/proc/1/root/etc/fstab", "");
	w = (struct node_watch){};
	node_watch_add_fstab(&w, root);
	assert_int_equal(w.node.mount_count, 0);
}

TEST(a_mount_that_was_there_is_missed_at_once)
{
	node_mounts_add(&w.node, "/data");
	put("/proc/1/mountinfo", MOUNTED);
	assert_int_equal(mount_at(30, false), MOUNT_FINE);
	put("/proc/1/mountinfo", "");
	assert_int_equal(mount_at(40, true), MOUNT_ABSENT);
}

/* The errors in the hour when @errors were counted in all, @now seconds after the boot. */
static struct node_state counted;

static uint64_t errors_at(double now, unsigned int errors)
{
	put_errors(DEVICE "aer_dev_correctable", errors);
	read_one();
	pcie_links_count(&f, &counted, now);
	counted = f;
	return f.links[0].corrected_in_hour;
}

TEST(errors_count_by_the_hour)
{
	put_gpu(16, 16);
	put_errors(PORT "aer_dev_correctable", 7);
	counted = (struct node_state){};
	/* What was before is of no known time. */
	assert_int_equal(errors_at(100, 1000), 0);
	assert_int_equal(f.links[0].corrected, 1007);
	assert_int_equal(errors_at(160, 1010), 10);
	assert_int_equal(errors_at(3699, 1500), 500);
	/* An hour that is over counts until the next is. */
	assert_int_equal(errors_at(3700, 1500), 500);
	assert_int_equal(errors_at(3800, 1600), 500);
	assert_int_equal(errors_at(7299, 2100), 600);
	assert_int_equal(errors_at(7300, 2100), 600);
	assert_int_equal(errors_at(10900, 2100), 0);
	/* Asked again after ten hours, as many as in one of them. */
	assert_int_equal(errors_at(46900, 2600), 50);
	/* The device has been taken out. */
	assert_int_equal(errors_at(46960, 3), 0);
	assert_int_equal(errors_at(46970, 5), 2);
}
