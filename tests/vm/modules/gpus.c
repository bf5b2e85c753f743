// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A PCI bus with GPUs that answer what the kernel asks when it looks for devices, and do nothing. QEMU has none. */
#include <linux/pci.h>
#include "driver.h"

#define BUS 0xc1

#ifdef CONFIG_X86
static unsigned int number;
static struct pci_bus *bus;
static struct pci_sysdata sysdata = { .domain = 7, .node = NUMA_NO_NODE };

static int read_config(struct pci_bus *of, unsigned int devfn, int where, int size, u32 *value)
{
	/* Vendor and device, command and status, class and revision. */
	static const u32 header[] = { 0x233010de, 0, 0x030200a1 };
	u32 word = where / 4 < ARRAY_SIZE(header) ? header[where / 4] : 0;

	if (of->number != BUS || PCI_FUNC(devfn) || PCI_SLOT(devfn) >= number)
		word = ~0U;
	*value = (word >> 8 * (where & 3)) & (~0U >> 8 * (4 - size));
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *of, unsigned int devfn, int where, int size, u32 value)
{
	return PCIBIOS_SUCCESSFUL;
}

/* For a GPU that a guest gets: vfio-pci wants an IOMMU. It takes those whose driver_override says so. */
static int take(struct pci_dev *dev, const struct pci_device_id *id)
{
	return 0;
}

static const struct pci_device_id none[] = { {} };
static struct pci_driver for_guests = { .name = "for-guests", .id_table = none, .probe = take };

static struct pci_ops config = { .read = read_config, .write = write_config };

int gpus_add(unsigned int wanted)
{
	LIST_HEAD(resources);
	int err;

	if (!wanted)
		return 0;
	err = pci_register_driver(&for_guests);
	if (err)
		return err;
	number = wanted;
	pci_lock_rescan_remove();
	bus = pci_scan_root_bus(NULL, BUS, &config, &sysdata, &resources);
	if (bus)
		pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	if (!bus)
		pci_unregister_driver(&for_guests);
	return bus ? 0 : -ENODEV;
}

void gpus_remove(void)
{
	if (!bus)
		return;
	pci_unregister_driver(&for_guests);
	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
}
#else
int gpus_add(unsigned int wanted)
{
	return wanted ? -EOPNOTSUPP : 0;
}

void gpus_remove(void)
{
}
#endif
