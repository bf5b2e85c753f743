/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fault or other event as the event log reports it. */
#pragma once

#include "base/label.h"
#include "base/span.h"

#define EVENT_TEXT 1024 /* longest text in bytes */

/* An agent writes a line about itself at least this often, so that the log shows when it ran. */
#define EVENT_ALIVE_SECONDS 300

enum event_kind {
	EVENT_KIND_XID,
	EVENT_KIND_SXID,
	EVENT_KIND_DRIVER_ERROR, /* a failure of the GPU driver that is no Xid */
	EVENT_KIND_KERNEL, /* another one that the kernel or a driver reported */
	EVENT_KIND_NFS_STALL,
	EVENT_KIND_NFS_SATURATION,
	EVENT_KIND_NFS_STUCK,
	EVENT_KIND_EPISODE,
	EVENT_KIND_AGENT, /* the agent itself started, runs, or stopped */
	EVENT_KIND_CLOCK, /* the clock was set: only a reader of the log makes this one */
	EVENT_KINDS, /* of a log: none of these */
};

/* How the event log has a kind. */
extern const struct event_kind_row {
	const char *name; /* "xid", "kernel_event", ...; of EVENT_KINDS "" */
	const char *device; /* the member that has the device */
	const char *number; /* what its code is to people, "Xid"; NULL: it has no code */
} event_kinds[EVENT_KINDS + 1];

/* The kind of that name, or EVENT_KINDS. */
enum event_kind event_kind_find(struct span name);

/* Unknown is "" or, for the pid, -1. */
struct event {
	enum event_kind kind;
	char name[96]; /* an Xid's name in the catalogue, or what happened: "oom_kill" */
	unsigned int code; /* of an Xid or SXid; 0: none */
	char device[LABEL_SIZE];
	char uuid[48];
	char severity[16];
	char action[40];
	int pid;
	char comm[64]; /* name of that process */
	char printed_by[64]; /* name of the task in whose context the text was printed */
	const char *path; /* static: one of fault_authority_names; or NULL */
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
