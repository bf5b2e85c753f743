// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Slots, RPC's and the session's: how many calls want one while all are taken, whether more slots would help, how many and by
 * how much. docs/VERDICT.md, "Slot and session", has the formulas.
 *
 * The most that more slots gain depends on how many calls queue for each call that holds a slot, at the worst time; the mean
 * over a session would hide a burst. A queue's length counts if at least ENOUGH_CALLS joined it in the interval, or if it was
 * never empty.
 *
 * Replies at equal distances while the queue is never empty show a server, or a link, that serves one call at a time: more
 * slots gain nothing. Equal means that the squared coefficient of variation is at most EVEN.
 *
 * When the server grants the session more slots, the waits so far say nothing about the new number: they begin anew. */
#include "limits/judgement.h"

#define EVEN 0.05
/* A gain is expected only up to the load at which a call takes this many times as long. */
#define MOST_GROWTH 1.15
/* The high load has this share of all slots in flight. */
#define HIGH_LOAD (2.0 / 3)

/* A server that serves all calls at once replies at the distances at which they happened to be sent. With this many slots
 * these distances are hardly ever equal. */
#define EVEN_SLOTS 4

#define MAX_RDMA_SLOTS 16384 /* RPCRDMA_MAX_SLOT_TABLE */
#define MAX_SESSION_SLOTS 1024 /* NFS4_MAX_SLOT_TABLE */

/* ---- waits for slots ---- */

/* Calls may wait for the slots of some transports only, because another mount of the server may have more. Notes the slots of
 * these transports; if no call waits, those of all. TCP's slots for NFSv4.1 limit nothing. */
void slots_note(struct server_sums *v, const struct rpc_transport_state *t, bool *waited)
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

static void add_queue(struct slot_queue *q, const struct depth_histogram *depth, uint32_t peak,
		      bool full)
{
	uint64_t joined = depth_count(depth);
	double mean = joined ? (double)depth->sum / (double)joined : 0;

	q->joined += joined;
	q->depth += depth->sum;
	RAISE(q->peak, peak);
	q->full |= full;
	if ((joined >= ENOUGH_CALLS || full) && q->most < mean)
		q->most = mean;
}

/* @full: calls waited for slots all the time. */
static void add_gaps(struct slot_waits *w, const struct rpc_gaps *g, bool full)
{
	double sum = (double)g->sum;

	w->gaps += g->count;
	if (!full || g->count < ENOUGH_CALLS ||
	    (double)g->count * (double)g->squares > (1 + EVEN) * sum * sum)
		return;
	w->even += g->count;
	w->even_sum += g->sum;
}

void slot_waits_add(struct server_sums *v, const struct interval *n)
{
	static const enum rpc_limit limits[] = { RPC_LIMIT_SLOT, RPC_LIMIT_SESSION };
	uint64_t queued = n->phase_ns[RPC_PHASE_SLOT] + n->phase_ns[RPC_PHASE_SESSION];
	const uint64_t *waited = n->active.saturated_ns, full = n->ns - n->ns / 20;

	if (n->grown) {
		v->outgrown_ns = v->phase_ns[RPC_PHASE_SESSION];
		v->waits = (struct slot_waits){};
		return;
	}
	ARRAY_EACH(l, limits, COUNT(limits))
		add_queue(&v->waits.queue[*l], &n->server->depth[*l], n->server->depth_max[*l],
			  waited[*l] >= full);
	add_gaps(&v->waits, &n->server->gaps,
		 waited[RPC_LIMIT_SLOT] >= full || waited[RPC_LIMIT_SESSION] >= full);
	if (queued * 10 < n->total_ns || queued >= n->total_ns)
		return;
	v->waits.total_ns += n->total_ns;
	v->waits.hold_ns += n->total_ns - queued;
}

/* ---- slots and settings ---- */

static uint32_t power_of_two_above(double n)
{
	uint32_t power = 1;

	while (power < n && power < RPC_SLOTS_UNLIMITED)
		power *= 2;
	return power;
}

/* How many transports have the slots that calls wait for. */
static double transports_of(const struct server_sums *v)
{
	return v->slot_transports ? v->slot_transports : 1;
}

/* The number of slots of all transports, RPC's or the session's; 0: unknown. */
static double slots_of(const struct server_sums *v, enum bound limit)
{
	return limit == BOUND_SESSION             ? v->session_slots :
	       v->slots_max < RPC_SLOTS_UNLIMITED ? v->slots_max * transports_of(v) :
						    0;
}

