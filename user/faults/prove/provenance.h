/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a line in the kernel log was printed by who its text names. Users can
 * make the kernel print text of theirs in its own messages, anywhere in a record
 * and with newlines in it. The best proof is the printk call's origin; where that
 * is not known, what the text looks like. Pure functions.
 */
#ifndef XIDSCOPE_PROVENANCE_H
#define XIDSCOPE_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "faults/recognise/kernel_line.h"
#include "faults/prove/printk_queue.h"
#include "kernel/kmsg_record.h"

/* What is known of a text. */
struct provenance {
	const char *text; /* @len bytes, not terminated */
	size_t len;
	const struct kmsg_record *record; /* NULL: the log has lost it */
	const struct printk_pieces *pieces; /* the printk calls that are known */
	bool all_known; /* any other part with a mark is not the driver's */
};

/* Who printed the @len bytes at @at, which must be one call. In a call of the driver
 * only the beginning of a line is its own: it prints names that users choose. */
enum printk_origin provenance_origin(const struct provenance *p, const char *at, size_t len);

/* Whether the call that printed it begins at @at. */
bool provenance_begins_call(const struct provenance *p, const char *at);

/* The next offset behind @at at which a call of the driver begins or ends; the text's end if there
 * is none. */
size_t provenance_next_call(const struct provenance *p, size_t at);

/* Whether a header at @at stands where the driver's do: at the beginning of a record
 * of the kernel, which is a continuation (KERN_CONT) if it is not the switch's. */
bool provenance_likely(const struct provenance *p, const char *at, bool nvswitch);

/* Whether a line of that text was printed by who it names. */
bool provenance_accepts(const struct provenance *p, const struct kernel_line *line);

#endif
