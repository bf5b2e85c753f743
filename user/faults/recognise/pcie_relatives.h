/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which Xids and which PCIe errors belong together: those on the same PCI
 * device or its parent, where the Xid came within ten minutes before or five
 * minutes after the error.
 */
#ifndef XIDSCOPE_PCIE_RELATIVES_H
#define XIDSCOPE_PCIE_RELATIVES_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/pci_address.h"

/* The window of Meta's study of its clusters' failures. */
#define XID_BEFORE_PCIE_NS (600 * 1000000000ull)
#define XID_AFTER_PCIE_NS (300 * 1000000000ull)

/* Reports of a device that are less apart count as one: a storm of corrected
 * errors must not displace the rest. */
#define PCIE_BURST_NS (5 * 1000000000ull)

#define PCIE_RELATIVES 64

/* The latest Xids and PCIe errors; the oldest is replaced first. */
struct pcie_relatives {
	struct pcie_relative {
		char device[PCI_ADDRESS_SIZE];
		char parent[PCI_ADDRESS_SIZE]; /* the bridge above it; "" if unknown */
		unsigned int xid; /* 0: a PCIe error */
		uint64_t time_ns; /* CLOCK_MONOTONIC, of the last of a burst */
	} list[PCIE_RELATIVES];
	size_t next; /* index of the next entry, modulo the size */
};

/*
 * Records an Xid (@xid > 0) or a PCIe error (0) of @device, and writes what
 * belongs to it as a member: "xids" for a PCIe error, "pcie_errors" for an Xid,
 * nothing if there is none. Each element has the device and how many seconds
 * before this one it was.
 */
void pcie_relatives_add(struct pcie_relatives *r, const char *device, unsigned int xid,
			uint64_t time_ns, struct json *j);

#endif
