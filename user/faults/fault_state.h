/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counts of faults as a text, for the state file that keeps them across
 * restarts of the program, and how far the kernel log was read: both of one
 * moment, so that nothing is lost or counted twice.
 *
 *	xidscope-state 2
 *	boot +PIECE		of the lines that 0.1.0 does not know, see below
 *	boot ID			the kernel's random/boot_id: valid until reboot, but for past
 *	next N			sequence number of the first record not yet read
 *	lost N
 *	paths BOTH TEXT DRIVER
 *	fault DEVICE CODE NVSWITCH SEVERITY ACTION COUNT INCIDENTS FIRST LAST
 *				if it has several repeats: before it such a line for each, the
 *				oldest first, with its time as LAST (of Xid 13: for each of its
 *				places, with that as COUNT), for up to MAX_REPEAT_LINES in
 *				all; older programs keep the last line
 *	event GPU_DRIVER KIND DEVICE COUNT LAST
 *	gpu GPU UUID SERIAL RATE_LIMITED
 *	unverified GPU CODE COUNT
 *	recovery GPU EVIDENCE TIME
 *	end CRC32		of all before it, in hexadecimal
 *
 * An unknown kind of line makes 0.1.0 refuse the file, but of boot lines it keeps the last one. So
 * the lines that came later stand before that one, cut into words of boot lines:
 *
 *	wall SECONDS		from the boot to the epoch, by the clock as it was set then
 *	past GPU CODE BOOT TIME	of earlier boots: a fatal incident, or if BOOT is 1 the last one of
 *				its boot; the oldest first, seconds since the epoch
 *
 * In words, '%' and every byte that is not printable ASCII is %XX; "%" is "". Times are
 * seconds since the boot (CLOCK_BOOTTIME), except where another is stated. A file of
 * version 1 has seconds since the epoch, by the clock as it was set then.
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
	bool wall_times; /* read from version 1: times are seconds since the epoch */
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