/* The most that the setting allows, for all transports. */
static double most_slots(const struct server_sums *v, enum bound limit)
{
	return limit == BOUND_SESSION       ? MAX_SESSION_SLOTS :
	       !strcmp(v->protocol, "rdma") ? MAX_RDMA_SLOTS * transports_of(v) :
					      RPC_SLOTS_UNLIMITED * transports_of(v);
}

static enum slot_setting setting_of(const struct server_sums *v, enum bound limit)
{
	return limit == BOUND_SESSION       ? SLOTS_SESSION :
	       !strcmp(v->protocol, "rdma") ? SLOTS_RDMA :
	       !strcmp(v->protocol, "udp")  ? SLOTS_UDP :
					      SLOTS_TCP;
}

static void set_slots(struct judgement *j, enum bound limit, uint32_t slots)
{
	struct verdict *to = j->to;
	const struct server_sums *v = j->v;
	enum slot_setting setting = setting_of(v, limit);
	uint32_t now = limit == BOUND_SESSION ? v->session_slots : v->slots_max;

	if (!j->proposes)
		return;
	/* The setting was raised after the mount; or the server has granted fewer slots, and only the server can grant more. */
	if (now && now < v->slots_wanted[setting]) {
		say(to, " The %s has %u slot%s, and %s is %u: mount again.",
		    limit == BOUND_SESSION ? "session" : "transport", now, now == 1 ? "" : "s",
		    slot_settings[setting].name, v->slots_wanted[setting]);
		if (limit == BOUND_SESSION)
			say(to,
			    " If it then still has %u, raise the server's own limit; nconnect does not help.",
			    now);
		return;
	}
	if (limit != BOUND_SESSION)
		slots = (uint32_t)((slots + transports_of(v) - 1) / transports_of(v));
	if (slots <= now)
		return; /* this value is in force, or is the largest that there is */
	if (setting != SLOTS_RDMA)
		say(to, limit == BOUND_SESSION ?
				" All connections share the session: nconnect does not help." :
				" Each connection of nconnect adds as many slots.");
	to->remount = propose(j, slot_settings[setting].name, slots, "");
}

/* ---- the gain ---- */

/* By which share of its time a call takes longer for each further slot. */
static double growth_per_slot(const struct judgement *j)
{
	return j->slope / transports_of(j->v) / j->to->numbers.hold_ns;
}

/* The number of slots up to which a gain is expected, at most @wanted. It is the smaller of two: where a call's time is predicted
 * to be MOST_GROWTH times as long; and as far above the present slots, as a factor, as the low load was below the high load. */
static double extrapolate_slots(const struct judgement *j, double slots, double wanted)
{
	const struct verdict_numbers *n = &j->to->numbers;
	double per_slot = growth_per_slot(j), most = slots * n->high.in_flight / n->low.in_flight;

	if (per_slot > 0 && most > slots + (MOST_GROWTH - 1) / per_slot)
		most = slots + (MOST_GROWTH - 1) / per_slot;
	return wanted < most ? wanted : (uint32_t)most;
}

/* Sets the gain of @wanted slots in place of @slots. Without a limit on slots the gain would be @gain, and @most at any
 * moment. @expected: sets the expected gain as well, which supposes that calls take longer by the observed slope. */
static void set_gain(struct judgement *j, double slots, double wanted, double gain, double most,
		     bool expected)
{
	struct verdict *to = j->to;
	double used = wanted < slots * gain ? wanted : slots * gain;

	to->gain_at_most = most < wanted / slots ? most : wanted / slots;
	if (expected)
		to->gain_expected =
			larger(used / slots / (1 + growth_per_slot(j) * (used - slots)), 1);
	LOWER(to->gain_expected, to->gain_at_most);
}

static void say_slots(struct judgement *j, double slots, double wanted, bool varied,
		      const char *what)
{
	bool one = slots < 1.5;

	if (slots < 1) /* their number is not known, and few calls held a slot */
		say(j->to, "Calls wait for %s: %.1f want one.", what, wanted);
	else
		say(j->to, "%s %.0f %.*s %s in use while %.1f calls want one.", one ? "The" : "All",
		    slots, (int)strlen(what) - one, what, one ? "is" : "are", wanted);
	if (!varied) {
		say(j->to,
		    " Whether more would help cannot be decided: the number in flight did not "
		    "vary enough, and a server that serves no more at once looks the same.");
		return;
	}
	say(j->to, " With %.1f in flight", j->to->numbers.low.in_flight);
	say_loads(j->to);
	if (j->to->confidence == CONFIDENCE_LOW)
		say(j->to, " How much more would help cannot be decided.");
}

