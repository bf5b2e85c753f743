// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sums from which the verdict on a server is made. */
#include "limits/sums.h"

#include "base/array.h"

/* So many say how long a call takes. */
#define SOME_CALLS 20

/* The squared coefficient of variation of distances that are equal. */
#define EVEN 0.05

/* What a connection sends is acknowledged with the next reply at the latest, if not at once or after a pause, which is shorter
 * than this. A round trip that is longer, and has as long as so many replies take, is a queue on the way. */
#define LONG_QUEUE_NS UINT64_C(100000000)
#define QUEUED_REPLIES 3

/* One server in one interval. */
struct interval {
	const struct delta *d;
	const struct server_delta *server;
	const char *name;
	uint64_t ns;
	uint64_t received_bytes; /* by TCP */
	uint64_t calls, replies, timeouts, connects, clients, late, total_ns, phase_ns[RPC_PHASES];
	uint64_t saturated_ns[RPC_LIMITS]; /* of the worst transport */
	struct load_sums kinds[CALL_KINDS]; /* CALL_OTHER: of the operation with most calls */
	const char *op; /* that one */
	bool grown; /* the session, by slots that the server grants */
};

void limit_sums_free(struct limit_sums *h)
{
	free(h->servers);
	*h = (struct limit_sums){};
}

const struct server_sums *server_sums_of(const struct limit_sums *h, const char *server)
{
	return ARRAY_FIND(x, h->servers, h->count, !strcmp(x->server, server));
}

static struct server_sums *server_get(struct limit_sums *h, const char *server)
{
	struct server_sums *v = (struct server_sums *)server_sums_of(h, server);

	if (v)
		return v;
	v = ARRAY_APPEND(h->servers, h->count);
	if (v)
		snprintf(v->server, sizeof(v->server), "%s", server);
	return v;
}

enum call_kind call_kind_of(const char *op)
{
	if (!strncmp(op, "READ", 4) && (!op[4] || !strcmp(op + 4, "_PLUS")))
		return CALL_READ;
	return strcmp(op, "WRITE") ? CALL_OTHER : CALL_WRITE;
}

static void add_ops(struct interval *n)
{
	ARRAY_EACH(o, n->d->ops, n->d->op_count) {
		enum call_kind of = call_kind_of(o->now->op);
		struct load_sums *kind = &n->kinds[of];
		uint64_t calls;

		if (strcmp(o->now->server, n->name) != 0)
			continue;
		calls = time_histogram_count(&o->total);
		n->calls += calls;
		if (!strcmp(o->now->op, "EXCHANGE_ID") || !strcmp(o->now->op, "SETCLIENTID"))
			n->clients += calls;
		n->total_ns += o->total.sum_ns;
		for (int p = 0; p < RPC_PHASES; p++)
			n->phase_ns[p] += o->phase_ns[p];
		for (uint32_t b = histogram_index(LATE_NS, TIME_SHIFT, TIME_OVERFLOW);
		     b < TIME_BUCKETS; b++)
			n->late += o->total.bucket[b];
		if (of == CALL_OTHER) {
			if (calls <= kind->calls)
				continue;
			*kind = (struct load_sums){};
			n->op = o->now->op;
		}
		kind->calls += calls;
		kind->rtt_ns += o->phase_ns[RPC_PHASE_RTT];
		kind->bytes += o->sent_bytes + o->received_bytes;
	}
}

/* Notes the slots of the transports that calls wait for; if they wait for none, of all: another mount of the server may
 * have others. TCP's for NFSv4.1 limit nothing. *@waited: whether calls waited for those noted. */
static void note_slots(struct server_sums *v, const struct rpc_transport_state *t, bool *waited)
{
	bool waits = t->saturated_ns[RPC_LIMIT_SLOT];

	if (!t->alive || !t->slots_max || t->slots_max >= RPC_SLOTS_UNLIMITED ||
	    (*waited && !waits))
		return;
	if (waits > *waited)
		v->slots_max = v->slot_transports = 0;
	*waited = waits;
	v->slot_transports++;
	RAISE(v->slots_max, t->slots_max);
}

