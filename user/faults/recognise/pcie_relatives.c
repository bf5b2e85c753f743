// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which Xids and which PCIe errors belong together. */
#include "faults/recognise/recognise.h"

#include "base/file_text.h"

/* sysfs has a device's folder within its parent's. */
static void find_parent(char *parent, size_t size, const char *device)
{
	char path[PATH_MAX], *slash, *name;

	parent[0] = 0;
	if (!realpath(PATHF("/sys/bus/pci/devices/%s", device), path))
		return;
	slash = strrchr(path, '/');
	if (!slash)
		return;
	*slash = 0;
	name = strrchr(path, '/');
	/* Above it may be the host bridge, "pci0000:00", which has no errors. */
	if (name && strncmp(name + 1, "pci", 3) != 0)
		snprintf(parent, size, "%.*s", (int)size - 1, name + 1);
}

static bool are_related(const struct pcie_relative *xid, const struct pcie_relative *error)
{
	if (strcmp(xid->device, error->device) != 0 && strcmp(xid->parent, error->device) != 0)
		return false;
	if (xid->time_ns <= error->time_ns)
		return error->time_ns - xid->time_ns <= XID_BEFORE_PCIE_NS;
	return xid->time_ns - error->time_ns <= XID_AFTER_PCIE_NS;
}

/* Returns its entry: that of the burst it belongs to, or a new one instead of the oldest. */
static struct pcie_relative *record_relative(struct pcie_relatives *r, const char *device,
					     unsigned int xid, uint64_t time_ns)
{
	struct pcie_relative *new;

	ARRAY_EACH(old, r->list, PCIE_RELATIVES) {
		if (old->xid != xid || strcmp(old->device, device) != 0 ||
		    time_ns >= old->time_ns + PCIE_BURST_NS ||
		    old->time_ns >= time_ns + PCIE_BURST_NS)
			continue;
		RAISE(old->time_ns, time_ns);
		return old;
	}
	new = &r->list[r->next++ % PCIE_RELATIVES];
	*new = (struct pcie_relative){ .xid = xid, .time_ns = time_ns };
	snprintf(new->device, sizeof(new->device), "%s", device);
	find_parent(new->parent, sizeof(new->parent), device);
	return new;
}

void pcie_relatives_add(struct pcie_relatives *r, const char *device, unsigned int xid,
			uint64_t time_ns, struct json *j)
{
	struct pcie_relative *new;
	bool any = false;

	if (!*device)
		return;
	new = record_relative(r, device, xid, time_ns);
	ARRAY_EACH(old, r->list, PCIE_RELATIVES) {
		if (old == new || !old->device[0] || !old->xid == !xid ||
		    !(xid ? are_related(new, old) : are_related(old, new)))
			continue;
		if (!any)
			json_array(j, xid ? "pcie_errors" : "xids");
		any = true;
		json_object(j, NULL);
		json_text(j, "device", old->device);
		if (old->xid)
			json_unsigned(j, "xid", old->xid);
		json_fraction(j, "seconds_before", ((double)time_ns - (double)old->time_ns) / 1e9,
			      3);
		json_object_end(j);
	}
	if (any)
		json_array_end(j);
}
