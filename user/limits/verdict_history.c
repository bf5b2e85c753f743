// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a verdict's history keeps of each server. */
#include "limits/verdict_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* One server in one interval. */
struct interval {
	const char *server;
	const struct snapshot *before, *now;
	uint64_t ns;
	uint64_t calls, replies, total_ns, phase_ns[RPC_PHASES];
	uint64_t saturated_ns[RPC_LIMITS]; /* of the worst transport */
	struct verdict_sums kinds[VERDICT_KINDS];
	bool grown; /* the session, by slots that the server grants */
};

void verdict_history_free(struct verdict_history *h)
{
	free(h->servers);
	*h = (struct verdict_history){};
}

const struct verdict_server *verdict_server_of(const struct verdict_history *h, const char *server)
{
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->servers[i].server, server))
			return &h->servers[i];
	return NULL;
}

static struct verdict_server *server_get(struct verdict_history *h, const char *server)
{
	struct verdict_server *v = (struct verdict_server *)verdict_server_of(h, server);

	if (v)
		return v;
	v = ARRAY_APPEND(h->servers, h->count);
	if (v)
		snprintf(v->server, sizeof(v->server), "%s", server);
	return v;
}

/* A count that restarted is as it is now. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/* The same of time: no more than the interval has. */
static uint64_t time_since(const struct interval *n, uint64_t now, uint64_t before)
{
	uint64_t ns = since(now, before);

	return ns < n->ns ? ns : n->ns;
}

enum verdict_kind verdict_kind_of(const char *op)
{
	if (!strncmp(op, "READ", 4) && (!op[4] || !strcmp(op + 4, "_PLUS")))
		return VERDICT_READ;
	return strcmp(op, "WRITE") ? VERDICT_OTHER : VERDICT_WRITE;
}

static const struct rpc_op *op_before(const struct interval *n, size_t index)
{
	static const struct rpc_op none;

	return snapshot_op_like(&n->before->calls, &n->now->calls.ops[index], index) ?: &none;
}

static void add_ops(struct interval *n)
{
	for (size_t i = 0; i < n->now->calls.op_count; i++) {
		const struct rpc_op *o = &n->now->calls.ops[i], *then;
		struct verdict_sums *kind;
		uint64_t calls;

		if (strcmp(o->server, n->server) != 0)
			continue;
		then = op_before(n, i);
		kind = &n->kinds[verdict_kind_of(o->op)];
		calls = since(time_histogram_count(&o->total), time_histogram_count(&then->total));
		n->calls += calls;
		n->total_ns += since(o->total.sum_ns, then->total.sum_ns);
		for (int p = 0; p < RPC_PHASES; p++)
			n->phase_ns[p] += since(o->phase[p].sum_ns, then->phase[p].sum_ns);
		kind->calls += calls;
		kind->rtt_ns +=
			since(o->phase[RPC_PHASE_RTT].sum_ns, then->phase[RPC_PHASE_RTT].sum_ns);
		kind->bytes += since(o->sent_bytes, then->sent_bytes) +
			       since(o->received_bytes, then->received_bytes);
	}
}

static const struct rpc_transport_state *transport_before(const struct interval *n, size_t index)
{
	static const struct rpc_transport_state none;

	return snapshot_transport_like(&n->before->calls, &n->now->calls.transports[index], index) ?:
		       &none;
}

