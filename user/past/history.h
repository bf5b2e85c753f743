/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the lines of an event log, in their order, say of the past: what happened, and when nothing was watching. Pure
 * functions.
 *
 * Texts are spans between the quotes of the log's JSON: any bytes, with escapes. */
#pragma once

#include "base/span.h"
#include "snapshot/event.h"

/* A clock that differs by less between two lines of a boot was not set. */
#define HISTORY_STEP_SECONDS 1.0

enum past_state { PAST_MOMENT, PAST_BEGIN, PAST_END };

/* A line of the log, or what several lines are about. A text that it lacks is empty. */
struct past_event {
	enum event_kind kind;
	struct span kind_name, name, device, severity, comm, text;
	struct span job, pod, cgroup; /* of the process that it names */
	struct span owner; /* of NFS calls, see owner_name() */
	struct span held_by; /* JSON, an array: who held the GPU */
	struct span boot, version; /* of an agent that starts */
	unsigned int code; /* 0: none */
	int pid; /* -1: none */
	double time; /* seconds since the epoch; see history_digest() */
	double written; /* the same of the line: later, for what has begun before */
	double end; /* of what lasts, else @time; INFINITY: it lasts still */
	double monotonic; /* seconds: CLOCK_MONOTONIC of its boot; NAN: not known */
	double start; /* the same of its begin; NAN: it has none */
	double seconds; /* that it took; NAN: not said */
	double bytes; /* that it moved; NAN: not said */
	uint64_t count; /* events that it stands for */
	uint64_t followers; /* of a root: reports of other GPUs, see join_links() */
	uint64_t incident; /* 0: not known */
	enum past_state state;
	const char *standing; /* static: of a fault, whether it is open now; NULL: not known */
	bool replayed;
	bool holders_unsure; /* @held_by may lack some */
	bool cut; /* it lasted until nothing was watching: the end is not known */
	bool hidden; /* it repeats another event, or is a part of it */
	unsigned int boot_number, run; /* in the log, from 0 on */
};

/* Nothing was watching. */
struct past_gap {
	double from, to; /* seconds since the epoch; -INFINITY, INFINITY: the log does not tell */
	const char *reason; /* static */
};

/* Initialise with {}. */
struct history {
	struct past_event *events;
	size_t count;
	struct past_gap *gaps;
	size_t gap_count;
	uint64_t skipped; /* lines that are no events */
};

/* The running system, for the events of its boot. */
struct history_now {
	double wall; /* seconds since the epoch */
	double monotonic; /* seconds, CLOCK_MONOTONIC */
	const char *boot; /* its ID; "": not known */
};

/* Adds a line, all zeros but what is known, after those before it. Returns 0 or -ENOMEM. */
int history_add(struct history *h, const struct past_event *event);

/* Makes one event of the lines about one thing, finds the gaps, and sorts by time. Within a boot all times are made
 * those of one clock, as it was set last: that of @now, if it is the running boot. An event of the kind "clock" tells
 * that it was set. Returns 0 or -ENOMEM. */
int history_digest(struct history *h, const struct history_now *now);

void history_free(struct history *h);

/* ---- event_reader.c: reads event logs back, also torn ones, foreign lines, and those of other releases ---- */

#define EVENT_FILE_MAX (64u << 20) /* bytes of one file, unpacked; what is older is not read */
#define EVENT_FILES 16 /* FILE, FILE.1, FILE.2.gz and so on */

/* Adds the lines of @text, which the history refers to. What is no event is counted in
 * h->skipped, empty lines are not. Returns 0 or -ENOMEM. */
int event_reader_add(struct history *h, const char *text, size_t len);

/* The files of a log, the newest first. Initialise with {}. */
struct event_files {
	struct event_file {
		char path[4096];
		char *text; /* owned */
		size_t len;
	} files[EVENT_FILES];
	size_t count;
};

/* Reads @path and what was renamed to @path.1, @path.2 and so on, or packed by gzip as @path.2.gz; "-": standard
 * input. Returns 0 if there is any of them, or -errno, with the path that could not be read in @wrong: without all of
 * them the past would be another. */
int event_files_read(struct event_files *f, const char *path, char *wrong, size_t size);
void event_files_free(struct event_files *f);

/* ---- history_cause.c: what may have ended a job ---- */

enum past_cause {
	CAUSE_NONE,
	CAUSE_XID,
	CAUSE_PCIE,
	CAUSE_OOM,
	CAUSE_NFS,
	CAUSE_DRIVER,
	CAUSES,
};

extern const char *const past_cause_names[CAUSES];

/* "fatal", "warning", "info" or "unknown": the severity, or what the kind has by itself. */
const char *past_grade(const struct past_event *e);

/* Whether any of it is in the window. */
bool past_in_window(const struct past_event *e, double since, double until);

/* The gravest event of the window that may be the cause why Slurm's job @job failed, and its kind. Of several: one
 * that names the job, then the earliest. Those that name another job or another control group do not count, nor do
 * those of grade info. NULL: none. */
const struct past_event *history_cause(const struct history *h, const char *job, double since,
				       double until, enum past_cause *cause);

struct past_owner {
	const char *what; /* "job", "pod" or "cgroup" */
	struct span name;
};

/* The jobs, pods and control groups that the event names. Returns how many; free *@owners. Without memory some. */
size_t past_owners(const struct past_event *e, struct past_owner **owners);
