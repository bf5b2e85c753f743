// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the calls to a server: the rules of docs/VERDICT.md. */
#include "model/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/verdict_history.h"

const char *const bound_names[BOUNDS] = {
	[BOUND_SESSION] = "session",
	[BOUND_SLOT] = "slot",
	[BOUND_SEND] = "send",
	[BOUND_DELAY] = "delay",
	[BOUND_RESEND] = "resend",
	[BOUND_CREDENTIALS] = "credentials",
	[BOUND_SERVER] = "server",
	[BOUND_CLIENT_CPU] = "client_cpu",
	[BOUND_APPLICATION] = "application",
	[BOUND_HUNG] = "hung",
	[BOUND_NONE] = "none",
};

const char *const confidence_names[CONFIDENCES] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
};

/* ---- the constants of docs/VERDICT.md ---- */

/* So long without an answer, and a call to wait for it: the server hangs. */
#define HUNG_NS UINT64_C(5000000000)
/* Fewer calls than this at once, on average: nothing is limited. */
#define IDLE 0.05
/* Fewer than this at once: the application makes one after the other. */
#define ONE_BY_ONE 2.0
/* A call that takes longer is slow whatever the application does. */
#define SLOW_NS 15e6
/* A share of the calls' time that waits for slots and shows that they are all in use. */
#define QUEUED 0.1
/* Fewer calls at a load prove nothing. */
#define ENOUGH_CALLS 20
/* From so many times the calls in flight on, two loads can be compared. */
#define LOAD_RATIO 1.5
/* Any number in flight would raise the throughput by less: the server serves no more. */
#define SATURATED_GAIN 1.5
/* An answer that takes so much longer at the high load than at the low one is as fast, or nearly. */
#define FLAT 1.1
#define NEARLY_FLAT 1.2
/* How much longer a call may take at the load that a gain is claimed for. */
#define MOST_GROWTH 1.15
/* What the times of a load may be wrong by. */
#define MARGIN 1.3
/* A network that loses more of TCP's segments is the limit of what waits for it ... */
#define LOST_SHARE 0.01
/* ... if these are more than a few. */
#define ENOUGH_LOST 10
/* A connection takes no more data if calls wait to transmit for so much of the time, and of theirs. */
#define BLOCKED_TIME 0.5
#define BLOCKED_SHARE 0.25
/* TCP sends a segment again after this time or more, if nothing came after it (TCP_RTO_MIN). */
#define RESENT_NS 200e6
/* In flight of all slots: half or less, nearly all. */
#define LOW_LOAD 0.505
#define HIGH_LOAD (2.0 / 3)
/* A setting that raises the slots by less is not worth a remount. */
#define WORTH_IT 1.25
/* Calls of sizes that differ by more are not compared. */
#define SAME_SIZE 1.25

#define MAX_TCP_SLOTS 65536 /* RPC_MAX_SLOT_TABLE_LIMIT, where there is no other limit */
#define MAX_RDMA_SLOTS 16384 /* RPCRDMA_MAX_SLOT_TABLE */
#define MAX_SESSION_SLOTS 1024 /* NFS4_MAX_SLOT_TABLE */
#define MAX_CONNECTIONS 16 /* NFS_MAX_CONNECTIONS */

struct judgement {
	const struct verdict_server *v;
	struct verdict *to;
	double time[BOUNDS]; /* of the calls, by what they were held up by */
	double total; /* ... without waits for slots */
	double slope; /* an answer takes so much longer for each further call in flight, ns */
};

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

__attribute__((format(printf, 2, 3))) static void say(struct verdict *to, const char *format, ...)
{
	size_t len = strlen(to->sentence);
	va_list args;

	va_start(args, format);
	vsnprintf(to->sentence + len, sizeof(to->sentence) - len, format, args);
	va_end(args);
}

static void decide(struct verdict *to, enum bound bound, enum confidence confidence)
{
	to->bound_by = bound;
	to->confidence = confidence;
}

/* ---- loads ---- */

static void add_sums(struct verdict_sums *to, const struct verdict_sums *from)
{
	to->calls += from->calls;
	to->in_flight += from->in_flight;
	to->rtt_ns += from->rtt_ns;
	to->bytes += from->bytes;
}

