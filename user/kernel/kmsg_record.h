/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads one record of /dev/kmsg. A pure function: no allocation, no state, no I/O. */
#pragma once

#include "base/std.h"

struct kmsg_record {
	unsigned int facility; /* 0: the kernel; others: a process wrote it */
	uint64_t sequence; /* grows by one with each record */
	uint64_t time_us; /* since boot, by the kernel's printk clock */
	bool continued; /* flag 'c' or '+': a fragment of a line */
	bool cut; /* the text was longer than the caller's buffer */
	size_t text_len; /* bytes in the caller's buffer */
	/* The device that the kernel printed it for, "+pci:0000:c1:00.0" or a
	 * number, "n2"; "": for none. No text that it prints can change this. */
	char device[48];
};

/* @record holds the @len bytes of one read() of /dev/kmsg: a header, ';', the text, a newline, and perhaps lines of
 * device properties, of which DEVICE is read. Fields of the header after the fourth are skipped.
 *
 * True: *@out is filled, and @text holds the first out->text_len bytes (at most @size) of the text. The kernel's
 * escapes (\xNN) are undone, so it may hold any byte; no NUL follows. Other backslashes are kept. False: the header
 * is malformed; *@out is zero. */
bool kmsg_record_parse(const char *record, size_t len, struct kmsg_record *out, char *text,
		       size_t size);
