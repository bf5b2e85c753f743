/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the kernel log from /dev/kmsg, record by record. Sequence numbers show which records were overwritten before they were
 * read. */
#pragma once

#include "base/span.h"
#include "base/std.h"

/* ---- kernel_log.c: one record. A pure function: no allocation, no state, no I/O ---- */

struct kmsg_record {
	unsigned int facility; /* 0: the kernel; otherwise a process wrote it */
	uint64_t sequence; /* grows by one with each record */
	uint64_t time_us; /* since boot, by the kernel's printk clock */
	bool continued; /* flag 'c' or '+': a fragment of a line */
	char caller[16]; /* who printed it: the task "T4711", the CPU "C12"; "": not known */
	size_t text_len; /* bytes in the caller's buffer */
	/* The device for which the kernel printed it, "+pci:0000:c1:00.0" or a number, "n2"; "": none. The text cannot change it. */
	char device[48];
};

/* @record has the @len bytes of one read() of /dev/kmsg: a header, ';', the text, a newline, and perhaps lines of device
 * properties, of which only DEVICE is read. Of the header's fields after the fourth only the caller is read.
 *
 * True: *@out is filled, and @text has the first out->text_len bytes (at most @size) of the text. The kernel's escapes (\xNN) are
 * decoded: the text may have any bytes, and no NUL follows. Other backslashes are kept. False: the header is malformed, and *@out
 * is zero. */
bool kmsg_record_parse(const char *record, size_t len, struct kmsg_record *out, char *text,
		       size_t size);

/* ---- kernel_log.c ---- */

/* The text of a record has at most 1 KiB (kernel: PRINTKRB_RECORD_MAX); there is room for twice that. The whole record,
 * escaped and with properties, has at most 8 KiB. */
#define KERNEL_LOG_TEXT 2048
#define KERNEL_LOG_RECORD 8192

/* Opens /dev/kmsg below @root. Returns a descriptor, or -1 with errno; ENODEV: another device stands at its place, as
 * /dev/null in some containers. */
int kernel_log_device(const char *root, int flags);

struct kernel_log {
	int fd; /* -1: not open */
	uint64_t next; /* number of the first record not yet read, also by an earlier run */
	bool begun; /* @next is known */
	uint64_t lost; /* records that were overwritten before they were read */
	struct kmsg_record record;
	char text[KERNEL_LOG_TEXT];
	char raw[KERNEL_LOG_RECORD];
};

/* Opens the log: @all: at the oldest record; otherwise at the next one. If @next is known, records before it are passed over.
 * Returns 0 or -errno. */
int kernel_log_open(struct kernel_log *l, bool all);
void kernel_log_close(struct kernel_log *l);

/* Reads the next record into l->record and l->text. Returns 1, 0 if none waits, or -errno. */
int kernel_log_read(struct kernel_log *l);

/* How far the clock of the log is behind CLOCK_MONOTONIC. It is not adjusted, and drifts by up to seconds a day. False, with
 * *@ns unchanged: this process may not read it. */
bool kernel_log_offset(int64_t *ns);

/* A moment in the log. Sequence numbers separate records before it from those after it, because the log's clock differs
 * from CLOCK_MONOTONIC. */
struct kernel_log_mark {
	int fd; /* -1: no record later than the mark is awaited */
	uint64_t next; /* if it is not: the first record after the mark; 0: there is no mark */
};

/* Sets the mark, in place of an earlier one. Without the log no mark is set. */
void kernel_log_mark(struct kernel_log_mark *m);
void kernel_log_mark_free(struct kernel_log_mark *m);

/* The sequence number of the first record after the mark; UINT64_MAX while there is none; 0: there is no mark. */
uint64_t kernel_log_after(struct kernel_log_mark *m);

/* ---- saved_log.c: a kernel log that was saved as text ---- */

/* The longest line: twice a record's. */
#define SAVED_LINE_BYTES 4096

/* When a line was written. */
struct saved_time {
	bool known;
	double seconds; /* since an unknown moment; a log without years is of one year */
	char text[40]; /* as it was written */
};

/* Initialise with { .in, .now }, free() .line. */
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
