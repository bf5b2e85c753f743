// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sums from which the verdict on a server is made.
 *
 * verdict.c decides from these sums alone. The agent judges one interval at a time, `trace` a session of hundreds: both add
 * the interval's difference (snapshot/delta.h) here, and only the sums are kept. Memory does not grow with the session.
 *
 * Invariant: the time of each call that ended is in exactly one place.
 * - phase_ns: what is judged. Its sum is total_ns.
 * - earlier_ns: setup of calls that began before the observation. Waits in it were not seen.
 * - nowhere, if the call ended in a stall or in the two intervals after it (silence.c). calls_ended counts it.
 *
 * Means are over active time, not over all time: the intervals in which a call ended or waited. A job that writes for 10 s
 * in each minute, with 8 calls at once, has a concurrency of 8, not of 1.3. An idle interval before the end of a long call
 * becomes active afterwards, because that call was asleep in it.
 *
 * Plain means would still be wrong in three cases, each of which has a file: how long an answer takes depends on the load
 * (loads.c), a full window shows only while data come (network.c), and a queue for slots is judged at its worst time
 * (slots.c). */
#include "limits/judgement.h"

void limit_sums_free(struct limit_sums *h)
{
	free(h->servers);
	*h = (struct limit_sums){};
}

const struct server_sums *server_sums_of(const struct limit_sums *h, const char *server)
{
	return ARRAY_FIND(x, h->servers, h->count, !strcmp(x->server, server));
}

/* A server that is used for the first time was idle until then. */
static struct server_sums *server_get(struct limit_sums *h, const char *server)
{
	struct server_sums *v = (struct server_sums *)server_sums_of(h, server);

	if (v)
		return v;
	v = ARRAY_APPEND(h->servers, h->count);
	snprintf(v->server, sizeof(v->server), "%s", server);
	v->ns = v->judged_ns = v->quiet_ns = h->ns;
	return v;
}

/* A lower bound of the longest duration in @h; 0: not known. */
static uint64_t longest_of(const struct time_histogram *h, const struct calls *end)
{
	int b = TIME_BUCKETS - 1;

	if (!snapshot_knows(end, RPC_FACT_DISTRIBUTION))
		return 0;
	while (b > 0 && !h->bucket[b])
		b--;
	return b ? histogram_bound(b - 1, TIME_SHIFT) : 0;
}

uint64_t calls_from(const struct time_histogram *h, uint64_t ns)
{
	uint64_t calls = 0;

	for (uint32_t b = histogram_index(ns, TIME_SHIFT, TIME_OVERFLOW); b < TIME_BUCKETS; b++)
		calls += h->bucket[b];
	return calls;
}

static void add_ops(struct interval *n)
{
	CALLS_EACH(o, &n->d->calls, op, n->name) {
		uint64_t calls = time_histogram_count(&o->total);
		enum call_kind of = call_kind_of(o->op);
		struct load_sums *kind = &n->kinds[of];

		n->calls += calls;
		if (!strcmp(o->op, "EXCHANGE_ID") || !strcmp(o->op, "SETCLIENTID"))
			n->clients += calls;
		n->sessions += strcmp(o->op, "CREATE_SESSION") ? 0 : calls;
		n->total_ns += o->total.sum_ns;
		RAISE(n->longest_ns, longest_of(&o->total, &n->d->end->calls));
		for (int p = 0; p < RPC_PHASES; p++)
			n->phase_ns[p] += o->phase[p].sum_ns;
		n->late += calls_from(&o->total, LATE_NS);
		if (of == CALL_OTHER) {
			if (calls <= kind->calls)
				continue;
			*kind = (struct load_sums){};
			n->op = o->op;
		}
		kind->calls += calls;
		kind->rtt_ns += o->phase[RPC_PHASE_RTT].sum_ns;
		kind->bytes += o->sent_bytes + o->received_bytes;
	}
}

/* Packets of this size pass on each path. */
#define SMALL_PACKET 576
/* A host that answered so shortly before the silence hardly failed at that very moment. */
#define SHORTLY_NS UINT64_C(4000000000)

/* So many replies for each connection do not leave one out by chance. */
#define MANY_REPLIES 10

static void note_lost(struct server_sums *v, const struct rpc_transport_state *t)
{
	bool large = t->unacked >= SMALL_PACKET, small_pass = v->silent_connects; /* handshakes */

	if (t->oldest_ns < HUNG_NS)
		return;
	/* Small calls were answered until now, and no large segment ever arrived. */
	small_pass |= t->acked && t->acked < SMALL_PACKET && v->silent_ns && v->unheard_ns &&
		      v->unheard_ns <= v->silent_ns + SHORTLY_NS;
	if (t->behind || (large && small_pass))
		v->lost = LOST_ONLY_LARGE;
	else if (t->unacked)
		RAISE(v->lost, large ? LOST_LARGE : LOST_ALL);
}

