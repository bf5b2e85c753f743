/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The faults that an operator has acknowledged: a text of lines
 *
 *	DEVICE WHAT TIME [COMMENT]	# comment
 *
 * DEVICE is a PCI address as in sysfs, "other" for those that have folded, or * for all;
 * WHAT is an Xid, sxid:NUMBER, the kind of a driver error, or * for all; TIME is a time as
 * in time_text.h. All such faults up to the end of that second are acknowledged; by a TIME
 * in the future none is, because it was not taken from a fault by the clock as it is set.
 */
#ifndef XIDSCOPE_ACK_H
#define XIDSCOPE_ACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pci_address.h"

#define ACK_MAX_LINES 4095

struct ack {
	char device[PCI_ADDRESS_SIZE];
	char what[32]; /* as written; numbers without leading zeros */
	double time;
};

/* A list of all zeros is valid and has no entries. */
struct ack_list {
	struct ack *acks;
	size_t count;
};

/*
 * Reads @len bytes of @text, which needs no NUL and stays the caller's, into
 * *@list, which is overwritten. Returns 0, or -EINVAL or -ENOMEM with one line
 * in @error; *@list is then empty.
 */
int ack_parse(struct ack_list *list, const char *text, size_t len, char *error, size_t error_size);

/* Reads the file @path likewise. If it does not exist, the list is empty. */
int ack_load(struct ack_list *list, const char *path, char *error, size_t error_size);

void ack_free(struct ack_list *list);

/* Whether the faults @what ("79", "sxid:20034" or a kind) of @device are acknowledged;
 * the last one was at @time, and it is @now. */
bool ack_covers(const struct ack_list *list, const char *device, const char *what, double time,
		double now);

#endif
