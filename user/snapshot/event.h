/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fault or other event as the event log reports it. */
#pragma once

#include "base/label.h"
#include "base/span.h"

#define EVENT_TEXT 1024 /* longest text in bytes */

/* The agent writes a line about itself at least this often: the log then shows when it ran. */
#define EVENT_ALIVE_SECONDS 300

enum event_kind {
#define TABLE_ROW(kind, ...) EVENT_KIND_##kind,
#include "event_kinds.inc"
#undef TABLE_ROW
	EVENT_KINDS, /* also: a line of the log that is none of these */
};

/* How a kind appears in the event log. */
extern const struct event_kind_row {
	const char *name; /* "xid", "kernel_event", ...; "" for EVENT_KINDS */
	const char *device; /* the member with the device */
	const char *number; /* what people call its code: "Xid"; NULL: it has no code */
} event_kinds[EVENT_KINDS + 1];

/* The kind of that name, or EVENT_KINDS. */
enum event_kind event_kind_find(struct span name);

/* What grades.tsv says of an event: the first row that fits. */
struct event_class {
	enum event_kind kind;
	const char *name; /* "": any other */
	const char *grade; /* "fatal", "warning", "info" or "unknown": if no severity is stated */
	const char *cause; /* what ended a job if such an event did; "": they end none */
	const char *meaning; /* explains a name that is not clear: " (...)"; "": it is */
};
const struct event_class *event_class_of(enum event_kind kind, struct span name);
const char *kernel_event_meaning(struct span name);

/* Unknown texts are "", an unknown pid is -1. */
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
	const char *authority; /* static: one of fault_authority_names; or NULL */
	bool anybodys; /* any user can cause it: events of different causers count as one burst */
	bool alone; /* never counted as part of a burst */
	bool replayed; /* from before the start of the program */
	double time; /* seconds since the epoch */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	const char *members; /* more members of its JSON object, as json_members() takes them */
	const char *text; /* the kernel's, not terminated */
	size_t text_len;
};

/* Receives an event. The event and its texts are valid during the call only. */
typedef void event_handler(void *context, const struct event *event);
