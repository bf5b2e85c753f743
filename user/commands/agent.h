/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the agent (`run`): its events, the limits of calls, and its messages to the service manager. */
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"
#include "base/output_file.h"
#include "commands/observer.h"
#include "commands/options.h"
#include "faults/fault_observer.h"
#include "health/health.h"
#include "limits/episodes.h"
#include "limits/headline.h"
#include "limits/nfs_watch.h"
#include "nfs/stuck_tasks.h"
#include "sinks/event_log.h"

/* ---- agent_events.c: lines of the event log about the agent and about NFS. `why` reads them ---- */

/* Initialise with { .log, .messages, .faults }; free .nfs. */
struct agent_events {
	struct event_log *log;
	const struct log *messages; /* where stalls are logged as well; NULL: nowhere */
	struct fault_observer *faults; /* NULL: none */
	struct nfs_watch nfs;
	uint64_t alive_ns; /* CLOCK_MONOTONIC of the last line about the agent */
};

/* Writes the line @name, "start" or "stop"; or "alive", when it is due. */
void agent_events_say(struct agent_events *a, const char *name);
void agent_events_alive(struct agent_events *a, uint64_t now_ns);

/* Writes a stall, errors or a saturated limit that begin or end: for nfs_watch_add(), with a struct agent_events. */
void agent_events_span(void *context, const struct nfs_span *span);

/* Writes that a task hangs in NFS, or adds that one hangs in the GPU driver: a stuck_task_handler, whose context is a struct agent_events. */
void agent_events_stuck(void *context, const struct stuck_task *task, struct span stack,
			const char *mountpoint, enum stuck_cause cause);

/* ---- also in agent_events.c: the limit of each server between two snapshots, and checkpoint episodes ---- */

/* Initialise with {}. */
struct agent_limits {
	struct calls counts; /* only .episodes: the figures of all episodes so far */
	struct episodes episodes;
	struct limit_sums sums; /* of one interval; limit_sums_next() clears them */
	struct headline headline; /* items about servers, of the last interval; without an end */
};

/* Adds to @s, the snapshot at the end of the interval @d, each server's limit, its worst transport and the figures of the episodes.
 * @before: the calls at the begin. Writes episodes that ended to @events (NULL: nowhere). */
void agent_limits_add(struct agent_limits *a, struct snapshot *s, const struct calls *before,
		      const struct delta *d, struct event_log *events);
void agent_limits_free(struct agent_limits *a);

/* ---- notify.c: the protocol of sd_notify(3), without the library ---- */

struct notify {
	const struct log *log;
	int fd; /* for file_close(); negative: there is no service manager */
	struct sockaddr_un address;
	socklen_t address_size;
	uint64_t alive_every_ns; /* 0: no watchdog */
	uint64_t alive_due_ns;
	bool failed; /* the last message could not be sent; logged when this changes */
};

/* Reads the manager's address from the environment, and removes it from there. */
void notify_open(struct notify *n, const struct log *log);

/* Sends a message of at most 400 bytes, formatted as by printf(). A failure is logged once. */
void notify_send(struct notify *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells the watchdog that the program works, twice as often as the watchdog demands. Call it every second. */
void notify_alive(struct notify *n, uint64_t now_ns);

/* ---- agent_health.c: the rules with the site's settings, acknowledgements, the node, and the health file ---- */

struct agent_health {
	const struct options *options;
	struct health_options rules;
	struct ack_file acks;
	uint64_t acks_due_ns; /* CLOCK_MONOTONIC: when they are read again without a reason */
	int mounts; /* open mountinfo: shows whether anything has been mounted */
	struct node_watch node;
	struct output_file file;
	bool wanted; /* the file is to be written */
	bool mounted; /* something was mounted or unmounted since @remote was found out */
	bool remote; /* it is not written now: its folder may be on a server */
	int error; /* of its last write; logged when it changes */
	int written; /* the file as last written, or -1: a look at it each second needs no path */
	struct timespec time; /* of @written, as last seen */
	size_t findings; /* open ones, at the last judgement */
	const struct headline *servers; /* items about NFS servers */
	struct headline_item headline; /* at the last judgement */
};

/* Takes the health file. @servers must outlive it. Returns 0, or the exit code of a failure after a message. Call agent_health_close() in any case. */
int agent_health_open(struct agent_health *h, const struct options *o,
		      const struct headline *servers);

/* Judges the snapshot @s, adds the result to it, and writes the file. */
void agent_health_add(struct agent_health *h, struct observer *observer, struct snapshot *s);

/* Takes the servers whose calls end with errors. */
void agent_health_errors(struct agent_health *h, struct nfs_watch *w);

/* Judges again and writes the file if faults, acknowledgements or mounts changed, with the calls of @last. Call it every second. */
void agent_health_poll(struct agent_health *h, struct observer *observer, struct snapshot *last);

/* Removes the file. */
void agent_health_close(struct agent_health *h);

/* Whether @path, NULL or of @option, is on a local file system; otherwise logs an error. @lower: an overlay counts by all its layers. */
bool is_local(const struct options *o, const char *option, const char *path, bool lower);

/* Returns EXIT_USAGE after a message if @err, 0 or -errno, shows that @path of @option must not be written; otherwise 0. */
int check_refused(const struct options *o, const char *option, const char *path, int err);