/* Calls of the kind that took most of the time with @from to @below calls in flight. */
static struct verdict_sums sums_between(const struct verdict_sums *loads, double from, double below)
{
	struct verdict_sums sums = {};

	for (int i = 0; i < VERDICT_LOADS; i++) {
		double in_flight = ratio(loads[i].in_flight, (double)loads[i].calls);

		if (in_flight >= from && in_flight < below)
			add_sums(&sums, &loads[i]);
	}
	return sums;
}

static struct verdict_load load_of(const struct verdict_sums *s)
{
	double calls = (double)s->calls;

	return (struct verdict_load){ s->calls, ratio(s->in_flight, calls),
				      ratio((double)s->rtt_ns, calls) };
}

static const struct verdict_sums *main_kind(const struct verdict_server *v)
{
	uint64_t most = 0;
	int kind = VERDICT_OTHER;

	for (int k = 0; k < VERDICT_KINDS; k++) {
		uint64_t ns = 0;

		for (int i = 0; i < VERDICT_LOADS; i++)
			ns += v->loads[k][i].rtt_ns;
		if (ns > most) {
			most = ns;
			kind = k;
		}
	}
	return v->loads[kind];
}

static bool comparable(const struct verdict_sums *low, const struct verdict_sums *high)
{
	double size = ratio((double)low->bytes * (double)high->calls,
			    (double)high->bytes * (double)low->calls);

	/* Without a count of bytes the sizes are taken for equal. */
	return low->calls >= ENOUGH_CALLS && high->calls >= ENOUGH_CALLS &&
	       load_of(high).in_flight >= LOAD_RATIO * load_of(low).in_flight &&
	       (!low->bytes || (size < SAME_SIZE && size > 1 / SAME_SIZE));
}

static double slope_between(struct verdict_load low, struct verdict_load high)
{
	return (high.rtt_ns - low.rtt_ns) / (high.in_flight - low.in_flight);
}

/*
 * Notes the calls at low and at high load. Returns whether they can be compared. The slope is that
 * of the line between them, or a steeper one from any load that is half of the high one or less: a
 * server may be busy only from such a load on.
 */
static bool compare_loads(struct judgement *j, const struct verdict_sums *loads,
			  const struct verdict_sums *low, const struct verdict_sums *high)
{
	struct verdict_numbers *n = &j->to->numbers;

	n->low = load_of(low);
	n->high = load_of(high);
	if (!comparable(low, high))
		return false;
	j->slope = larger(slope_between(n->low, n->high), 0);
	for (int i = 0; i < VERDICT_LOADS; i++)
		if (comparable(&loads[i], high) &&
		    load_of(&loads[i]).in_flight <= LOW_LOAD * n->high.in_flight)
			j->slope = larger(j->slope, slope_between(load_of(&loads[i]), n->high));
	return true;
}

/*
 * By how much the throughput N / R at the high load could grow with any number in flight, if the
 * time R of an answer grows on by a constant for each: to 1 / slope.
 */
static double ceiling(const struct judgement *j)
{
	const struct verdict_load *high = &j->to->numbers.high;

	return j->slope > 0 ? larger(high->rtt_ns / high->in_flight / j->slope, 1) : 1e9;
}

/* Calls that took longer than the interval in which they ended make its average exceed the slots. */
static double shown_in_flight(const struct verdict_numbers *n)
{
	return n->slots && n->high.in_flight > n->slots ? n->slots : n->high.in_flight;
}

/* The server gave no more answers for more calls in flight. */
static void judge_saturated(struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;

	decide(j->to, BOUND_SERVER, CONFIDENCE_HIGH);
	j->to->gain_at_most = ceiling(j);
	say(j->to,
	    "%sMore calls in flight are served later: with %.1f an answer took %.3g ms, with "
	    "%.1f it took %.3g ms.",
	    *j->to->sentence ? " " : "", n->low.in_flight, n->low.rtt_ns / 1e6, shown_in_flight(n),
	    n->high.rtt_ns / 1e6);
}

/* ---- slots ---- */

static uint32_t power_of_two_above(double n)
{
	uint32_t power = 1;

	while (power < n && power < MAX_TCP_SLOTS)
		power *= 2;
	return power;
}

/* How many slots all transports have, RPC's or the session's; without a figure, as many as
 * were held at once. */
