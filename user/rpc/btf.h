/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source btf: BPF programs that know sunrpc's types (bpf/rpc.bpf.c).
 */
#ifndef XIDSCOPE_BTF_H
#define XIDSCOPE_BTF_H

#include <stdbool.h>

#include "base/log.h"
#include "model/snapshot.h"

struct rpc_typed;

/* Loads the programs and attaches them; sunrpc must be there. What goes wrong
 * is said in the log, @log, which must outlive it. NULL with errno set if calls
 * would not be recorded, or, unless @without_waits is allowed, if it would not be
 * known what they wait for: source tracepoints tells that. */
struct rpc_typed *rpc_typed_new(const struct log *log, bool without_waits);
void rpc_typed_free(struct rpc_typed *h);

/* Adds what the maps hold, and the hooks' own state, to @s. Returns 0 or
 * -errno. */
int rpc_typed_snapshot(struct rpc_typed *h, struct snapshot *s);

/* Adds the hooks to @s as such that are not in place. */
void rpc_typed_absent(struct snapshot *s);

/* The tracepoints of sunrpc that are hooked, by number from 0; NULL: no more. */
const char *rpc_typed_tracepoint(size_t number);

#endif
