/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fault or other event as the event log reports it. */
#pragma once

#include "base/label.h"

#define EVENT_TEXT 1024 /* longest text in bytes */

/* An agent writes a line about itself at least this often, so that the log shows when it ran. */
#define EVENT_ALIVE_SECONDS 300

/* Unknown is "" or, for the pid, -1. */
struct event {
	const char
		*kind; /* static: "xid", "sxid", "gpu_driver_error", "kernel_event", "agent", ... */
	char name[96]; /* an Xid's name in the catalogue, or what happened: "oom_kill" */
	unsigned int code; /* of an Xid or SXid; 0: none */
	char device[LABEL_SIZE];
	char uuid[48];
	char severity[16];
	char action[40];
	int pid;
	char comm[64]; /* name of that process */
	char printed_by[64]; /* name of the task in whose context the text was printed */
	const char *path; /* static: "text", "driver"; or NULL */
	bool anybodys; /* any user can cause it: it folds whoever caused it */
	bool alone; /* it is of no burst: never folded */
	bool replayed; /* from before the start of the program */
	double time; /* seconds since the epoch */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	const char *members; /* more members of its JSON object, as json_members() takes them */
	const char *text; /* the kernel's, not terminated */
	size_t text_len;
};

/* Takes an event; it and its texts are valid during the call only. */
typedef void event_handler(void *context, const struct event *event);
