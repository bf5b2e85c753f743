/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs the two reports of one fault: the kernel log's text, and the driver's
 * own hook, which follows it at once but reaches us on another way. A report
 * waits for its twin for a while, then stands alone.
 */
#ifndef XIDSCOPE_FAULT_PAIRS_H
#define XIDSCOPE_FAULT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pci_address.h"

#define FAULT_PAIR_WAIT_NS (2 * 1000000000ull)
#define FAULT_PAIR_ALIKE_NS 100000000ull /* reports that are alike wait as one */
#define MAX_WAITING 512

struct fault_report {
	bool nvswitch;
	unsigned int code;
	char device[PCI_ADDRESS_SIZE];
	bool by_driver; /* else by text */
	uint64_t arrived_ns; /* CLOCK_MONOTONIC, here */
	uint64_t more; /* reports like this that wait with it: in a storm all of
			* one way may come before any of the other */
	/* Of the driver's report only: */
	uint64_t time_ns; /* CLOCK_MONOTONIC, there */
	char message[256];
};

struct fault_pairs {
	struct fault_report *list; /* room for twice MAX_WAITING */
	size_t first; /* the oldest one's place: all follow it */
	size_t count;
};

/* Takes the report's twin from those that wait; returns whether there was one. */
bool fault_pairs_take(struct fault_pairs *p, const struct fault_report *report);

/* The same, or else makes the report wait. Returns 1 if there was a twin, 0 if not, -ENOSPC if as many wait as may, and
 * -ENOMEM; in the last two cases the report stands alone. */
int fault_pairs_add(struct fault_pairs *p, const struct fault_report *report);

/* Takes the oldest report out that has waited for long enough, or any if @all.
 * Returns whether there is one. */
bool fault_pairs_expire(struct fault_pairs *p, uint64_t now_ns, bool all,
			struct fault_report *report);

void fault_pairs_free(struct fault_pairs *p);

#endif
