/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sunrpc's observer: chooses the source (see choice.h), and follows the module as it
 * comes and goes. Counters go on across that.
 */
#ifndef XIDSCOPE_RPC_OBSERVER_H
#define XIDSCOPE_RPC_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "model/snapshot.h"

struct rpc_hooks;

/* Why the hooks are, or are not, in place. */
enum rpc_hooks_state {
	RPC_HOOKS_ABSENT, /* sunrpc is not loaded */
	RPC_HOOKS_UNUSED, /* it is loaded, but no other module uses it */
	RPC_HOOKS_NO_TIER, /* it is, and there is no way to watch it */
	RPC_HOOKS_FAILED, /* loading or attaching failed; said in the log */
	RPC_HOOKS_ATTACHED,
};

/* Nothing is loaded yet. Only @sources (see choice.h) will be used. @log must outlive
 * it. NULL: no memory. */
struct rpc_hooks *rpc_hooks_new(const struct log *log, unsigned int sources);
void rpc_hooks_free(struct rpc_hooks *h);

/*
 * Looks whether sunrpc has come or goes, and attaches in the best source that can
 * be had, or detaches. Cheap when nothing has changed: call it several times a
 * second. Says in the log what happened, once per change. Returns whether there
 * was one.
 */
bool rpc_hooks_poll(struct rpc_hooks *h);

/* The error number that made loading fail, positive, or 0. */
int rpc_hooks_error(const struct rpc_hooks *h);

/* Why sunrpc is not observed, static; NULL: it is. */
const char *rpc_hooks_missing(const struct rpc_hooks *h);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or
 * -errno. */
int rpc_hooks_snapshot(struct rpc_hooks *h, struct snapshot *s);

#endif