/* Whether the connection carries data, by one look: also if several replies queue on the way. */
static bool carries(const struct transport_delta *t, double replies, uint64_t ns)
{
	const struct rpc_transport_state *now = t->now;
	uint64_t queue = now->srtt_ns - now->min_rtt_ns;

	if (now->carries)
		return true;
	return now->srtt_ns > 2 * now->min_rtt_ns && queue >= LONG_QUEUE_NS &&
	       (double)queue * replies >= (double)(QUEUED_REPLIES * ns);
}

/* Adds up, for the time until the replies that the server's connections have brought in the interval: how long a round trip is
 * at least and now, and how much of the receiver's window they fill: with a full window in each round trip, all of it. Where
 * a source does not know whose replies they are, each has as large a part of them as of the bytes. */
static void add_paths(struct server_sums *v, const struct interval *n)
{
	const struct delta *d = n->d;
	bool known = snapshot_knows(&d->end->calls, RPC_FACT_REPLIES);

	ARRAY_EACH(t, d->transports, d->transport_count) {
		const struct rpc_transport_state *now = t->now;
		double bytes = (double)t->received_bytes, part = bytes / (double)n->received_bytes;
		double ns = known ? (double)t->rtt_ns : part * (double)n->phase_ns[RPC_PHASE_RTT];
		double replies = known ? (double)t->replies : part * (double)n->calls;

		if (strcmp(now->server, n->name) != 0 || !t->received_bytes || ns <= 0 ||
		    !now->rcv_wnd || !now->min_rtt_ns || !now->srtt_ns || !n->ns)
			continue;
		v->looks++;
		v->received_bytes += bytes;
		v->path_ns += ns;
		v->carrying += ns * carries(t, replies, n->ns);
		v->window_filled +=
			ns * (bytes * (double)now->min_rtt_ns / (double)n->ns / now->rcv_wnd);
		v->min_rtt_ns += ns * (double)now->min_rtt_ns;
		v->srtt_ns += ns * (double)now->srtt_ns;
		v->rcv_wnd += ns * now->rcv_wnd;
	}
}

static void add_transports(struct server_sums *v, struct interval *n)
{
	const struct delta *d = n->d;
	bool waited = false;

	v->transports = 0;
	v->slots_max = 0;
	v->slot_transports = 0;
	ARRAY_EACH(t, d->transports, d->transport_count) {
		if (strcmp(t->now->server, n->name) != 0)
			continue;
		n->replies += t->replies;
		n->received_bytes += t->received_bytes;
		v->retransmits += t->retransmits;
		v->segments += t->segments;
		v->segments_lost += t->segments_lost;
		v->timeouts += t->timeouts;
		n->timeouts += t->timeouts;
		v->disconnects += t->disconnects;
		v->connects += t->connects;
		n->connects += t->connects;
		for (int l = 0; l < RPC_LIMITS; l++)
			if (n->saturated_ns[l] < t->saturated_ns[l])
				n->saturated_ns[l] =
					t->saturated_ns[l] < n->ns ? t->saturated_ns[l] : n->ns;
		v->transports += t->now->alive;
		note_slots(v, t->now, &waited);
		snprintf(v->protocol, sizeof(v->protocol), "%s", t->now->protocol);
	}
	if (!v->slot_transports) {
		v->slots_max = RPC_SLOTS_UNLIMITED;
		v->slot_transports = v->transports;
	}
}

