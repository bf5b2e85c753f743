/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds the counters of snapshots' entries together, and subtracts them.
 */
#ifndef XIDSCOPE_MERGE_H
#define XIDSCOPE_MERGE_H

#include "snapshot/snapshot.h"

/* Adds counters and current figures; of a maximum the larger stays. The labels are
 * those of *@to. A transport's addresses are lost. */
void rpc_op_add(struct rpc_op *to, const struct rpc_op *from);
void rpc_error_add(struct rpc_error *to, const struct rpc_error *from);
void rpc_transport_add(struct rpc_transport_state *to, const struct rpc_transport_state *from);
void rpc_server_add(struct rpc_server_state *to, const struct rpc_server_state *from);

/*
 * Adds to @s the counters of calls of @past, so that counting continues where @past
 * ended. Figures that describe a moment are left out, and must not be in @s yet.
 * Returns 0 or -ENOMEM.
 */
int snapshot_add_calls(struct snapshot *s, const struct snapshot *past);

/*
 * Subtracts @first, an earlier snapshot of the same observation, from the ops, the
 * transports' replies and times and the numbers of faults of @s: what did not happen since
 * is 0.
 * Returns 0 or -ENOMEM.
 */
int snapshot_subtract(struct snapshot *s, const struct snapshot *first);

#endif
