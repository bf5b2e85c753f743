// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether more slots would help, how many and by how much: docs/VERDICT.md, "Slots or the server". */
#include "limits/judgement.h"

/* ---- the constants of docs/VERDICT.md ---- */

/* An answer that takes at most so many times as long at one of the two loads as at the other takes nearly as long. */
#define FLAT 1.2
/* This part of an answer's time is the network's shortest round trip: the server has few calls at once. */
#define FAR 0.75
/* How much longer a call may take at the load that a gain is claimed for. */
#define MOST_GROWTH 1.15
/* In flight of all slots: nearly all. */
#define HIGH_LOAD (2.0 / 3)
/* A setting that raises the slots by less is not worth a remount. */
#define WORTH_IT 1.25

#define MAX_RDMA_SLOTS 16384 /* RPCRDMA_MAX_SLOT_TABLE */
#define MAX_SESSION_SLOTS 1024 /* NFS4_MAX_SLOT_TABLE */

/* ---- slots and settings ---- */

static uint32_t power_of_two_above(double n)
{
	uint32_t power = 1;

	while (power < n && power < RPC_SLOTS_UNLIMITED)
		power *= 2;
	return power;
}

/* How many transports share what calls wait for. */
static double transports_of(const struct server_sums *v)
{
	return v->slot_transports ? v->slot_transports : 1;
}

/* How many slots all transports have, RPC's or the session's; 0: unknown. */
static double slots_of(const struct server_sums *v, enum bound limit)
{
	if (limit == BOUND_SESSION)
		return v->session_slots;
	return v->slots_max < RPC_SLOTS_UNLIMITED ? v->slots_max * transports_of(v) : 0;
}

/* How many were held at once. */
static double slots_held(const struct judgement *j)
{
	return j->to->numbers.concurrency *
	       ratio((double)j->v->waits.queued.hold_ns, (double)j->v->waits.queued.total_ns);
}

/* The most that the setting allows, for all transports. */
static double most_slots(const struct server_sums *v, enum bound limit)
{
	double transports = transports_of(v);

	if (limit == BOUND_SESSION)
		return MAX_SESSION_SLOTS;
	return transports * (strcmp(v->protocol, "rdma") ? RPC_SLOTS_UNLIMITED : MAX_RDMA_SLOTS);
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

	/* The setting was raised since the mount, or the server has granted fewer: only it can grant more. */
	if (now && now < v->slots_wanted[setting]) {
		say(to, " The %s has %u slots, and %s is %u: mount again.",
		    limit == BOUND_SESSION ? "session" : "transport", now,
		    slot_settings[setting].name, v->slots_wanted[setting]);
		if (limit == BOUND_SESSION)
			say(to,
			    " If it then still has %u, raise the server's own limit; nconnect does not help.",
			    now);
		return;
	}
	if (limit == BOUND_SESSION) {
		say(to, " All connections share the session: nconnect does not help.");
	} else {
		slots = (uint32_t)((slots + transports_of(v) - 1) / transports_of(v));
		if (slots <= now)
			return; /* it is in force */
		say(to, " nconnect would add as many slots for each connection.");
	}
	snprintf(to->setting, sizeof(to->setting), "%s", slot_settings[setting].name);
	snprintf(to->value, sizeof(to->value), "%u", slots);
	to->remount = true;
}

/* ---- the gain ---- */

/* How much longer a call takes for each further slot, as a part of its time. */
static double growth_per_slot(const struct judgement *j)
{
	return j->slope / transports_of(j->v) / j->to->numbers.hold_ns;
}

/* With calls in flight seen at half the slots or fewer and at nearly all of them: up to how many slots the calls'
 * time is predicted to grow by MOST_GROWTH at most, and no further beyond the slots than the session saw below them;
 * at most @wanted. */
static double extrapolate(const struct judgement *j, double slots, double wanted)
{
	const struct verdict_numbers *n = &j->to->numbers;
	double per_slot = growth_per_slot(j), most = slots * n->high.in_flight / n->low.in_flight;

	if (per_slot > 0 && most > slots + (MOST_GROWTH - 1) / per_slot)
		most = slots + (MOST_GROWTH - 1) / per_slot;
	return wanted < most ? wanted : (uint32_t)most;
}

/* Sets the gain of @wanted instead of @slots, which without limits would be @gain. @expected: suppose that calls take
 * longer along the line that the session saw below the slots. */