static double slots_of(const struct judgement *j, enum bound limit)
{
	const struct verdict_numbers *n = &j->to->numbers;
	const struct verdict_server *v = j->v;

	if (limit == BOUND_SESSION && v->session_slots)
		return v->session_slots;
	if (limit == BOUND_SLOT && v->slots_max && v->slots_max < MAX_TCP_SLOTS)
		return (double)v->slots_max * (v->transports ? v->transports : 1);
	return n->concurrency * ratio((double)v->queued.hold_ns, (double)v->queued.total_ns);
}

/* The most that the setting allows, for all transports. */
static double most_slots(const struct verdict_server *v, enum bound limit)
{
	double transports = v->transports ? v->transports : 1;

	if (limit == BOUND_SESSION)
		return MAX_SESSION_SLOTS;
	return transports * (strcmp(v->protocol, "rdma") ? MAX_TCP_SLOTS : MAX_RDMA_SLOTS);
}

static void set_slots(struct judgement *j, enum bound limit, uint32_t slots)
{
	struct verdict *to = j->to;
	const struct verdict_server *v = j->v;

	if (limit == BOUND_SESSION) {
		/* The server has granted fewer than the client wants: only it can grant more. */
		if (v->session_slots && v->session_slots < v->session_slots_wanted) {
			say(to,
			    " The server grants %u of the %u session slots that the client asks for: "
			    "raise the server's own limit; nconnect does not help.",
			    v->session_slots, v->session_slots_wanted);
			return;
		}
		snprintf(to->setting, sizeof(to->setting), "nfs.max_session_slots");
		say(to, " All connections share the session: nconnect does not help.");
	} else {
		bool own = !strcmp(v->protocol, "rdma") || !strcmp(v->protocol, "udp");

		snprintf(to->setting, sizeof(to->setting), "sunrpc.%s_slot_table_entries",
			 own ? v->protocol : "tcp_max");
		if (v->transports > 1)
			slots = (slots + v->transports - 1) / v->transports;
		say(to, " nconnect would add as many slots for each connection.");
	}
	snprintf(to->value, sizeof(to->value), "%u", slots);
	to->remount = true;
}

/*
 * With calls in flight seen at half the slots or fewer and at nearly all of them: up to how many
 * slots the calls' time is predicted to grow by MOST_GROWTH at most, and no further beyond the
 * slots than the session saw below them; at most @wanted. Sets gain_at_least for as many.
 */
static double extrapolate(struct judgement *j, double slots, double wanted)
{
	const struct verdict_numbers *n = &j->to->numbers;
	double per_slot = j->slope / (j->v->transports ? j->v->transports : 1) / n->hold_ns;
	double most = slots * n->high.in_flight / n->low.in_flight, growth;

	if (per_slot > 0 && most > slots + (MOST_GROWTH - 1) / per_slot)
		most = slots + (MOST_GROWTH - 1) / per_slot;
	if (wanted > most)
		wanted = (uint32_t)most;
	growth = 1 + per_slot * (wanted - slots);
	j->to->gain_at_least = wanted / slots / growth / MARGIN;
	if (j->to->gain_at_least < 1)
		j->to->gain_at_least = 1;
	return wanted;
}