static const struct slot_queue *queue_of(const struct server_sums *v, enum bound limit)
{
	return &v->waits.queue[limit == BOUND_SLOT ? RPC_LIMIT_SLOT : RPC_LIMIT_SESSION];
}

/* How many times as many calls want a slot as have one, in the worst interval; *@most: at the worst moment. With enough
 * slots all of them have one, therefore this is the largest possible gain. */
static double most_gain(const struct judgement *j, enum bound limit, double slots, double *most)
{
	const struct server_sums *v = j->v;
	const struct slot_queue *q = queue_of(v, limit);
	/* The source tracepoints counts one queue for all transports. */
	double share = limit == BOUND_SLOT && v->depth_calls ? slots / transports_of(v) : slots;
	double depth = q->most > 0 ? q->most : ratio((double)q->depth, (double)q->joined);
	double gain = larger(1 + ratio(depth, share),
			     ratio((double)v->waits.total_ns, (double)v->waits.hold_ns));

	*most = larger(1 + ratio(q->peak, share), gain);
	return gain;
}

bool serves_any(const struct verdict_numbers *n, double calls)
{
	return n->min_rtt_ns > 0 && calls * (n->low.rtt_ns - n->min_rtt_ns) <= n->low.rtt_ns;
}

/* Decides that the server replies at a fixed rate, if it does. Returns whether. */
static bool judge_even(struct judgement *j, double slots, const char *what)
{
	const struct slot_waits *w = &j->v->waits;

	if (slots < EVEN_SLOTS || 2 * w->even <= w->gaps)
		return false;
	j->to->gain_at_most = 1;
	decide(j->to, BOUND_SERVER, CONFIDENCE_MEDIUM,
	       "Calls wait for %s, but replies come one after another at equal distances, every %.*g ms: the "
	       "server, or a link, serves one at a time or at a fixed rate; more slots would hardly help.",
	       what, FIGURE(ratio((double)(w->even_sum << RPC_GAP_SHIFT) / 1e6, (double)w->even)));
	return true;
}

void judge_slots(struct judgement *j, enum bound limit)
{
	const char *what = limit == BOUND_SESSION ? "session slots" : "RPC slots";
	double transports = limit == BOUND_SESSION ? (j->v->transports ? j->v->transports : 1) :
						     transports_of(j->v);
	double share = limit == BOUND_SESSION ? 1 : transports, known = slots_of(j->v, limit);
	struct verdict_numbers *n = &j->to->numbers;
	double held =
		n->concurrency * ratio((double)j->v->waits.hold_ns, (double)j->v->waits.total_ns);
	double slots = known > 0 ? known : held, most;
	double gain = most_gain(j, limit, slots, &most), wanted = slots * gain, flat;
	const struct load_sums *loads = main_loads(j->v);
	struct load_sums low, high;
	bool varied, expected = false;

	n->slots = (uint32_t)(slots / transports + 0.5);
	low = load_sums_between(loads, 0, slots / transports * LOW_LOAD);
	high = load_sums_between(loads, slots / transports * HIGH_LOAD, 1e9);
	varied = compare_loads(j, loads, &low, &high);
	if (is_saturated(j)) {
		say(j->to, "Calls wait for %s, but more slots would hardly help. ", what);
		judge_saturated(j);
		return;
	}
	j->to->bound_by = limit;
	j->to->confidence = CONFIDENCE_LOW;
	if (varied && n->rtt_ns >= n->hold_ns / 2 && is_flat(n)) {
		flat = extrapolate_slots(j, slots, slots * gain);
		if (flat >= slots * WORTH_IT || flat >= slots * gain) {
			j->to->confidence = CONFIDENCE_MEDIUM;
			wanted = flat;
			expected = true;
		}
	}
	if (!expected && judge_even(j, slots, what))
		return;
	wanted = power_of_two_above(wanted / share) * share;
	LOWER(wanted, most_slots(j->v, limit));
	/* All slots must have been in use for an interval: with calls that begin at intervals the gain is smaller. */
	if (expected && queue_of(j->v, limit)->full && serves_any(n, wanted))
		j->to->confidence = CONFIDENCE_HIGH;
	set_gain(j, slots, wanted, gain, most, expected);
	say_slots(j, slots, slots * gain, varied, what);
	set_slots(j, limit, (uint32_t)(wanted + 0.999));
}
