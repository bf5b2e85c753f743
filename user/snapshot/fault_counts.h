/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GPU faults and other events of the kernel, counted up to one moment. Times are seconds since the epoch. */
#pragma once

#include "base/pci_address.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "snapshot/fields.h"

#define FAULT_CAUSES 8
#define FAULT_REPEATS 8
#define FAULT_RECENT_SECONDS 86400.0 /* the time in which incidents count as repeats */

/* Times of the last incidents, the latest first. Incidents that belong to a longer failure are not among them. */
struct fault_repeats {
	double times[FAULT_REPEATS];
	unsigned int count;
};

/* Evidence that clears only the Xid 154 itself, because its action was not a reset. */
#define RECOVERY_WITHDRAWN "action_withdrawn"

#include "snapshot/fault_counts_fields.h"

/* Who says that a fault happened: the kernel log, the driver's tracepoint, or the hook on printk. */
enum fault_authority_kind { AUTHORITY_LOG, AUTHORITY_DRIVER, AUTHORITY_HOOK, AUTHORITIES };

extern const char *const fault_authority_names[AUTHORITIES];

struct fault_counts {
	struct fault *faults;
	size_t fault_count;
	struct kernel_event *kernel_events;
	size_t kernel_event_count;
	struct gpu_info *gpus;
	size_t gpu_count;
	struct unverified_xid *unverified;
	size_t unverified_count;
	struct gpu_recovery *recoveries;
	size_t recovery_count;
	bool gpu_watched; /* GPU hooks are attached: the next two are known */
	enum fault_authority_kind authority; /* in force; not recorded */
	uint64_t log_lost; /* kernel log records overwritten before they were read; not recorded */
};

/* Find the entry with these labels, or add one of zeros. The pointer is valid until the next call for the same array. Without
 * memory it is one that nobody reads: see table_append(). The labels of a fault are all members of @like except counts and times. */
static inline struct fault *snapshot_fault(struct fault_counts *counts, const struct fault *like)
{
	return table_get_like(TABLE_FAULTS, counts, like);
}

ENTRIES(kernel_event, snapshot_kernel_event, TABLE_KERNEL_EVENTS,
	(struct fault_counts * c, bool gpu_driver, const char *kind, const char *device),
	&gpu_driver, kind, device)
ENTRIES(gpu_info, snapshot_gpu, TABLE_GPUS, (struct fault_counts * c, const char *gpu), gpu)
ENTRIES(unverified_xid, snapshot_unverified, TABLE_UNVERIFIED,
	(struct fault_counts * c, const char *gpu, unsigned int code), gpu, &code)
ENTRIES(gpu_recovery, snapshot_recovery, TABLE_RECOVERIES,
	(struct fault_counts * c, const char *gpu, const char *evidence), gpu, evidence)

/* The time of the last evidence that the faults of @gpu are over; 0: none. @withdrawn: RECOVERY_WITHDRAWN also counts. */
double fault_last_recovery(const struct fault_counts *counts, const char *gpu, bool withdrawn);

/* A CPU without a report for this long runs again. */
#define STALL_SECONDS 300
/* Whether it reports a CPU that is stuck. */
bool kernel_event_is_stall(const char *kind);

/* Modules of the GPU driver. The first ones print its faults; those behind the first two cannot be loaded without nvidia. */
enum { GPU_MODULES_PRINT = 6, GPU_MODULES = 9 };
extern const char *const gpu_modules[GPU_MODULES];
bool is_gpu_module(struct span name);

/* Whether it is of NFS or of the GPU driver: a task that dies or spins there holds what others wait for. */
bool fault_module_is_watched(const char *module);

void fault_counts_free(struct fault_counts *counts);

/* Whether a fault needs action. All commands use these words. */
enum fault_standing {
	STANDING_OPEN, /* a rule finds it: it needs action */
	STANDING_SNOOZED, /* open again at the end of a snooze */
	STANDING_ACKNOWLEDGED,
	STANDING_HARMLESS, /* no rule finds it: it is the application's, or follows from another fault */
	STANDING_OVER, /* a recovery or the time has ended it */
	STANDINGS,
};

extern const char *const fault_standing_names[STANDINGS];

/* All Xids, SXids or driver errors of one code or kind on one device. The texts belong to the snapshot or are static; "": none. */
struct known_fault {
	enum fault_standing standing;
	unsigned int level; /* of the gravest rule that finds it, 1: warn, 2: fail; 0: none does */
	const char *kind; /* "xid", "sxid", "gpu_driver_error" */
	char what[48]; /* "79", "sxid:20034" or a kind, as in acknowledgements */
	const char *device, *severity, *action, *meaning, *advice;
	uint64_t count;
	double first, last; /* seconds since the epoch; 0: not known */
};

/* "Xid 79", "SXid 20034", or the kind of a driver error: see struct known_fault. Returns @text, of FAULT_NAME_SIZE bytes. */
#define FAULT_NAME_SIZE 56
const char *known_fault_name(char *text, const char *kind, const char *what);
#define FAULT_NAME(kind, what) known_fault_name((char[FAULT_NAME_SIZE]){ 0 }, kind, what)

/* "Xid 79 on GPU 0000:c1:00.0: open, fatal, 2 reports, last 2026-11-21 10:00:00 +0100: MEANING. ADVICE", not escaped. Returns
 * @text, of KNOWN_FAULT_TEXT bytes. */
#define KNOWN_FAULT_TEXT 1024
const char *known_fault_text(char *text, const struct known_fault *f);

/* Writes the array of them: in the health file and in a session's JSON. */
struct json;
void known_faults_write(struct json *j, const struct known_fault *list, size_t count);

/* One fault or other event as the event log reports it. */

#define EVENT_TEXT 1024 /* longest text in bytes */

/* The agent writes a line about itself at least this often: the log then shows when it ran. */
#define EVENT_ALIVE_SECONDS 300

enum event_kind {
#define TABLE_ROW(kind, ...) EVENT_KIND_##kind,
#include "event_kinds.inc"
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
