/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts of faults as a text, for the state file that keeps them across
 * restarts of the program, and how far the kernel log was read: both of one
 * moment, so that nothing is lost or counted twice.
 *
 *	xidscope-state 1
 *	boot ID			the kernel's random/boot_id: valid until reboot, but for past
 *	wall SECONDS		from the boot to the epoch, by the clock as it was set then
 *	past GPU CODE BOOT TIME	of earlier boots: a fatal incident, or if BOOT is 1 the last one of
 *				its boot; the oldest first, seconds since the epoch
 *	next N			sequence number of the first record not yet read
 *	lost N
 *	paths BOTH TEXT DRIVER
 *	fault DEVICE CODE NVSWITCH SEVERITY ACTION COUNT INCIDENTS FIRST LAST
 *	repeat TIME		of the fault before it, the oldest first, if there are several
 *	place PLACE TIME	the same of Xid 13, for each of the places of its device
 *	event GPU_DRIVER KIND DEVICE COUNT LAST
 *	gpu GPU UUID SERIAL RATE_LIMITED
 *	unverified GPU CODE COUNT
 *	recovery GPU EVIDENCE TIME
 *	end CRC32		of all before it, in hexadecimal
 *
 * There are at most MAX_REPEAT_LINES of repeats and places. In words, '%' and every byte that is
 * not printable ASCII is %XX; "%" is "". Times are seconds since the boot (CLOCK_BOOTTIME),
 * except where another is stated.
 */
#ifndef XIDSCOPE_FAULT_STATE_H
#define XIDSCOPE_FAULT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "faults/faults.h"

#define BOOT_ID_SIZE 40
#define MAX_REPEAT_LINES 2000

struct fault_state {
	char boot[BOOT_ID_SIZE];
	uint64_t next;
	double boot_to_wall; /* of the boot that wrote it; 0: not known */
	struct faults faults; /* owned */
};

/* Returns the text, which the caller frees, and its length; NULL: no memory. */
char *fault_state_write(const struct fault_state *state, size_t *len);

/* Reads @len bytes. Returns 0, -EINVAL if they are not a whole state, or
 * -ENOMEM; @state is empty unless 0 is returned. */
int fault_state_read(struct fault_state *state, const char *text, size_t len);

void fault_state_free(struct fault_state *state);

/* The ID of the running kernel's boot; "" if unknown. */
void boot_id_read(char boot[BOOT_ID_SIZE]);

#endif
