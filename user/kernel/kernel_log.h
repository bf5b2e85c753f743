/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel log from /dev/kmsg: record by record, with sequence numbers that show what was overwritten before it was
 * read. */
#pragma once

#include "kernel/kmsg_record.h"

/* A record's text has at most 1 KiB (kernel: PRINTKRB_RECORD_MAX); the whole record,
 * escaped and with properties, at most 8 KiB. */
#define KERNEL_LOG_TEXT 2048
#define KERNEL_LOG_RECORD 8192

struct kernel_log {
	int fd; /* -1: not open */
	uint64_t next; /* sequence number of the first record not yet read */
	bool begun; /* @next is known */
	uint64_t lost; /* records that were overwritten before they were read */
	struct kmsg_record record;
	char text[KERNEL_LOG_TEXT];
	char raw[KERNEL_LOG_RECORD];
};

/* Where reading begins. */
enum kernel_log_start {
	KERNEL_LOG_ALL, /* all that the log holds */
	KERNEL_LOG_NEW, /* only records from now on */
};

/* Returns 0 or -errno. */
int kernel_log_open(struct kernel_log *l, enum kernel_log_start start);
void kernel_log_close(struct kernel_log *l);

/* Continues after an earlier run, which read all records before @next. Call it
 * after kernel_log_open() with KERNEL_LOG_ALL. */
void kernel_log_resume(struct kernel_log *l, uint64_t next);

/* Reads the next record into l->record and l->text. Returns 1, 0 if none waits, or -errno. */
int kernel_log_read(struct kernel_log *l);

/* A moment: tells older records from later ones by their sequence numbers, since the clock of
 * the log is another than CLOCK_MONOTONIC. */
struct kernel_log_mark {
	int fd; /* -1: no record later than the mark is awaited */
	uint64_t next; /* if it is not: the first record after the mark; 0: there is no mark */
};

/* Sets the mark, in place of an earlier one. Without the log there is none. */
void kernel_log_mark(struct kernel_log_mark *m);
void kernel_log_mark_free(struct kernel_log_mark *m);

/* The sequence number of the first record after the mark; UINT64_MAX while there is none; 0: there is no mark. */
uint64_t kernel_log_after(struct kernel_log_mark *m);
