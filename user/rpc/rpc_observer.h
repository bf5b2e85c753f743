/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Observes sunrpc: chooses the source (see choice.h), attaches it when the module is loaded and detaches it when it
 * is unloaded. Counters continue after a reload. */
#pragma once

#include "base/log.h"
#include "snapshot/snapshot.h"

struct rpc_observer;

/* Whether sunrpc is observed, and why not. */
enum rpc_observer_state {
	RPC_OBSERVER_ABSENT, /* sunrpc is not loaded */
	RPC_OBSERVER_UNUSED, /* it is loaded, but no other module uses it */
	RPC_OBSERVER_NO_SOURCE, /* it is used, and no permitted source is available */
	RPC_OBSERVER_FAILED, /* loading or attaching failed; the log has the reason */
	RPC_OBSERVER_ATTACHED,
};

struct rpc_options {
	unsigned int sources; /* those that may be used, see choice.h */
	const char *types_file; /* has the types of sunrpc if the kernel has not; NULL: none */
	uint64_t slower_ns; /* report calls that take so long one by one; 0: none */
	unsigned int max_owners; /* count the calls of so many owners; 0: of none */
};

/* Loads nothing yet. @options is copied; @log and its file must outlive the observer. NULL: no memory. */
struct rpc_observer *rpc_observer_new(const struct log *log, const struct rpc_options *options);
void rpc_observer_free(struct rpc_observer *o);

/* Checks whether sunrpc was loaded or is to be unloaded, and attaches the best available source, or detaches. Cheap
 * when nothing has changed: call it several times a second, and at least every 20 seconds. Logs each change once.
 * Returns whether something changed.
 *
 * If no source could be attached, it looks every 20 seconds whether that is worth another try: when tracefs has
 * appeared or modules have come or gone (@changed), otherwise 20, 40, 80, ... seconds after the last one, up to an
 * hour. At the same times it tries a source that is better than the one in use, which it replaces at a moment when no
 * call ends: each call counts once. */
bool rpc_observer_poll(struct rpc_observer *o, bool changed);

/* The error number that made loading fail, positive, or 0. */
int rpc_observer_error(const struct rpc_observer *o);

/* Why sunrpc is not observed, static; NULL: it is. */
const char *rpc_observer_missing(const struct rpc_observer *o);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or
 * -errno. */
int rpc_observer_snapshot(struct rpc_observer *o, struct snapshot *s);
