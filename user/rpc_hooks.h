/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sunrpc's hooks: loads bpf/rpc.bpf.c and attaches it once sunrpc is there.
 */
#ifndef XIDSCOPE_RPC_HOOKS_H
#define XIDSCOPE_RPC_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "snapshot.h"

struct rpc_hooks;

/* Why the hooks are, or are not, in place. */
enum rpc_hooks_state {
	RPC_HOOKS_ABSENT, /* sunrpc is not loaded */
	RPC_HOOKS_NO_BTF, /* sunrpc is loaded, and its types are not known */
	RPC_HOOKS_FAILED, /* loading or attaching failed; said in the log */
	RPC_HOOKS_ATTACHED,
};

/* Nothing is loaded yet. Only @tiers (see tier.h) will be used. @log must outlive
 * it. NULL: no memory. */
struct rpc_hooks *rpc_hooks_new(const struct log *log, unsigned int tiers);
void rpc_hooks_free(struct rpc_hooks *h);

/*
 * Looks whether sunrpc has come, and attaches what can be attached. Cheap when nothing has changed: call it
 * several times a second until rpc_hooks_settled(). Says in the log what
 * happened, once per change.
 */
enum rpc_hooks_state rpc_hooks_poll(struct rpc_hooks *h);

/* The tracepoints of sunrpc that are hooked, by number from 0; NULL: no more. */
const char *rpc_hooks_tracepoint(size_t number);

/* Whether further polling can change nothing. */
bool rpc_hooks_settled(const struct rpc_hooks *h);

/* The error number that made loading fail, positive, or 0. */
int rpc_hooks_error(const struct rpc_hooks *h);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or
 * -errno. */
int rpc_hooks_snapshot(struct rpc_hooks *h, struct snapshot *s);

#endif