static void say_slots(struct judgement *j, double slots, double wanted, bool varied,
		      const char *what)
{
	const struct verdict_numbers *n = &j->to->numbers;

	say(j->to, "All %.0f %s are in use while %.1f calls want one.", slots, what, wanted);
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

/* Hold time H of total T: with slots enough, each call takes H at best, so the gain is T / H. */
static double most_gain(const struct verdict_server *v)
{
	if (v->steady.hold_ns)
		return (double)v->steady.total_ns / (double)v->steady.hold_ns;
	if (v->full.hold_ns)
		return (double)v->full.total_ns / (double)v->full.hold_ns;
	return ratio((double)v->queued.total_ns, (double)v->queued.hold_ns);
}

static void judge_slots(struct judgement *j, enum bound limit)
{
	const char *what = limit == BOUND_SESSION ? "session slots" : "RPC slots";
	double transports = j->v->transports ? j->v->transports : 1, gain = most_gain(j->v);
	const struct verdict_sums *loads = main_kind(j->v);
	double slots = slots_of(j, limit), wanted = power_of_two_above(slots * gain), flat;
	struct verdict_numbers *n = &j->to->numbers;
	struct verdict_sums low, high;
	bool varied;

	n->slots = (uint32_t)(slots / transports + 0.5);
	low = sums_between(loads, 0, slots / transports * LOW_LOAD);
	high = sums_between(loads, slots / transports * HIGH_LOAD, 1e9);
	varied = compare_loads(j, loads, &low, &high);
	if (varied && ceiling(j) < SATURATED_GAIN) {
		say(j->to, "Calls wait for %s, but more slots would hardly help.", what);
		judge_saturated(j);
		return;
	}
	decide(j->to, limit, CONFIDENCE_LOW);
	if (varied && n->rtt_ns >= n->hold_ns / 2 &&
	    n->high.rtt_ns <= NEARLY_FLAT * n->low.rtt_ns) {
		flat = extrapolate(j, slots, slots * gain);
		if (flat >= slots * WORTH_IT || flat >= slots * gain) {
			j->to->confidence = n->high.rtt_ns <= FLAT * n->low.rtt_ns ?
						    CONFIDENCE_HIGH :
						    CONFIDENCE_MEDIUM;
			wanted = flat;
		} else {
			j->to->gain_at_least = 1;
		}
	}
	if (wanted > most_slots(j->v, limit))
		wanted = most_slots(j->v, limit);
	j->to->gain_at_most = gain < wanted / slots ? gain : wanted / slots;
	if (j->to->gain_at_least > j->to->gain_at_most)
		j->to->gain_at_least = j->to->gain_at_most;
	say_slots(j, slots, slots * gain, varied, what);
	set_slots(j, limit, (uint32_t)(wanted + 0.999));
}

/* ---- server or application ---- */

static void judge_server(struct judgement *j)
{
	const struct verdict_sums *loads = main_kind(j->v);
	struct verdict_numbers *n = &j->to->numbers;
	struct verdict_sums low = {}, high = {};
	double most = n->concurrency > n->in_flight ? n->concurrency : n->in_flight;
	bool slow = n->rtt_ns >= SLOW_NS, varied;

	for (int i = 0; i < VERDICT_LOADS; i++) {
		if (loads[i].calls < ENOUGH_CALLS)
			continue;
		if (!low.calls)
			low = loads[i];
		high = loads[i];
	}
	varied = compare_loads(j, loads, &low, &high);
	if (varied && ceiling(j) < SATURATED_GAIN) {
		judge_saturated(j);
	} else if (slow) {
		decide(j->to, BOUND_SERVER, CONFIDENCE_MEDIUM);
		say(j->to, "The server or the network takes %.3g ms for an answer.",
		    n->rtt_ns / 1e6);
		if (most < ONE_BY_ONE)
			say(j->to, " The application makes one call after the other.");
	} else if (most < ONE_BY_ONE || varied) {
		decide(j->to, BOUND_APPLICATION, varied ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		say(j->to,
		    "The application has %.2g calls at once, and an answer takes %.3g ms: "
		    "more requests at once, or larger ones, would raise the throughput.",
		    n->concurrency, n->rtt_ns / 1e6);
	} else {
		decide(j->to, BOUND_SERVER, CONFIDENCE_LOW);
		say(j->to,
		    "Most of the calls' time passes until the answer, %.3g ms with %.1f calls "
		    "at once; whether more at once would be served faster is not known.",
		    n->rtt_ns / 1e6, n->concurrency);
	}
}

/* ---- the rest ---- */

static enum confidence by_share(double share)
{
	return share >= 2.0 / 3 ? CONFIDENCE_HIGH :
	       share >= 0.5     ? CONFIDENCE_MEDIUM :
				  CONFIDENCE_LOW;
}

static void judge_part(struct judgement *j, enum bound bound)
{
	double share = ratio(j->time[bound], j->total);
	const struct verdict_server *v = j->v;
	struct verdict *to = j->to;
	uint32_t more;

	decide(to, bound, by_share(share));
	say(to, "%.0f %% of the time that calls have a slot ", 100 * share);
	switch (bound) {
	case BOUND_SEND:
		more = v->transports ? 2 * v->transports : 2;
		say(to,
		    "is spent waiting to transmit: the connection does not take data faster. More "
		    "connections help if each is limited, not if the link is.");
		to->gain_at_most = 1 / (1 - share) < 2 ? 1 / (1 - share) : 2;
		if (more > MAX_CONNECTIONS)
			break;
		snprintf(to->setting, sizeof(to->setting), "nconnect");
		snprintf(to->value, sizeof(to->value), "%u", more);
		to->remount = true;
		break;
	case BOUND_DELAY:
		say(to,
		    "is spent waiting before a retry: the server asks for it, or connecting fails.");
		break;
	case BOUND_RESEND:
		say(to,
		    "is spent sending again (%" PRIu64 " times, %" PRIu64
		    " disconnects): calls or connections are lost.",
		    v->retransmits, v->disconnects);
		break;
	case BOUND_CREDENTIALS:
		/* Of most of it only the place is known. */
		if ((double)v->credentials_ns < j->time[bound] / 2)
			to->confidence = share >= 0.5 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
		say(to, "is spent waiting for credentials: rpc.gssd or the key server is slow.");
		break;
	default:
		say(to, "is the client's own work: its CPUs are busy, or too few.");
	}
}

/* Divides the time in which calls hold a slot, and returns what took most. */
static enum bound largest_part(struct judgement *j)
{
	const struct verdict_server *v = j->v;
	double setup = (double)v->phase_ns[RPC_PHASE_SETUP] - (double)v->credentials_ns;
	enum bound largest = BOUND_SERVER;

	if (setup < 0)
		setup = 0;
	j->time[BOUND_SEND] = (double)v->phase_ns[RPC_PHASE_SEND];
	j->time[BOUND_DELAY] = (double)v->phase_ns[RPC_PHASE_DELAY];
	j->time[BOUND_RESEND] = (double)v->phase_ns[RPC_PHASE_RESEND];
	j->time[BOUND_CREDENTIALS] = (double)v->credentials_ns;
	j->time[BOUND_SERVER] = (double)v->phase_ns[RPC_PHASE_RTT];
	j->time[BOUND_CLIENT_CPU] = (double)v->phase_ns[RPC_PHASE_FINISH];
	/* It includes the time to connect, and synchronous upcalls. */
	j->time[v->disconnects ? BOUND_RESEND :
		v->kerberos    ? BOUND_CREDENTIALS :
				 BOUND_CLIENT_CPU] += setup;
	for (int b = 0; b < BOUNDS; b++) {
		j->total += j->time[b];
		if (j->time[b] > j->time[largest])
			largest = b;
	}
	return largest;
}

static void fill_numbers(struct verdict_numbers *n, const struct verdict_server *v)
{
	double calls = (double)v->calls, total = (double)v->total_ns, active = (double)v->active_ns;

	n->seconds = (double)v->ns / 1e9;
	n->active_seconds = active / 1e9;
	n->calls = v->calls;
	n->concurrency = ratio(total, active);
	n->in_flight = v->depth_calls ? 1 + (double)v->depth / (double)v->depth_calls : 0;
	n->slots = v->slots_max < MAX_TCP_SLOTS ? v->slots_max : v->session_slots;
	n->transports = v->transports;
	n->hold_ns = ratio(total - (double)v->phase_ns[RPC_PHASE_SLOT] -
				   (double)v->phase_ns[RPC_PHASE_SESSION],
			   calls);
	n->rtt_ns = ratio((double)v->phase_ns[RPC_PHASE_RTT], calls);
	for (int p = 0; p < RPC_PHASES; p++)
		n->share[p] = ratio((double)v->phase_ns[p], total);
	n->credentials_share = ratio((double)v->credentials_ns, total);
	for (int l = 0; l < RPC_LIMITS; l++)
		n->saturated_share[l] = ratio((double)v->saturated_ns[l], active);
	n->lost_share = ratio((double)v->segments_lost, (double)v->segments);
	n->oldest_ns = v->oldest_ns;
	n->retransmits = v->retransmits;
	n->timeouts = v->timeouts;
	n->disconnects = v->disconnects;
	n->connects = v->connects;
}

static bool knows_phases(uint64_t unknown)
{
	return !(unknown >> RPC_FACT_PHASE & (RPC_FACT_BIT(RPC_PHASES) - 1));
}

bool verdict_is_possible(const struct snapshot *s)
{
	return knows_phases(s->unknown);
}

static bool hangs(const struct verdict_server *v)
{
	return v->silent_ns && v->oldest_ns >= HUNG_NS &&
	       (v->silent_ns >= HUNG_NS || v->silent_ns == v->ns);
}

/* Whether TCP loses many segments, or few that hold calls up: where these come one by one, nothing
 * is sent after a lost one, so that it is sent again after RESENT_NS at the earliest. A WRITE may
 * lose many at once. */
static bool loses_segments(const struct judgement *j)
{
	const struct verdict_server *v = j->v;

	if (v->segments_lost < ENOUGH_LOST)
		return false;
	return j->to->numbers.lost_share >= LOST_SHARE ||
	       (j->to->numbers.concurrency < ONE_BY_ONE &&
		main_kind(v) != v->loads[VERDICT_WRITE] &&
		(double)v->segments_lost * RESENT_NS >= (double)v->phase_ns[RPC_PHASE_RTT] / 2);
}

/* Whether calls wait to transmit most of the time: then those before them are in the socket's full
 * buffer, and a part of the time until their answers is the same wait. */
static bool is_blocked(const struct judgement *j)
{
	return j->to->numbers.saturated_share[RPC_LIMIT_SEND] >= BLOCKED_TIME &&
	       j->time[BOUND_SEND] >= BLOCKED_SHARE * j->total;
}

static void judge_calls(struct judgement *j)
{
	const double *share = j->to->numbers.share;
	enum bound part = largest_part(j);
	bool one_by_one = j->to->numbers.concurrency < ONE_BY_ONE;

	/* One short call after the other: what part of it is the client's does not matter. */
	if (part == BOUND_CLIENT_CPU && one_by_one && j->to->numbers.hold_ns < SLOW_NS / 2)
		part = BOUND_SERVER;
	if (part == BOUND_SERVER && is_blocked(j))
		part = BOUND_SEND;
	if ((part == BOUND_SERVER || part == BOUND_SEND) && loses_segments(j)) {
		decide(j->to, BOUND_RESEND, CONFIDENCE_MEDIUM);
		say(j->to,
		    "The network loses packets: %.1f %% of TCP's segments were sent again or "
		    "came late.",
		    100 * j->to->numbers.lost_share);
	} else if (part != BOUND_SERVER)
		judge_part(j, part);
	else if (share[RPC_PHASE_SLOT] + share[RPC_PHASE_SESSION] >= QUEUED ||
		 2 * j->v->queued.total_ns >= j->v->total_ns)
		judge_slots(j, share[RPC_PHASE_SLOT] > share[RPC_PHASE_SESSION] ? BOUND_SLOT :
										  BOUND_SESSION);
	else
		judge_server(j);
}

struct verdict verdict_of(const struct verdict_history *h, const char *server)
{
	const struct verdict_server *v = verdict_server_of(h, server);
	struct verdict to = { .gain_at_least = 1, .bound_by = BOUND_NONE };

	snprintf(to.server, sizeof(to.server), "%s", server);
	if (v)
		fill_numbers(&to.numbers, v);
	if (v && hangs(v)) {
		decide(&to, BOUND_HUNG, CONFIDENCE_HIGH);
		say(&to,
		    "No call is answered: the oldest waits for %.0f s, and nothing came for %.0f s.",
		    (double)v->oldest_ns / 1e9, (double)v->silent_ns / 1e9);
	} else if (v && !v->calls && v->credentials_ns) {
		decide(&to, BOUND_CREDENTIALS, CONFIDENCE_HIGH);
		say(&to,
		    "No call ended; they wait for credentials: rpc.gssd or the key server does "
		    "not answer.");
	} else if (!v || !v->calls) {
		say(&to, "No call ended, so nothing can be said.");
	} else if (to.numbers.concurrency < IDLE) {
		decide(&to, BOUND_NONE, CONFIDENCE_HIGH);
		say(&to, "Nothing limits the calls: on average there are %.2g at once.",
		    to.numbers.concurrency);
	} else if (!knows_phases(v->unknown)) {
		say(&to,
		    "It cannot be decided what limits the calls: their phases are not measured.");
	} else {
		judge_calls(&(struct judgement){ .v = v, .to = &to });
	}
	return to;
}