static void add_transports(struct server_sums *v, struct interval *n)
{
	const struct delta *d = n->d;
	enum lost_packets before = v->silent_ns ? v->lost : LOST_NONE;
	uint64_t oldest_ns = HUNG_NS, lost = v->segments_lost;
	bool waited = false;

	v->waits_on[0] = 0;
	v->transports = v->waiting_transports = v->connect_error = 0;
	v->lost = LOST_NONE;
	v->acknowledges = false;
	v->slots_max = v->slot_transports = 0;
	CALLS_EACH(t, &d->calls, transport, n->name) {
		n->replies += t->replies;
		n->received_bytes += t->received_bytes;
		v->retransmits += t->retransmits;
		v->segments += t->segments;
		v->segments_lost += t->segments_lost;
		n->timeouts += t->timeouts;
		note_lost(v, t);
		v->acknowledges |= t->acked > 0;
		if (t->oldest_ns >= oldest_ns) {
			connection_text(v->waits_on, t);
			v->waits_silent = !t->replies;
		}
		RAISE(oldest_ns, t->oldest_ns);
		v->waiting_transports += t->oldest_ns > 0;
		RAISE(v->connect_error, t->connect_error);
		n->connects += t->connects;
		for (int l = 0; l < RPC_LIMITS; l++) {
			RAISE(n->active.saturated_ns[l], t->saturated_ns[l]);
			LOWER(n->active.saturated_ns[l], n->ns);
		}
		v->transports += t->alive;
		snprintf(v->protocol, sizeof(v->protocol), "%s", t->protocol);
	}
	v->losing_ns += v->segments_lost > lost ? n->ns : 0;
	/* Calls that waited for slots in earlier intervals count as well. */
	CALLS_EACH(t, &d->end->calls, transport, n->name)
		slots_note(v, t, &waited);
	if (v->transports < 2)
		v->waits_on[0] = 0;
	v->waits_silent &= n->replies >= (uint64_t)MANY_REPLIES * v->transports;
	/* Between two connections nothing is known. */
	if (!v->lost)
		v->lost = before;
	if (!v->slot_transports) {
		v->slots_max = RPC_SLOTS_UNLIMITED;
		v->slot_transports = v->transports;
	}
}

