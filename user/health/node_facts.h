/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is true of a node now, beside what the agent has counted.
 */
#ifndef XIDSCOPE_NODE_FACTS_H
#define XIDSCOPE_NODE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/label.h"
#include "base/pci_address.h"

enum mount_state {
	MOUNT_FINE, /* or nothing is known against it */
	MOUNT_ABSENT,
	MOUNT_READ_ONLY, /* and was not meant to be */
	MOUNT_STALE, /* the server does not know it any more */
	MOUNT_HUNG, /* the server has not answered */
};

struct mount_fact {
	char path[LABEL_SIZE];
	bool read_only; /* it is meant to be */
	enum mount_state state;
};

#define MAX_MOUNT_FACTS 32

/* The PCIe link of a GPU. */
struct link_fact {
	char gpu[PCI_ADDRESS_SIZE];
	unsigned int lanes, lanes_possible; /* of both ends; 0: not known */
	uint64_t corrected; /* errors at both ends since the boot */
	uint64_t corrected_in_hour; /* see pcie_facts_count() */
};

#define MAX_LINK_FACTS 32

struct node_facts {
	struct mount_fact mounts[MAX_MOUNT_FACTS];
	size_t mount_count;
	size_t mounts_left_out; /* there was no room for them */
	unsigned int gpus_wanted; /* 0: any number */
	unsigned int gpus; /* that have the driver */
	struct link_fact links[MAX_LINK_FACTS];
	size_t link_count;
	bool clock_unsynchronised;
};

#endif
