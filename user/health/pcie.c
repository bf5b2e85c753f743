// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PCIe links of GPUs, as sysfs shows them. */
#include "health/node.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file_text.h"

#define DRIVER "/sys/bus/pci/drivers/nvidia"
#define DEVICES "/sys/bus/pci/devices"
#define HOUR 3600.0

/* ---- sysfs ---- */

/* 0: not known. */
static unsigned int read_lanes(const char *folder, const char *name)
{
	uint64_t lanes;
	char text[16];

	file_first_line(PATHF("%s/%s", folder, name), text, sizeof(text));
	return span_number(span_of(text), 32, &lanes) ? (unsigned int)lanes : 0;
}

/* The errors of the device at one end of the link; 0 where the kernel does not count them. */
static uint64_t read_corrected(const char *folder)
{
	FILE_TEXT text = {};
	struct span s;
	uint64_t errors = 0;

	file_text_read(&text, PATHF("%s/aer_dev_correctable", folder), 8192);
	s = file_text_span(&text);
	if (span_take_through(&s, "TOTAL_ERR_COR "))
		span_take_number(&s, 10, UINT64_MAX, &errors);
	return errors;
}

/* A device that sleeps is not read: from 6.17 on, reading its link would wake it. The parent's folder is that of the port at the
 * other end of the link, which may see the errors instead. A port with fewer lanes is a slot that was built this way. In a virtual
 * machine there may be no port. */
static void read_link(struct node_link *link, const char *folder)
{
	char status[16];
	unsigned int port;

	if (!file_first_line(PATHF("%s/power/runtime_status", folder), status, sizeof(status)) ||
	    !strcmp(status, "active")) {
		link->lanes = read_lanes(folder, "current_link_width");
		link->lanes_possible = read_lanes(folder, "max_link_width");
		port = read_lanes(folder, "../max_link_width");
		if (port && port < link->lanes_possible)
			link->lanes_possible = port;
	}
	link->corrected = read_corrected(folder) + read_corrected(PATHF("%s/..", folder));
}

/* The next entry of @folder that is a PCI address. @folder may be NULL. */
static bool next_device(DIR *folder, char name[PCI_ADDRESS_SIZE])
{
	const char *entry;
	struct pci_address address;

	while ((entry = folder_next(folder))) {
		struct span s = span_of(entry);

		if (pci_address_take(&s, &address) && !span_left(s)) {
			pci_address_text(name, &address);
			return true;
		}
	}
	return false;
}

void pcie_links_read(struct node_state *node, const char *root)
{
	OPEN_FOLDER *folder = opendir(PATHF("%s" DRIVER, root));
	char name[PCI_ADDRESS_SIZE];
	struct node_link *link;

	if (!folder && errno != ENOENT)
		node->gpus =
			node->gpus_wanted; /* for lack of memory, for example: none is known to be missing */
	while (next_device(folder, name)) {
		node->gpus++;
		if (node->link_count == NODE_LINKS_MAX)
			continue;
		link = &node->links[node->link_count++];
		memcpy(link->gpu, name, sizeof(name));
		read_link(link, PATHF("%s" DRIVER "/%s", root, name));
	}
}

/* Also if it is not known. */
static bool has(const char *device, const char *link)
{
	struct stat st;

	return !lstat(PATHF("%s/%s", device, link), &st) || errno != ENOENT;
}

static bool is_gpu(const char *device)
{
	return file_begins(PATHF("%s/vendor", device), "0x10de") &&
	       file_begins(PATHF("%s/class", device), "0x03") && /* "0x030200" */
	       !has(device, "physfn");
}

/* By "vfio-pci", "nvgrace-gpu-vfio-pci" or another. */
static bool is_guests(const char *device)
{
	char driver[256] = "";

	return readlink(PATHF("%s/driver", device), driver, sizeof(driver) - 1) > 0 &&
	       strstr(driver, "vfio");
}

void pcie_gpus_read(struct node_state *node, const struct node_state *before, const char *root)
{
	const char *path = PATHF("%s" DEVICES, root);
	OPEN_FOLDER *folder = opendir(path);
	char name[PCI_ADDRESS_SIZE];

	while (next_device(folder, name))
		node->bus_names =
			(uint32_t)crc32(node->bus_names, (Bytef *)name, (uInt)strlen(name));
	if (before->bus_names == node->bus_names) {
		memcpy(node->bus, before->bus, sizeof(node->bus));
		node->bus_count = before->bus_count;
	} else if (folder) {
		rewinddir(folder);
		while (next_device(folder, name))
			if (node->bus_count < NODE_LINKS_MAX && is_gpu(PATHF("%s/%s", path, name)))
				memcpy(node->bus[node->bus_count++], name, sizeof(name));
	}
	for (size_t i = 0; i < node->bus_count; i++) {
		const char *device = PATHF("%s/%s", path, node->bus[i]);

		node->guests += is_guests(device);
		if ((node->gpus || node->driver_expected) && !has(device, "driver"))
			memcpy(node->unused[node->unused_count++], node->bus[i], sizeof(name));
	}
}

void pcie_links_count(struct node_state *node, const struct node_state *before, double now)
{
	ARRAY_EACH(link, node->links, node->link_count) {
		const struct node_link *known = ARRAY_FIND(x, before->links, before->link_count,
							   !strcmp(x->gpu, link->gpu));
		double age;

		/* The count has fallen: the device was removed and is back. */
		if (!known || known->corrected_before > link->corrected) {
			link->hour_begun = now;
			link->corrected_before = link->corrected;
			continue;
		}
		link->hour_begun = known->hour_begun;
		link->corrected_before = known->corrected_before;
		link->last_hour = known->last_hour;
		age = now - link->hour_begun;
		if (age >= HOUR) {
			/* If more than an hour has passed, the mean number in an hour counts. */
			link->last_hour =
				(uint64_t)((double)(link->corrected - link->corrected_before) *
					   HOUR / age);
			link->hour_begun = now;
			link->corrected_before = link->corrected;
		}
		link->corrected_in_hour = link->corrected - link->corrected_before;
		RAISE(link->corrected_in_hour, link->last_hour);
	}
}
