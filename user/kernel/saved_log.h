/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a kernel log that was saved as text: see saved_log.c. */
#pragma once

#include "base/span.h"

/* The longest line: twice a record's. */
#define SAVED_LINE_BYTES 4096

/* When a line was written. */
struct saved_time {
	bool known;
	double seconds; /* since an unknown moment; a log without years is of one year */
	char text[40]; /* as it was written */
};

/* Initialise with { .in, .now }. */
struct saved_log {
	FILE *in;
	double now; /* seconds since an unknown moment, of the last line */
	struct saved_time time; /* of the last line that had one */
	bool timed; /* the last line had one */
	size_t passed_over; /* lines of others, or not known to be the kernel's */
	size_t odd; /* lines with an unknown prefix that quote the driver */

	bool fields; /* it has a line for each field of an entry, and is not read */
	bool newest_first; /* most lines were written before the one above, as in journalctl -r */

	/* Its own: */
	long falls; /* how many more times fall than rise */
	size_t of_others; /* 0: the kernel wrote the last line; otherwise, one more than the blanks before it */
	enum { NO_OBJECT, OBJECT_BEGINS, IN_OBJECT } object;
	struct saved_entry {
		enum { BY_UNKNOWN, BY_KERNEL, BY_OTHER } writer;
		struct saved_time time;
		char text[SAVED_LINE_BYTES];
	} entry; /* of JSON, or of /dev/kmsg */
	char *line;
	size_t size;
};

/* The kernel's text of the next line that has one, without what stands before it. NULL: there are no more. Valid until the next call. */
const char *saved_log_next(struct saved_log *l);

void saved_log_free(struct saved_log *l);