/* The address of one of the server's connections, @wanted if one has it; "": there is none. */
static const char *address_of(const struct interval *n, const char *wanted)
{
	const struct calls *c = &n->d->end->calls;
	const char *found = "";

	ARRAY_EACH(t, c->transports, c->transport_count) {
		if (!t->alive || !*t->remote.address || strcmp(t->server, n->name) != 0)
			continue;
		found = t->remote.address;
		if (!strcmp(found, wanted))
			break;
	}
	return found;
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
static double busy_in_flight(const struct server_sums *v, const struct interval *n)
{
	if (without_slot_ns(n) < n->ns / 10 * 9 || !v->transports)
		return 0;
	return (double)n->phase_ns[RPC_PHASE_RTT] / (double)n->ns / v->transports;
}

/* Of operations that neither read nor write, each of which takes its own time, the one that has taken most is compared with
 * itself. Returns whether it is the interval's. */
static bool is_main_op(struct server_sums *v, const struct interval *n)
{
	uint64_t rtt = n->kinds[CALL_OTHER].rtt_ns;

	if (strcmp(v->op, n->op) != 0) {
		if (rtt <= v->op_rtt_ns)
			return false;
		snprintf(v->op, sizeof(v->op), "%s", n->op);
		v->op_rtt_ns = 0;
		memset(v->loads[CALL_OTHER], 0, sizeof(v->loads[CALL_OTHER]));
	}
	v->op_rtt_ns += rtt;
	return true;
}

/* Adds each kind's calls where they belong by how many calls were in flight in this interval: as
 * they ended, or over time, since those that end together find less and less. */
static void add_load(struct server_sums *v, const struct interval *n, uint64_t calls,
		     uint64_t depth)
{
	double ended_with = 1 + (double)depth / (double)calls, busy = busy_in_flight(v, n);
	double in_flight = busy > ended_with ? busy : ended_with;
	uint32_t load = histogram_index((uint64_t)(in_flight * 16), 2, DEPTH_OVERFLOW);

	for (int k = 0; k < CALL_KINDS; k++) {
		struct load_sums *to = &v->loads[k][load];

		/* How many were in flight is known of all kinds together. */
		if (10 * n->kinds[k].calls < 9 * n->calls ||
		    (k == CALL_OTHER && n->op && !is_main_op(v, n)))
			continue;

		to->calls += n->kinds[k].calls;
		to->in_flight += in_flight * (double)n->kinds[k].calls;
		to->rtt_ns += n->kinds[k].rtt_ns;
		to->bytes += n->kinds[k].bytes;
	}
}

/* Of the calls that began before the observation, the time in which no wait was seen says nothing. */
static void leave_out_earlier(struct server_sums *v, struct interval *n)
{
	uint64_t ns = n->server->earlier_ns;

	LOWER(ns, n->phase_ns[RPC_PHASE_SETUP]);
	n->phase_ns[RPC_PHASE_SETUP] -= ns;
	n->total_ns -= ns;
	v->earlier_ns += ns;
}

/* The server's values at the end. */
static void note_server(struct server_sums *v, struct interval *n)
{
	const struct rpc_server_state *s = n->server->now;
	const struct calls *end = &n->d->end->calls;

	if (v->session_slots < s->session_slots) {
		n->grown = v->session_slots;
		v->session_slots = s->session_slots;
	}
	v->oldest_ns = 0;
	for (int q = 0; q < RPC_QUEUES; q++)
		RAISE(v->oldest_ns, s->oldest_ns[q]);
	v->unknown |= end->unknown;
	v->kerberos = ARRAY_FIND(m, end->mounts, end->mount_count,
				 m->kerberos && !strcmp(m->server, n->name));
	memcpy(v->slots_wanted, end->slots_wanted, sizeof(v->slots_wanted));
}

static void add_queue(struct slot_queue *q, const struct depth_histogram *depth, uint32_t peak,
		      bool full)
{
	uint64_t joined = depth_count(depth);
	double mean = joined ? (double)depth->sum / (double)joined : 0;

	q->joined += joined;
	q->depth += depth->sum;
	RAISE(q->peak, peak);
	q->full |= full;
	if ((joined >= SOME_CALLS || full) && q->most < mean)
		q->most = mean;
}

/* Notes how many replies came at equal distances; @full: while calls waited for slots all the time. */
static void add_gaps(struct slot_waits *w, const struct rpc_gaps *g, bool full)
{
	double sum = (double)g->sum;

	w->gaps += g->count;
	if (!full || g->count < SOME_CALLS ||
	    (double)g->count * (double)g->squares > (1 + EVEN) * sum * sum)
		return;
	w->even += g->count;
	w->even_sum += g->sum;
}

/* Notes how many calls wait for slots, and how much of the calls' time was not spent so. */
static void add_queued(struct server_sums *v, const struct interval *n)
{
	static const enum rpc_limit limits[] = { RPC_LIMIT_SLOT, RPC_LIMIT_SESSION };
	uint64_t queued = n->phase_ns[RPC_PHASE_SLOT] + n->phase_ns[RPC_PHASE_SESSION];
	const uint64_t *waited = n->saturated_ns, full = n->ns - n->ns / 20;

	ARRAY_EACH(l, limits, COUNT(limits))
		add_queue(&v->waits.queue[*l], &n->server->depth[*l], n->server->now->depth_max[*l],
			  waited[*l] >= full);
	add_gaps(&v->waits, &n->server->gaps,
		 waited[RPC_LIMIT_SLOT] >= full || waited[RPC_LIMIT_SESSION] >= full);
	if (queued * 10 < n->total_ns || queued >= n->total_ns)
		return;
	v->waits.total_ns += n->total_ns;
	v->waits.hold_ns += n->total_ns - queued;
}

/* What waited for fewer session slots than there are now says nothing of these. */
static void forget_waits(struct server_sums *v)
{
	v->outgrown_ns = v->phase_ns[RPC_PHASE_SESSION];
	v->waits = (struct slot_waits){};
}

/* How many calls of soft mounts ended without an answer, by their errors: those that a server answers with are of calls that are
 * sent once. */
static uint64_t timed_out(const struct interval *n)
{
	uint64_t count = 0;

	if (!n->phase_ns[RPC_PHASE_RESEND])
		return 0;
	ARRAY_EACH(e, n->d->errors, n->d->error_count)
		if (!strcmp(e->now->server, n->name) &&
		    (!strcmp(e->now->status, "EIO") || !strcmp(e->now->status, "ETIMEDOUT")))
			count += e->count;
	return count;
}

static void add_silence(struct server_sums *v, struct interval *n)
{
	bool answered = n->replies;
	uint64_t before;

	if (!snapshot_knows(&n->d->end->calls, RPC_FACT_REPLIES)) {
		n->timeouts = timed_out(n);
		answered = n->calls > n->timeouts;
	}
	/* A call that is younger than the interval may be the first one. Calls of soft mounts end without an answer. */
	if (answered || (!v->oldest_ns && !n->timeouts)) {
		v->silent_ns = 0;
	} else if (v->silent_ns || v->oldest_ns >= n->ns || n->timeouts) {
		if (!v->silent_ns) {
			v->silent_since = n->d->end->wall - (double)v->oldest_ns / 1e9;
			before = v->oldest_ns > n->ns ? v->oldest_ns - n->ns : 0;
			/* Others were answered in the interval before; before the first one the server would be known. */
			v->silent_ns = v->ns == n->ns || before < n->ns ? before : n->ns;
		}
		v->silent_ns += n->ns;
	}
}

/* Adds the time in which calls ended or waited; with -1 as @sign takes it away. */
static void add_active(struct active_time *to, const struct active_time *from, uint64_t sign)
{
	to->ns += sign * from->ns;
	to->cpu_waiting_ns += sign * from->cpu_waiting_ns;
	for (int l = 0; l < RPC_LIMITS; l++)
		to->saturated_ns[l] += sign * from->saturated_ns[l];
}

/* Whether the interval is of a stall, or one of the two after it: the calls that end then have waited through it. A
 * stall is known after HUNG_NS; the active time until then is taken back. */
static bool is_stall(struct server_sums *v, const struct interval *n)
{
	const char *address;

	if (v->silent_ns >= HUNG_NS) {
		add_active(&v->active, &v->silent, (uint64_t)-1);
		v->silent = (struct active_time){};
		v->stall.ns = v->silent_ns;
		if (v->stall.begin != v->silent_since) {
			v->stall.reconnected = v->stall.restarted = false;
			*v->stall.moved_to = 0;
		}
		v->stall.reconnected |= n->connects;
		v->stall.begin = v->silent_since;
		v->stall.end = 0;
		v->stall.intervals_left = 2;
		return true;
	}
	if (!v->silent_ns)
		v->silent = (struct active_time){};
	if (!v->stall.intervals_left) {
		if (!v->silent_ns)
			snprintf(v->address, sizeof(v->address), "%s", address_of(n, v->address));
		return false;
	}
	if (!v->stall.end) {
		v->stall.end = n->d->end->wall;
		v->stall.reconnected = n->connects || v->stall.reconnected;
	}
	v->stall.restarted |= n->clients;
	address = address_of(n, v->address);
	if (*v->address && strcmp(address, v->address) != 0)
		snprintf(v->stall.moved_to, sizeof(v->stall.moved_to), "%s", address);
	v->stall.intervals_left--;
	return true;
}

/* The time before the interval in which the calls that end in it only slept, where nothing shows: that of the intervals
 * without calls before it, at most the calls' mean time. */
static uint64_t slept_before(struct server_sums *v, const struct interval *n)
{
	uint64_t mean = n->calls ? n->total_ns / n->calls : 0, slept = v->quiet_ns;

	v->quiet_ns = 0;
	if (mean <= n->ns)
		return 0;
	return slept < mean - n->ns ? slept : mean - n->ns;
}

/* Adds what is judged. */
static void add_calls(struct server_sums *v, struct interval *n)
{
	const struct depth_histogram *pending = &n->server->depth[RPC_QUEUE_PENDING];
	uint64_t calls = depth_count(pending), depth = pending->sum;
	struct active_time active = { .ns = n->ns, .cpu_waiting_ns = n->d->cpu_waiting_ns };

	v->credentials_ns += n->server->credentials_ns;
	leave_out_earlier(v, n);
	add_paths(v, n);
	v->depth_calls += calls;
	v->depth += depth;
	if (v->most_in_flight <= n->server->now->depth_max[RPC_QUEUE_PENDING])
		v->most_in_flight = n->server->now->depth_max[RPC_QUEUE_PENDING] + 1;
	if (calls)
		add_load(v, n, calls, depth);
	v->calls += n->calls;
	above_add(&v->above, n->d, n->name);
	v->late_calls += n->late;
	v->total_ns += n->total_ns;
	for (int p = 0; p < RPC_PHASES; p++)
		v->phase_ns[p] += n->phase_ns[p];
	LOWER(active.cpu_waiting_ns, n->ns);
	memcpy(active.saturated_ns, n->saturated_ns, sizeof(active.saturated_ns));
	if (n->calls || v->oldest_ns) {
		active.ns += slept_before(v, n);
		add_active(&v->active, &active, 1);
		if (v->silent_ns)
			add_active(&v->silent, &active, 1);
	} else {
		v->quiet_ns += n->ns;
	}
	if (n->grown)
		forget_waits(v);
	else
		add_queued(v, n);
}

static void add_interval(struct server_sums *v, struct interval *n)
{
	add_ops(n);
	add_transports(v, n);
	note_server(v, n);
	v->ns += n->ns;
	v->calls_ended += n->calls;
	add_silence(v, n);
	if (!is_stall(v, n))
		add_calls(v, n);
}

int limit_sums_add_server(struct limit_sums *h, const struct delta *d,
			  const struct server_delta *server)
{
	struct server_sums *v = server_get(h, server->now->server);
	struct interval n = { .d = d, .server = server, .name = server->now->server, .ns = d->ns };

	if (!v)
		return -ENOMEM;
	add_interval(v, &n);
	return 0;
}

int limit_sums_add(struct limit_sums *h, const struct delta *d)
{
	int err = 0;

	for (size_t i = 0; i < d->server_count && !err; i++)
		err = limit_sums_add_server(h, d, &d->servers[i]);
	return err;
}
