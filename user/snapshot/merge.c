// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adds the counters of snapshots' entries together, and subtracts them. */
#include "snapshot/merge.h"

#include <errno.h>
#include <string.h>

void rpc_op_add(struct rpc_op *to, const struct rpc_op *from)
{
	time_histogram_add(&to->total, &from->total);
	for (int p = 0; p < RPC_PHASES; p++)
		time_histogram_add(&to->phase[p], &from->phase[p]);
	to->sent_bytes += from->sent_bytes;
	to->received_bytes += from->received_bytes;
}

void rpc_error_add(struct rpc_error *to, const struct rpc_error *from)
{
	to->count += from->count;
}

void rpc_transport_add(struct rpc_transport_state *to, const struct rpc_transport_state *from)
{
	to->alive |= from->alive;
	to->named_only &= from->named_only;
	to->remote = (struct endpoint){};
	to->local = (struct endpoint){};
	to->retransmits += from->retransmits;
	to->timeouts += from->timeouts;
	to->disconnects += from->disconnects;
	to->connects += from->connects;
	to->replies += from->replies;
	to->rtt_ns += from->rtt_ns;
	to->segments += from->segments;
	to->segments_lost += from->segments_lost;
	if (to->oldest_ns < from->oldest_ns)
		to->oldest_ns = from->oldest_ns;
	for (int l = 0; l < RPC_LIMITS; l++)
		to->saturated_ns[l] += from->saturated_ns[l];
	if (to->slots_max < from->slots_max)
		to->slots_max = from->slots_max;
	to->slots_allocated += from->slots_allocated;
	to->slots_in_flight += from->slots_in_flight;
}

void rpc_server_add(struct rpc_server_state *to, const struct rpc_server_state *from)
{
	for (int q = 0; q < RPC_QUEUES; q++) {
		to->depth[q].sum += from->depth[q].sum;
		for (int b = 0; b < DEPTH_BUCKETS; b++)
			to->depth[q].bucket[b] += from->depth[q].bucket[b];
		if (to->depth_max[q] < from->depth_max[q])
			to->depth_max[q] = from->depth_max[q];
		if (to->oldest_ns[q] < from->oldest_ns[q])
			to->oldest_ns[q] = from->oldest_ns[q];
	}
	to->credentials_ns += from->credentials_ns;
	if (to->session_slots < from->session_slots)
		to->session_slots = from->session_slots;
	if (!to->bound_by)
		to->bound_by = from->bound_by;
}

int snapshot_add_calls(struct snapshot *s, const struct snapshot *past)
{
	struct rpc_transport_state *transport;
	struct rpc_server_state *server;
	struct rpc_error *error;
	struct rpc_op *op;

	for (size_t i = 0; i < past->calls.op_count; i++) {
		op = snapshot_op(&s->calls, past->calls.ops[i].server, past->calls.ops[i].op);
		if (!op)
			return -ENOMEM;
		rpc_op_add(op, &past->calls.ops[i]);
	}
	for (size_t i = 0; i < past->calls.error_count; i++) {
		error = snapshot_error(&s->calls, past->calls.errors[i].server,
				       past->calls.errors[i].op, past->calls.errors[i].status);
		if (!error)
			return -ENOMEM;
		rpc_error_add(error, &past->calls.errors[i]);
	}
	for (size_t i = 0; i < past->calls.transport_count; i++) {
		if (past->calls.transports[i].named_only)
			continue;
		transport = snapshot_transport(&s->calls, past->calls.transports[i].server,
					       past->calls.transports[i].name);
		if (!transport)
			return -ENOMEM;
		rpc_transport_add(transport, &past->calls.transports[i]);
		transport->alive = false;
		transport->oldest_ns = 0;
		transport->slots_max = 0;
		transport->slots_allocated = 0;
		transport->slots_in_flight = 0;
		transport->segments = 0;
		transport->segments_lost = 0;
	}
	for (size_t i = 0; i < past->calls.server_count; i++) {
		server = snapshot_server(&s->calls, past->calls.servers[i].server);
		if (!server)
			return -ENOMEM;
		rpc_server_add(server, &past->calls.servers[i]);
		memset(server->depth_max, 0, sizeof(server->depth_max));
		memset(server->oldest_ns, 0, sizeof(server->oldest_ns));
		server->session_slots = 0;
	}
	for (size_t i = 0; i < past->self.drop_count; i++)
		snapshot_drop(&s->self, past->self.drops[i].reason, past->self.drops[i].count);
	for (size_t i = 0; i < past->self.program_count; i++)
		snapshot_program(&s->self, past->self.programs[i].name, past->self.programs[i].runs,
				 past->self.programs[i].ns);
	return 0;
}

/* A count that restarted stays as it is. */
static void subtract(uint64_t *to, uint64_t from)
{
	if (*to >= from)
		*to -= from;
}

static void subtract_op(struct rpc_op *to, const struct rpc_op *from)
{
	/* The counts restarted: they could not be read before sunrpc was unloaded. */
	if (time_histogram_count(&to->total) < time_histogram_count(&from->total))
		return;
	time_histogram_subtract(&to->total, &from->total);
	for (int p = 0; p < RPC_PHASES; p++)
		time_histogram_subtract(&to->phase[p], &from->phase[p]);
	to->sent_bytes -= from->sent_bytes;
	to->received_bytes -= from->received_bytes;
}

int snapshot_subtract(struct snapshot *s, const struct snapshot *first)
{
	struct rpc_transport_state *transport;
	struct rpc_op *op;
	struct fault *fault;

	for (size_t i = 0; i < first->calls.op_count; i++) {
		op = snapshot_op(&s->calls, first->calls.ops[i].server, first->calls.ops[i].op);
		if (!op)
			return -ENOMEM;
		subtract_op(op, &first->calls.ops[i]);
	}
	for (size_t i = 0; i < first->calls.transport_count; i++) {
		const struct rpc_transport_state *from = &first->calls.transports[i];

		transport = snapshot_transport(&s->calls, from->server, from->name);
		if (!transport)
			return -ENOMEM;
		subtract(&transport->replies, from->replies);
		subtract(&transport->rtt_ns, from->rtt_ns);
		for (int l = 0; l < RPC_LIMITS; l++)
			subtract(&transport->saturated_ns[l], from->saturated_ns[l]);
	}
	for (size_t i = 0; i < first->faults.fault_count; i++) {
		fault = snapshot_fault(&s->faults, &first->faults.faults[i]);
		if (!fault)
			return -ENOMEM;
		fault->count -= first->faults.faults[i].count;
	}
	return 0;
}