static void add_transports(struct verdict_server *v, struct interval *n)
{
	uint64_t ns;

	v->transports = 0;
	v->slots_max = 0;
	for (size_t i = 0; i < n->now->calls.transport_count; i++) {
		const struct rpc_transport_state *t = &n->now->calls.transports[i], *then;

		if (strcmp(t->server, n->server) != 0)
			continue;
		then = transport_before(n, i);
		n->replies += since(t->replies, then->replies);
		v->retransmits += since(t->retransmits, then->retransmits);
		v->segments += since(t->segments, then->segments);
		v->segments_lost += since(t->segments_lost, then->segments_lost);
		v->timeouts += since(t->timeouts, then->timeouts);
		v->disconnects += since(t->disconnects, then->disconnects);
		v->connects += since(t->connects, then->connects);
		for (int l = 0; l < RPC_LIMITS; l++) {
			ns = time_since(n, t->saturated_ns[l], then->saturated_ns[l]);
			if (n->saturated_ns[l] < ns)
				n->saturated_ns[l] = ns;
		}
		v->transports += t->alive;
		if (v->slots_max < t->slots_max)
			v->slots_max = t->slots_max;
		snprintf(v->protocol, sizeof(v->protocol), "%s", t->protocol);
	}
	for (int l = 0; l < RPC_LIMITS; l++)
		v->saturated_ns[l] += n->saturated_ns[l];
}

static const struct rpc_server_state *find_server(const struct snapshot *s, const char *server)
{
	static const struct rpc_server_state none;

	for (size_t i = 0; i < s->calls.server_count; i++)
		if (!strcmp(s->calls.servers[i].server, server))
			return &s->calls.servers[i];
	return &none;
}

