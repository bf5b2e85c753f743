/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The past according to the lines of an event log: what happened, and when no agent was watching. Pure functions.
 *
 * Texts are spans between the quotes of the log's JSON: any bytes, with escapes. */
#pragma once

#include "base/span.h"
#include "snapshot/fault_counts.h"

enum past_state { PAST_MOMENT, PAST_BEGIN, PAST_END };

/* A line of the log, or several lines about one thing. Missing texts are empty. */
struct past_event {
	enum event_kind kind;
	struct span kind_name, name, device, severity, comm, text;
	struct span job, pod, pod_name, cgroup; /* of the process in the line */
	struct span owner; /* of NFS calls, see owner_name() */
	struct span held_by; /* JSON, an array: who held the GPU */
	struct span boot, version; /* only in an agent's line of its start */
	unsigned int code; /* 0: none */
	int pid; /* -1: none */
	double time; /* seconds since the epoch; see history_digest() */
	double written; /* when the line was written: later than @time if the event had begun before */
	double end; /* equal to @time unless it lasts; INFINITY: it still lasts */
	double monotonic; /* seconds: CLOCK_MONOTONIC of its boot; NAN: not known */
	double start; /* its begin on the same clock; NAN: it has none */
	double seconds; /* duration; NAN: not stated */
	double least; /* it may have been so short; 0: not stated */
	double bytes; /* moved; NAN: not stated */
	uint64_t count; /* events that it stands for */
	uint64_t followers; /* reports of other GPUs that it caused, see join_links() */
	uint64_t incident; /* 0: not known */
	enum past_state state;
	const char *standing; /* set by the caller: a fault is now "open", ...; NULL: not known */
	bool replayed;
	bool holders_unsure; /* @held_by may be incomplete */
	bool cut; /* it lasted until no agent was watching: its end is not known */
	bool hidden; /* a repetition or a part of another event */
	unsigned int boot_number, run; /* in the log, from 0 on */
};

/* A time in which no agent was watching. */
struct past_gap {
	double from, to; /* seconds since the epoch; -INFINITY, INFINITY: the log does not say */
	const char *reason; /* static */
};

/* Initialise with {}. */
struct history {
	struct past_event *events;
	size_t count;
	struct past_gap *gaps;
	size_t gap_count;
	uint64_t skipped; /* lines that are not events */
};

/* The clocks of the running system, for the events of its boot. */
struct history_now {
	double wall; /* seconds since the epoch */
	double monotonic; /* seconds, CLOCK_MONOTONIC */
	const char *boot; /* its ID; "": not known */
};

/* Joins lines about one thing to one event, finds the gaps, and sorts by time. All times of a boot are converted to the clock
 * as it was set last; in the running boot that is the clock in @now. An event of the kind "clock" is added wherever the clock
 * was set. */
void history_digest(struct history *h, const struct history_now *now);

void history_free(struct history *h);

/* ---- event_reader.c: reads event logs, also torn ones, and with foreign lines ---- */

#define EVENT_FILE_MAX (64u << 20) /* bytes of one file, unpacked; only its newest part is read */
#define EVENT_FILES 16 /* FILE, FILE.1, FILE.2.gz and so on */

/* Adds the lines of @text, to which the history refers. Lines that are not events are counted in h->skipped, unless they are
 * empty. */
void event_reader_add(struct history *h, const char *text, size_t len);

/* The files of a log, the newest first. Initialise with {}. */
struct event_files {
	struct event_file {
		char path[4096];
		char *text; /* owned */
		size_t len;
	} files[EVENT_FILES];
	size_t count;
};

/* Reads @path and its rotated files @path.1, @path.2.gz and so on; "-": standard input. Returns 0 if at least one exists. If
 * one cannot be read, returns -errno with its path in @wrong, because an incomplete log would show another past. */
int event_files_read(struct event_files *f, const char *path, char *wrong, size_t size);
void event_files_free(struct event_files *f);

/* ---- history_cause.c: what may have ended a job ---- */

/* "fatal", "warning", "info" or "unknown": the severity in the line, otherwise that of the kind. */
const char *past_grade(const struct past_event *e);

/* Whether a part of the event lies in the window. */
bool past_in_window(const struct past_event *e, double since, double until);

/* The event in the window that may have ended the job or pod @job. *@cause: "xid", "oom_kill", ... of grades.tsv. The gravest
 * event wins; if several have the same grade, the one that names the job, then the earliest. Events that name another job or
 * another control group do not count, nor do events of grade info. NULL and "none": there is none. */
const struct past_event *history_cause(const struct history *h, const char *job, double since,
				       double until, const char **cause);

/* Whether the owner of NFS calls, such as "pod:NAMESPACE/NAME slurm:4711", is this job or pod. */
bool past_owner_is(struct span owner, const char *job);

/* Whether the event names the job or pod: as owner of NFS calls, as the process's, or as a holder of the GPU. */
bool past_is_of_job(const struct past_event *e, const char *job);

struct past_owner {
	const char *what; /* "job", "pod" or "cgroup" */
	struct span name; /* of a pod its UID if the name is not known */
};

/* Lists the jobs, pods and control groups in the event. Returns their number; free *@owners. */
size_t past_owners(const struct past_event *e, struct past_owner **owners);
