/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Observes sunrpc: attaches the best source (see choice.h) when the module is loaded, and ends it when it is to be
 * unloaded. The counts of each source begin at 0. */
#pragma once

#include "base/log.h"
#include "owners/mount_calls.h"
#include "snapshot/snapshot.h"

struct rpc_observer;

struct rpc_options {
	unsigned int sources; /* those that may be used, see choice.h */
	const char *types_file; /* with the types of sunrpc, if the kernel lacks them; NULL: none */
	uint64_t slower_ns; /* report each call that takes at least this long; 0: none */
	unsigned int files; /* count calls by file, and show so many by each measure; 0: none */
	unsigned int max_owners; /* number of owners whose calls are counted; 0: none */
	bool owner_mounts; /* count the calls of each owner on each mount */
	const char *owner_env; /* variables that name owners, see owner_name(); NULL: none */
};

/* Loads nothing yet. @options is copied; @log and its file must outlive the observer. NULL: no memory. */
struct rpc_observer *rpc_observer_new(const struct log *log, const struct rpc_options *options);
void rpc_observer_free(struct rpc_observer *o);

/* Checks whether sunrpc was loaded or is to be unloaded, and attaches the best available source, or ends it. Cheap when
 * nothing has changed: call it several times a second, and at least every 20 seconds. Logs each change once. Returns
 * whether something changed.
 *
 * Without a source, or with one that is not the best, it looks every 20 seconds whether another try is worth it: when
 * tracefs or the file of types has changed, or modules have come or gone (@changed); otherwise 20, 40, 80, ... seconds
 * after the last try, up to an hour. */
bool rpc_observer_poll(struct rpc_observer *o, bool changed);

/* The error number that made loading fail, positive, or 0. */
int rpc_observer_error(const struct rpc_observer *o);

/* Why sunrpc is not observed, static; NULL: it is. */
const char *rpc_observer_missing(const struct rpc_observer *o);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or -errno. */
int rpc_observer_snapshot(struct rpc_observer *o, struct snapshot *s);

/* ---- the ways to observe sunrpc ----
 *
 * Each is behind the same operations. A new source needs its operations here, a row of the
 * table in rpc_observer.c, and checks in source_checks.tsv of what it requires of the kernel. */

struct source_setup {
	const struct log *log; /* must outlive the source */
	const char *root; /* before the paths of proc and sysfs: "", or a folder of a test, which
			   * must outlive the source */
	const char *tracefs; /* where tracefs is mounted */
	const char *types_file; /* with the types of the loaded sunrpc; NULL: the kernel has them */
	const struct rpc_options *options; /* must outlive the source; some are for btf only */
	bool owners; /* count the calls of each owner as well, if the source can */
	bool accept_no_waits; /* accept it even if it cannot observe waits */
};

struct source_ops {
	/* Loads what the source needs in the kernel, and begins to count. Returns its state; or NULL with errno
	 * set, after logging the reason unless memory is short. */
	void *(*try)(const struct source_setup *setup);
	/* Adds to @s what was counted and the state of the hooks, to @s->unknown the facts that
	 * cannot be observed, and to @clients the calls of each. Returns 0 or -errno. */
	int (*read)(void *state, struct snapshot *s, struct client_list *clients);
	/* Ends the observation and frees @state. */
	void (*detach)(void *state);
};

extern const struct source_ops btf_source; /* BPF programs that read sunrpc's types */
extern const struct source_ops tracepoints_source; /* BPF programs on trace events */
extern const struct source_ops mountstats_source; /* the kernel's own statistics, polled */

/* Adds the hooks of the source btf to @s as missing. */
void btf_hooks_missing(struct snapshot *s);