static uint64_t depth_count(const struct depth_histogram *h)
{
	uint64_t count = 0;

	for (int i = 0; i < DEPTH_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

/* For how long a call waited for a slot, RPC's or the session's. */
static uint64_t without_slot_ns(const struct interval *n)
{
	uint64_t rpc = n->saturated_ns[RPC_LIMIT_SLOT],
		 session = n->saturated_ns[RPC_LIMIT_SESSION];

	return rpc > session ? rpc : session;
}

/* How many calls were in flight on a transport on average over time, by Little's law; 0: not all of
 * the interval was busy, so that the average would say little about the calls. */
static double busy_in_flight(const struct verdict_server *v, const struct interval *n)
{
	uint64_t full = without_slot_ns(n), rtt = 0;

	if (full < n->ns / 10 * 9 || !v->transports)
		return 0;
	for (int k = 0; k < VERDICT_KINDS; k++)
		rtt += n->kinds[k].rtt_ns;
	return (double)rtt / (double)n->ns / v->transports;
}

/* Adds each kind's calls where they belong by how many calls were in flight in this interval: as
 * they ended, or over time, since those that end together find less and less. */
static void add_load(struct verdict_server *v, const struct interval *n, uint64_t calls,
		     uint64_t depth)
{
	double ended_with = 1 + (double)depth / (double)calls, busy = busy_in_flight(v, n);
	double in_flight = busy > ended_with ? busy : ended_with;
	uint32_t load = histogram_index((uint64_t)(in_flight * 16), 2, DEPTH_OVERFLOW);

	for (int k = 0; k < VERDICT_KINDS; k++) {
		struct verdict_sums *to = &v->loads[k][load];

		to->calls += n->kinds[k].calls;
		to->in_flight += in_flight * (double)n->kinds[k].calls;
		to->rtt_ns += n->kinds[k].rtt_ns;
		to->bytes += n->kinds[k].bytes;
	}
}

static void add_server(struct verdict_server *v, struct interval *n)
{
	const struct rpc_server_state *s = find_server(n->now, n->server);
	const struct rpc_server_state *then = find_server(n->before, n->server);
	const struct depth_histogram *pending = &s->depth[RPC_QUEUE_PENDING];
	uint64_t calls = since(depth_count(pending), depth_count(&then->depth[RPC_QUEUE_PENDING]));
	uint64_t depth = since(pending->sum, then->depth[RPC_QUEUE_PENDING].sum);

	v->credentials_ns += counted_since(s->credentials_ns, then->credentials_ns);
	if (v->session_slots < s->session_slots) {
		n->grown = v->session_slots;
		v->session_slots = s->session_slots;
	}
	v->depth_calls += calls;
	v->depth += depth;
	if (calls)
		add_load(v, n, calls, depth);
	v->oldest_ns = 0;
	for (int q = 0; q < RPC_QUEUES; q++)
		if (v->oldest_ns < s->oldest_ns[q])
			v->oldest_ns = s->oldest_ns[q];
}

/* Notes how much of the calls' time was not spent waiting for slots, if they waited. */
static void add_queued(struct verdict_server *v, const struct interval *n)
{
	uint64_t queued = n->phase_ns[RPC_PHASE_SLOT] + n->phase_ns[RPC_PHASE_SESSION];
	uint64_t full = without_slot_ns(n), before;

	before = v->waits.full_ns;
	v->waits.full_ns = full < n->ns - n->ns / 20 ? 0 : before + n->ns;
	if (queued * 10 < n->total_ns || queued >= n->total_ns)
		return;
	v->waits.queued.total_ns += n->total_ns;
	v->waits.queued.hold_ns += n->total_ns - queued;
	v->waits.queued_ns += full;
	if (!v->waits.full_ns)
		return;
	v->waits.full.total_ns += n->total_ns;
	v->waits.full.hold_ns += n->total_ns - queued;
	/* The first calls of a burst found fewer before them than later ones do. */
	if ((double)before * (double)n->calls < (double)n->total_ns)
		return;
	v->waits.steady.total_ns += n->total_ns;
	v->waits.steady.hold_ns += n->total_ns - queued;
}

/* What waited for fewer session slots than there are now says nothing of these. */
static void forget_waits(struct verdict_server *v)
{
	v->outgrown_ns = v->phase_ns[RPC_PHASE_SESSION];
	v->waits = (struct verdict_waits){};
}

static void add_silence(struct verdict_server *v, const struct interval *n)
{
	bool answered = snapshot_knows(&n->now->calls, RPC_FACT_REPLIES) ? n->replies : n->calls;

	/* A call that is younger than the interval may be the first one. */
	if (answered || !v->oldest_ns)
		v->silent_ns = 0;
	else if (v->silent_ns || v->oldest_ns >= n->ns)
		v->silent_ns += n->ns;
}

static void add_interval(struct verdict_server *v, struct interval *n)
{
	add_ops(n);
	add_transports(v, n);
	add_server(v, n);
	v->unknown |= n->now->calls.unknown;
	v->kerberos = false;
	for (size_t i = 0; i < n->now->calls.mount_count; i++)
		v->kerberos |= n->now->calls.mounts[i].kerberos &&
			       !strcmp(n->now->calls.mounts[i].server, n->server);
	v->session_slots_wanted = n->now->calls.session_slots_wanted;
	v->ns += n->ns;
	v->calls += n->calls;
	v->total_ns += n->total_ns;
	for (int p = 0; p < RPC_PHASES; p++)
		v->phase_ns[p] += n->phase_ns[p];
	if (n->calls || v->oldest_ns) {
		v->active_ns += n->ns;
		if (n->before->calls.cpu_waiting_ns)
			v->cpu_waiting_ns += time_since(n, n->now->calls.cpu_waiting_ns,
							n->before->calls.cpu_waiting_ns);
	}
	add_silence(v, n);
	if (n->grown)
		forget_waits(v);
	else
		add_queued(v, n);
}

int verdict_history_add_server(struct verdict_history *h, const struct snapshot *before,
			       const struct snapshot *now, const char *server)
{
	struct verdict_server *v = server_get(h, server);
	struct interval n = { .server = server,
			      .before = before,
			      .now = now,
			      .ns = since(now->time_ns, before->time_ns) };

	if (!v)
		return -ENOMEM;
	add_interval(v, &n);
	return 0;
}

int verdict_history_add(struct verdict_history *h, const struct snapshot *before,
			const struct snapshot *now)
{
	int err = 0;

	for (size_t i = 0; i < now->calls.server_count && !err; i++)
		err = verdict_history_add_server(h, before, now, now->calls.servers[i].server);
	return err;
}
