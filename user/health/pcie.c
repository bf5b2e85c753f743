// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PCIe links of GPUs, as sysfs shows them. */
#include "health/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/pci_address.h"
#include "base/span.h"

#define DRIVER "/sys/bus/pci/drivers/nvidia"
#define DEVICES "/sys/bus/pci/devices"
#define HOUR 3600.0
#define KEPT_MAX_BYTES 8192

/* ---- sysfs ---- */

/* Reads up to @size - 1 bytes of the file @name in @folder; "" if that cannot be. */
static struct span read_text(int folder, const char *name, char *text, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, size);

	if (fd >= 0)
		close(fd);
	return (struct span){ text, text + (len > 0 ? len : 0) };
}

/* 0: not known. */
static unsigned int read_lanes(int folder, const char *name)
{
	char text[16];
	struct span s = read_text(folder, name, text, sizeof(text));
	uint64_t lanes;

	return span_take_number(&s, 10, 32, &lanes) ? (unsigned int)lanes : 0;
}

/* The errors of the device at one end of the link; 0 where the kernel does not count them. */
static uint64_t read_corrected(int folder, const char *name)
{
	char text[512];
	struct span s = read_text(folder, name, text, sizeof(text));
	uint64_t errors;

	return span_take_through(&s, "TOTAL_ERR_COR ") &&
			       span_take_number(&s, 10, UINT64_MAX, &errors) ?
		       errors :
		       0;
}

/* A device that sleeps is left alone: from 6.17 on, to read its link would wake it. The parent's folder has its port,
 * at the other end of the link, which may see the errors in its stead. A port with fewer lanes is a slot that was
 * built so, or there is no port at all in a virtual machine. */
static void read_link(struct node_link *link, int driver, const struct pci_address *gpu)
{
	char status[16];
	struct span s;
	unsigned int port;
	int folder;

	pci_address_text(link->gpu, gpu);
	folder = openat(driver, link->gpu, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return;
	s = read_text(folder, "power/runtime_status", status, sizeof(status));
	if (!span_left(s) || span_starts_with(s, "active")) {
		link->lanes = read_lanes(folder, "current_link_width");
		link->lanes_possible = read_lanes(folder, "max_link_width");
		port = read_lanes(folder, "../max_link_width");
		if (port && port < link->lanes_possible)
			link->lanes_possible = port;
	}
	link->corrected = read_corrected(folder, "aer_dev_correctable") +
			  read_corrected(folder, "../aer_dev_correctable");
	close(folder);
}

static DIR *open_folder(const char *root, const char *path)
{
	char name[256];

	snprintf(name, sizeof(name), "%s%s", root, path);
	return opendir(name);
}

/* The next entry of @folder that is a PCI address; closes it after the last one. @folder may be NULL. */
static bool next_device(DIR *folder, struct pci_address *address)
{
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		struct span name = { entry->d_name, entry->d_name + strlen(entry->d_name) };

		if (pci_address_take(&name, address) && !span_left(name))
			return true;
	}
	if (folder)
		closedir(folder);
	return false;
}

void pcie_links_read(struct node_state *node, const char *root, bool links)
{
	DIR *folder = open_folder(root, DRIVER);
	struct pci_address address;

	while (next_device(folder, &address)) {
		node->gpus++;
		if (links && node->link_count < NODE_LINKS_MAX)
			read_link(&node->links[node->link_count++], dirfd(folder), &address);
	}
}

/* "0x10de", "0x030200". */
static bool reads_as(int folder, const char *name, const char *begin)
{
	char text[16];

	return span_starts_with(read_text(folder, name, text, sizeof(text)), begin);
}

static bool is_gpu(int folder)
{
	return reads_as(folder, "vendor", "0x10de") && reads_as(folder, "class", "0x03") &&
	       faccessat(folder, "physfn", F_OK, AT_SYMLINK_NOFOLLOW);
}

void pcie_gpus_read(struct node_state *node, const char *root)
{
	DIR *folder = open_folder(root, DEVICES);
	char name[PCI_ADDRESS_SIZE];
	struct pci_address address;

	while (next_device(folder, &address)) {
		int device;

		pci_address_text(name, &address);
		device = openat(dirfd(folder), name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (device < 0)
			continue;
		if (node->bus_count < NODE_LINKS_MAX && is_gpu(device)) {
			memcpy(node->bus[node->bus_count++], name, sizeof(name));
			if (node->gpus && faccessat(device, "driver", F_OK, AT_SYMLINK_NOFOLLOW))
				memcpy(node->unused[node->unused_count++], name, sizeof(name));
		}
		close(device);
	}
}

/* ---- the last hours ---- */

/* What is kept of a GPU, a line "GPU BEGUN COUNT LAST". */
struct kept {
	uint64_t begun; /* the hour; seconds since the boot */
	uint64_t count; /* what had been counted then */
	uint64_t last; /* errors in the hour before */
};

static bool find_kept(struct kept *k, struct span text, const char *gpu)
{
	while (span_left(text)) {
		struct span line = span_take_line(&text);

		if (span_take(&line, gpu) && span_take(&line, " ") &&
		    span_take_number(&line, 10, UINT64_MAX, &k->begun) && span_take(&line, " ") &&
		    span_take_number(&line, 10, UINT64_MAX, &k->count) && span_take(&line, " ") &&
		    span_take_number(&line, 10, UINT64_MAX, &k->last) && !span_left(line))
			return true;
	}
	return false;
}

/* Makes the file anew. Others that do so at the same time write the same. */
static void keep(const char *file, const struct node_state *node, const struct kept *kept)
{
	char new[300];
	FILE *out;
	int fd;

	snprintf(new, sizeof(new), "%s.%d", file, (int)getpid());
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (size_t i = 0; i < node->link_count; i++)
		fprintf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", node->links[i].gpu,
			kept[i].begun, kept[i].count, kept[i].last);
	if (fclose(out) || rename(new, file))
		unlink(new);
}

void pcie_links_count(struct node_state *node, const char *file, double now)
{
	struct kept kept[NODE_LINKS_MAX];
	struct file_text text = {};
	bool changed = false;

	if (!node->link_count)
		return;
	if (file_text_read_own(&text, file, KEPT_MAX_BYTES))
		text = (struct file_text){};
	for (size_t i = 0; i < node->link_count; i++) {
		struct node_link *link = &node->links[i];
		struct kept *k = &kept[i];
		double age;

		/* A count that has fallen: the device was taken out and is back. */
		if (!find_kept(k, (struct span){ text.bytes, text.bytes + text.len }, link->gpu) ||
		    k->count > link->corrected || (double)k->begun > now) {
			*k = (struct kept){ (uint64_t)now, link->corrected, 0 };
			changed = true;
		}
		age = now - (double)k->begun;
		if (age >= HOUR) {
			/* Of a longer time, as many as in an hour of it. */
			k->last = (uint64_t)((double)(link->corrected - k->count) * HOUR / age);
			k->begun = (uint64_t)now;
			k->count = link->corrected;
			changed = true;
		}
		link->corrected_in_hour = link->corrected - k->count;
		RAISE(link->corrected_in_hour, k->last);
	}
	file_text_free(&text);
	if (changed)
		keep(file, node, kept);
}