static void set_gain(struct judgement *j, double slots, double wanted, double gain, bool expected)
{
	struct verdict *to = j->to;
	double used = wanted < slots * gain ? wanted : slots * gain;

	to->gain_at_most = gain < wanted / slots ? gain : wanted / slots;
	if (expected)
		to->gain_expected =
			larger(used / slots / (1 + growth_per_slot(j) * (used - slots)), 1);
	if (to->gain_expected > to->gain_at_most)
		to->gain_expected = to->gain_at_most;
}

static void say_slots(struct judgement *j, double slots, double wanted, bool varied,
		      const char *what)
{
	const struct verdict_numbers *n = &j->to->numbers;

	if (slots < 1) /* their number is not known, and few calls held one */
		say(j->to, "Calls wait for %s: %.1f want one.", what, wanted);
	else
		say(j->to, "All %.0f %s are in use while %.1f calls want one.", slots, what,
		    wanted);
	if (varied)
		say(j->to,
		    " With %.1f in flight an answer took %.3g ms, with %.1f it took %.3g ms.",
		    n->low.in_flight, n->low.rtt_ns / 1e6, shown_in_flight(n),
		    n->high.rtt_ns / 1e6);
	else
		say(j->to,
		    " Whether more would help cannot be decided: the number in flight did not "
		    "vary enough, and a server that serves no more at once looks the same.");
	if (varied && j->to->confidence == CONFIDENCE_LOW)
		say(j->to, " How much more would help cannot be decided.");
}

/* Hold time H of total T: with slots enough, each call takes H at best, so the gain is T / H. Of intervals in which
 * calls waited for a part of the time, that part counts: all @slots (0: unknown) were in use in it. */
static double most_gain(const struct server_sums *v, double slots)
{
	double waited = (double)v->waits.queued.total_ns - (double)v->waits.queued.hold_ns;

	if (v->waits.most > 0)
		return v->waits.most;
	if (v->waits.steady.hold_ns)
		return (double)v->waits.steady.total_ns / (double)v->waits.steady.hold_ns;
	if (v->waits.full.hold_ns)
		return (double)v->waits.full.total_ns / (double)v->waits.full.hold_ns;
	return larger(ratio((double)v->waits.queued.total_ns, (double)v->waits.queued.hold_ns),
		      1 + ratio(waited, slots * (double)v->waits.queued_ns));
}

/* Whether an answer takes nearly as long at both loads. One that is faster at the high load shows that
 * the server has changed meanwhile: its cache is warm, for example. */
static bool is_flat(const struct verdict_numbers *n)
{
	return n->high.rtt_ns <= FLAT * n->low.rtt_ns && n->low.rtt_ns <= FLAT * n->high.rtt_ns;
}

void judge_slots(struct judgement *j, enum bound limit)
{
	const char *what = limit == BOUND_SESSION ? "session slots" : "RPC slots";
	double transports = limit == BOUND_SESSION ? (j->v->transports ? j->v->transports : 1) :
						     transports_of(j->v);
	double share = limit == BOUND_SESSION ? 1 : transports, known = slots_of(j->v, limit);
	double slots = known > 0 ? known : slots_held(j), gain = most_gain(j->v, known);
	double wanted = slots * gain, flat;
	const struct load_sums *loads = main_loads(j->v);
	struct verdict_numbers *n = &j->to->numbers;
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
	decide(j->to, limit, CONFIDENCE_LOW);
	if (varied && n->rtt_ns >= n->hold_ns / 2 && is_flat(n)) {
		flat = extrapolate(j, slots, slots * gain);
		if (flat >= slots * WORTH_IT || flat >= slots * gain) {
			/* A server with a worker for each slot looks the same, unless most of the time
			 * passes on the way to it: then few workers are busy. */
			j->to->confidence = n->min_rtt_ns >= FAR * n->rtt_ns ? CONFIDENCE_HIGH :
									       CONFIDENCE_MEDIUM;
			wanted = flat;
			expected = true;
		}
	}
	wanted = power_of_two_above(wanted / share) * share;
	if (wanted > most_slots(j->v, limit))
		wanted = most_slots(j->v, limit);
	set_gain(j, slots, wanted, gain, expected);
	say_slots(j, slots, slots * gain, varied, what);
	set_slots(j, limit, (uint32_t)(wanted + 0.999));
}
