/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is true of a node now, beside what the agent has counted.
 */
#ifndef XIDSCOPE_NODE_FACTS_H
#define XIDSCOPE_NODE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/label.h"

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

struct node_facts {
	struct mount_fact mounts[MAX_MOUNT_FACTS];
	size_t mount_count;
	unsigned int gpus_wanted; /* 0: any number */
	unsigned int gpus; /* that have the driver */
	bool clock_unsynchronised;
};

#endif
