/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks that hang in the NFS client, in uninterruptible or killable sleep for more than a minute, or in the GPU driver; and tasks
 * that wait for a file's lock. */
#pragma once

#include "base/log.h"
#include "base/span.h"
#include "kernel/bpf_support.h"
#include "snapshot/snapshot.h"

/* The time between two looks is STUCK_APART times as long as a look takes, within STUCK_LEAST_APART_NS and STUCK_APART_NS. A task
 * that has slept for 15 s at one look is looked at again when it has slept for a minute. Others are found at the next look, at
 * most two minutes after they fell asleep. With 20,000 tasks a look takes 12 ms (reading proc would take some 180 ms). */
#define STUCK_APART 15000
#define STUCK_APART_NS 105000000000ull
#define STUCK_LEAST_APART_NS 30000000000ull
/* The time between two looks while the kernel counts no task in such sleep. */
#define STUCK_AWAKE_APART_NS 1800000000000ull
/* The same factor for looks for tasks that wait for a file's lock. */
#define LOCK_APART 100

struct stuck_task {
	int pid; /* the thread's */
	int process;
	uint64_t began; /* ns since the boot */
	uint64_t switches; /* how often it has left a CPU; unchanged: it has slept all the time */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint64_t device; /* of the file in its system call, as in struct nfs_mount; 0: not known */
	bool client; /* it is in the NFS client */
	bool waits_for_call; /* it waits for a call of its own */
	bool waits_for_lockd; /* that call is lockd's */
	bool waits_for_lock; /* for the inode lock of a file that it reads or writes */
	bool waits_for_gssd; /* for credentials */
	bool told; /* the handler was called before */
	char function[64]; /* the innermost of the NFS client, else the GPU driver, else all */
	char module[24]; /* the GPU driver's, of that function */
};

/* Called for a task that is newly stuck; in the GPU driver, at each look. @stack: a line for each function, innermost first. */
typedef void stuck_task_handler(void *context, const struct stuck_task *task, struct span stack,
				const char *mountpoint, enum stuck_cause cause);

/* Initialise with {}. */
struct stuck_tasks {
	stuck_task_handler *handle; /* NULL: tasks are not reported */
	void *context;
	struct stuck_tasks_bpf *bpf; /* NULL: not loaded */
	struct bpf_memory memory; /* of its maps and programs */
	bool failed; /* the kernel refuses it: not tried again */
	uint64_t due_ns; /* when the next look is due */
	uint64_t looked_ns; /* when the last look was */
	uint64_t watched_ns; /* when the last snapshot was */
	bool sleepers; /* some tasks may have been asleep at the last snapshot */
	struct stuck_task *tasks, *before; /* of the last look, and of the one before it */
	size_t count, before_count;
	uint64_t no_room; /* tasks in the NFS client that were left out, in all looks */
	bool told_no_room;
	struct stuck_server *servers; /* whether each has had calls outstanding */
	size_t server_count;
};

void stuck_tasks_free(struct stuck_tasks *t);

/* Looks for stuck tasks if a look is due, and NFS or the GPU @driver is in use. Adds those in NFS to @s, which must have its mounts,
 * servers and transports already. Calls @handle. */
void stuck_tasks_add(struct stuck_tasks *t, const struct log *log, struct snapshot *s, bool driver,
		     stuck_task_handler *handle, void *context);

/* Adds to the mounts in @s how many tasks wait for a file's lock, and to the servers how many wait for credentials. Do not use
 * it together with stuck_tasks_add(), which adds those that have waited for credentials for STUCK_LOOK_NS. */
void lock_waiters_add(struct stuck_tasks *t, const struct log *log, struct snapshot *s);

/* ---- its parts, for tests ---- */

/* Begins a look. Then its text is read in parts, as bpf/stuck_tasks.bpf.c writes it: of tasks in the NFS client at most
 * STUCK_TASKS_MAX are kept. */
void stuck_tasks_begin(struct stuck_tasks *t);
void stuck_tasks_take(struct stuck_tasks *t, const struct snapshot *s, struct span text);

/* Notes which servers have calls outstanding. */
void stuck_tasks_watch(struct stuck_tasks *t, const struct snapshot *s);

void stuck_tasks_count(const struct stuck_tasks *t, struct snapshot *s);

/* Adds to @s how many were left out, and warns of the first. */
void stuck_tasks_drop(struct stuck_tasks *t, const struct log *log, struct snapshot *s);
