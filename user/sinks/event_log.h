/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event log: a JSON object per line for each fault and each other event.
 * Repeats within a burst are folded, so that a storm does not fill a disk;
 * counters are kept elsewhere, and fold nothing.
 */
#ifndef XIDSCOPE_EVENT_LOG_H
#define XIDSCOPE_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"

#define EVENT_TEXT 1024

/* What is not known is "" or, for the pid, -1. */
struct event {
	const char *kind; /* static: "xid", "sxid", "gpu_driver_error", "kernel_event" */
	char name[96]; /* an Xid's name in the catalogue, or what happened: "oom_kill" */
	unsigned int code; /* of an Xid or SXid; 0: none */
	char device[64];
	char uuid[48];
	char severity[16];
	char action[40];
	int pid;
	char comm[64]; /* name of that process */
	char printed_by[16]; /* the task in whose context the text was printed */
	const char *path; /* static: "text", "driver"; or NULL */
	bool replayed; /* from before the start of the program */
	double time; /* seconds since the epoch */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	const char *members; /* more of the JSON object, a comma in front of each; or "" */
	const char *text; /* the kernel's, not terminated */
	size_t text_len;
};

struct event_log;

/* @path "-" is standard output; NULL makes a log that swallows everything.
 * @log must outlive it. Never fails but for memory (NULL): a file that cannot
 * be opened is said once, and tried again. */
struct event_log *event_log_new(const char *path, const struct log *log);
/* Writes what is still folded. */
void event_log_free(struct event_log *e);

/* Writes the event, or folds it into its burst. */
void event_log_add(struct event_log *e, const struct event *event);

/* Writes the repeats of bursts that are over, or of all if @all. */
void event_log_flush(struct event_log *e, uint64_t now_ns, bool all);

/* After the file was renamed, goes on in a new one. */
void event_log_reopen(struct event_log *e);

/* Lines that could not be written. */
uint64_t event_log_lost(const struct event_log *e);

#endif