uint64_t depth_count(const struct depth_histogram *h)
{
	uint64_t count = 0;

	for (int i = 0; i < DEPTH_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

/* Moves setup of calls that began before the observation to earlier_ns. */
static void leave_out_earlier(struct server_sums *v, struct interval *n)
{
	uint64_t ns = n->server->earlier_ns;

	LOWER(ns, n->phase_ns[RPC_PHASE_SETUP]);
	n->phase_ns[RPC_PHASE_SETUP] -= ns;
	n->total_ns -= ns;
	v->earlier_ns += ns;
}

/* Clients of one server that make themselves known each, at most: of each address and minor version of NFSv4. */
static uint64_t identities_of(const struct calls *c, const char *server)
{
	uint64_t addresses = 0, versions = 0;

	CALLS_EACH(t, c, transport, server)
		addresses += t->alive && CALLS_FIND(x, c, transport, server,
						    x->alive && !strcmp(x->remote.address,
									t->remote.address)) == t;
	CALLS_EACH(m, c, mount, server)
		versions += *m->version == '4' &&
			    CALLS_FIND(x, c, mount, server, !strcmp(x->version, m->version)) == m;
	return (addresses ?: 1) * (versions ?: 1);
}

/* Notes the server's values at the end of the interval. */
static void note_server(struct server_sums *v, struct interval *n)
{
	const struct rpc_server_state *s = n->server;
	const struct calls *end = &n->d->end->calls;

	if (v->session_slots < s->session_slots) {
		n->grown = v->session_slots;
		v->session_slots = s->session_slots;
	}
	v->oldest_ns = s->oldest_ns[server_oldest(s)];
	v->unanswered_ns = s->oldest_ns[RPC_QUEUE_PENDING];
	memcpy(v->oldest_op, s->oldest_op, sizeof(v->oldest_op));
	if (n->calls && v->unanswered_ns > v->unanswered_most_ns) {
		v->unanswered_most_ns = v->unanswered_ns;
		snprintf(v->waited_on, sizeof(v->waited_on), "%s",
			 v->waits_silent ? v->waits_on : "");
		calls_victims(v->victims, end, v->server, true);
	}
	v->draining_ns += n->server->draining_ns;
	v->draining_now_ns = s->draining_now_ns;
	if (v->draining_now_ns)
		calls_victims(v->victims, end, v->server, false);
	if (s->upcall_ns) {
		/* A shorter wait may be one of many that follow each other, or the only one. */
		v->upcall_ns += s->upcall_ns >= n->ns ? n->ns : 0;
		RAISE(v->upcall_ns, s->upcall_ns);
		memcpy(v->upcall_by, s->upcall_by, sizeof(v->upcall_by));
	}
	v->lock_wait_now_ns = s->lock_wait_ns;
	if (s->lock_wait_ns > v->lock_wait_ns) {
		v->lock_wait_ns = s->lock_wait_ns;
		memcpy(v->lock_wait_by, s->lock_wait_by, sizeof(v->lock_wait_by));
	}
	RAISE(v->identities, identities_of(end, n->name));
	v->unknown |= end->unknown;
	v->kerberos = false;
	CALLS_EACH(m, end, mount, n->name) {
		v->kerberos |= m->kerberos;
		RAISE(v->nconnect, (uint32_t)strtoul(m->options[NFS_NCONNECT], NULL, 10));
	}
	memcpy(v->slots_wanted, end->slots_wanted, sizeof(v->slots_wanted));
}

void active_time_add(struct active_time *to, const struct active_time *from, uint64_t sign)
{
	to->ns += sign * from->ns;
	to->cpu_waiting_ns += sign * from->cpu_waiting_ns;
	for (int l = 0; l < RPC_LIMITS; l++)
		to->saturated_ns[l] += sign * from->saturated_ns[l];
}

/* The part of the idle time before the interval in which the calls that end in it slept: at most their mean time. */
static uint64_t slept_before(struct server_sums *v, const struct interval *n)
{
	uint64_t slept = counted_since(n->calls ? n->total_ns / n->calls : 0, n->ns);

	LOWER(slept, v->quiet_ns);
	v->quiet_ns = 0;
	return slept;
}

/* Finds the connection with most of the closings, by a majority vote. */
static void add_closings(struct server_sums *v, const struct interval *n)
{
	CALLS_EACH(t, &n->d->calls, transport, n->name) {
		uint64_t closings = t->disconnects;

		if (!closings)
			continue;
		v->disconnects += closings;
		if (!v->closings)
			memcpy(v->closed, t->name, sizeof(v->closed));
		if (strcmp(v->closed, t->name) != 0) {
			v->closings = counted_since(v->closings, closings);
			continue;
		}
		v->closings += closings;
		connection_text(v->closed_text, t);
	}
}

/* Adds an interval that is judged. */
static void add_calls(struct server_sums *v, struct interval *n)
{
	const struct depth_histogram *pending = &n->server->depth[RPC_QUEUE_PENDING];

	v->credentials_ns += n->server->credentials_ns;
	add_closings(v, n);
	leave_out_earlier(v, n);
	paths_add(v, n);
	v->depth_calls += depth_count(pending);
	v->depth += pending->sum;
	RAISE(v->most_in_flight, n->server->depth_max[RPC_QUEUE_PENDING] + 1);
	loads_add(v, n);
	v->judged_ns += n->ns;
	v->calls += n->calls;
	above_add(&v->above, n->d, n->name);
	v->late_calls += n->late;
	v->total_ns += n->total_ns;
	for (int p = 0; p < RPC_PHASES; p++)
		v->phase_ns[p] += n->phase_ns[p];
	if (n->calls || v->oldest_ns) {
		n->active.ns += slept_before(v, n);
		if ((double)n->total_ns >= BUSY * (double)n->ns || v->oldest_ns >= n->ns)
			v->busy_ns += n->active.ns;
		active_time_add(&v->active, &n->active, 1);
		if (v->silent_ns)
			active_time_add(&v->silent, &n->active, 1);
	} else {
		v->quiet_ns += n->ns;
	}
	slot_waits_add(v, n);
}

void limit_sums_add_server(struct limit_sums *h, const struct delta *d,
			   const struct rpc_server_state *server)
{
	struct server_sums *v = server_get(h, server->server);
	struct interval n = { .d = d,
			      .server = server,
			      .name = server->server,
			      .ns = d->ns,
			      .active = { d->ns, d->cpu_waiting_ns } };

	LOWER(n.active.cpu_waiting_ns, n.ns);
	add_ops(&n);
	add_transports(v, &n);
	note_server(v, &n);
	v->ns += n.ns;
	v->clock = v->clock > 0 ? v->clock + (double)n.ns / 1e9 : d->end->wall;
	v->calls_ended += n.calls;
	RAISE(v->longest_ns, n.longest_ns);
	failures_add(&v->failures, d, n.name, NULL, FAILURE_NONE);
	if (!stall_covers(v, &n))
		add_calls(v, &n);
	v->unregistered_ns = n.clients || n.sessions ? 0 : v->unregistered_ns + n.ns;
	if (!is_in_grace(v)) {
		v->clients += n.clients;
		v->sessions += n.sessions;
	}
}

void limit_sums_add(struct limit_sums *h, const struct delta *d)
{
	ARRAY_EACH(v, d->calls.servers, d->calls.server_count)
		limit_sums_add_server(h, d, v);
	/* Of one that was unmounted no call fails or waits any more. */
	ARRAY_EACH(v, h->servers, h->count)
		if (!CALLS_FIND(x, &d->calls, server, v->server, true)) {
			struct rpc_server_state gone = {};

			memcpy(gone.server, v->server, sizeof(gone.server));
			limit_sums_add_server(h, d, &gone);
		}
	h->ns += d->ns;
}
