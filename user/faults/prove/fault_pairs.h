/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs the two reports of one fault: the kernel log's text, and that of the
 * driver's own hook, which follows at once but may be read earlier or later. A
 * report waits for the other one for a while. A text that may be anybody's has the
 * last choice, when its wait or that of the driver's report has ended: it must not
 * take the place of the driver's own text.
 */
#ifndef XIDSCOPE_FAULT_PAIRS_H
#define XIDSCOPE_FAULT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pci_address.h"

#define FAULT_PAIR_WAIT_NS (2 * 1000000000ull)
#define FAULT_PAIR_ALIKE_NS 100000000ull /* equal reports wait as one */
#define MAX_WAITING 512

struct fault_report {
	bool nvswitch;
	unsigned int code;
	char device[PCI_ADDRESS_SIZE];
	bool by_driver; /* false: by text */
	uint64_t arrived_ns; /* CLOCK_MONOTONIC, when it was read */
	bool pending; /* a text that is a fault only if the driver reports it, too ... */
	bool likely; /* ... or cannot have reported it, and the text looks like its own */
	uint64_t more; /* equal reports that wait with it: in a storm all of one
			* kind may be read before any of the other */
	/* Of the driver's report and of a pending text: */
	uint64_t time_ns; /* CLOCK_MONOTONIC, when it was made */
	char message[256]; /* the driver's message, or the text from its header on */
};

struct fault_pairs {
	struct fault_report *list; /* room for twice MAX_WAITING */
	size_t first; /* index of the oldest: all follow it */
	size_t count;
	struct fault_report taken; /* what fault_pairs_take() has removed last */
};

/* Removes the other report of the same fault if it waits; returns whether it did.
 * @doubtful: also if one of the two is a text that may be anybody's. */
bool fault_pairs_take(struct fault_pairs *p, const struct fault_report *report, bool doubtful);

/* The same without @doubtful, and makes the report wait if there was none. Returns 1 if there was one,
 * 0 if the report waits, -ENOSPC if MAX_WAITING do already, or -ENOMEM. */
int fault_pairs_add(struct fault_pairs *p, const struct fault_report *report);

/* Removes the oldest text that may be anybody's. Returns whether there was one. */
bool fault_pairs_take_doubtful(struct fault_pairs *p, struct fault_report *report);

/* Whether a text of that Xid that looks like the driver's waits for its report. */
bool fault_pairs_pending(const struct fault_pairs *p, const char *device, unsigned int code);

/* Removes the oldest report if it has waited FAULT_PAIR_WAIT_NS, or in any case if
 * @all. Returns whether one was removed. */
bool fault_pairs_expire(struct fault_pairs *p, uint64_t now_ns, bool all,
			struct fault_report *report);

void fault_pairs_free(struct fault_pairs *p);

#endif
