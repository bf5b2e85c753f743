/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The PCIe links of GPUs, as sysfs shows them. Neither the driver nor, where a device sleeps, the
 * device is asked: see Documentation/ABI/testing/sysfs-bus-pci and sysfs-bus-pci-devices-aer of Linux.
 */
#ifndef XIDSCOPE_PCIE_FACTS_H
#define XIDSCOPE_PCIE_FACTS_H

#include <stddef.h>

#include "health/node_facts.h"

/* Counts the PCI devices below @root that have the driver: it has no others than GPUs. If @links,
 * also reads their links; those beyond MAX_LINK_FACTS are left out. */
void pcie_facts_read(struct node_facts *facts, const char *root, bool links);

/*
 * Sets how many errors of each link were corrected in an hour: the present one or the one before.
 * What was counted when an hour began is kept in @file, which is replaced once an hour and when
 * it lacks a GPU; without it nothing is known. @now: seconds since the boot.
 */
void pcie_facts_count(struct node_facts *facts, const char *file, double now);

#endif
