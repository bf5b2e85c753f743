// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The calls' times by load: how long an answer takes with so many calls in flight on a transport.
 *
 * A server that serves more calls at once answers as fast with 16 in flight as with 4. One that serves a call at a time
 * takes four times as long. Only a load that varied shows which of the two it is: the two ends are compared.
 *
 * The load of an interval is what its calls met as they ended, not the mean over the interval: an interval that is half
 * idle has half the mean, but its answers took as long as in a busy one. The mean over time is used only where calls
 * waited for slots in nine tenths of the interval: calls that end together find fewer and fewer others in flight, and
 * what they met is then too low.
 *
 * An interval counts for one kind of calls only if nine tenths of its calls are of that kind, because the number in flight
 * is known of all kinds together. */
#include "limits/judgement.h"

/* Two loads can be compared if one has this many times the calls in flight. */
#define LOAD_RATIO 1.5
/* A server is saturated if no number of calls in flight would raise the throughput by this factor. */
#define SATURATED_GAIN 1.5
/* Replies take nearly as long at two loads if their times differ by this factor at most. */
#define FLAT 1.2
/* If the throughput falls by a larger factor while more calls are in flight, the server has changed. */
#define MOST_FALL 1.25
/* A link pauses if it carries data at less than this share of the looks. */
#define PAUSING 0.3
/* The network's round trip is most of the time until an answer, and as long as between cities. */
#define FAR_SHARE 0.5
#define FAR_NS 1e6
/* Calls are not compared if their sizes differ by a larger factor. */
#define SAME_SIZE 1.25

enum call_kind call_kind_of(const char *op)
{
	if (!strncmp(op, "READ", 4) && (!op[4] || !strcmp(op + 4, "_PLUS")))
		return CALL_READ;
	return strcmp(op, "WRITE") ? CALL_OTHER : CALL_WRITE;
}

/* The mean number of calls in flight on a transport over time, by Little's law. 0: calls did not wait for slots in nine
 * tenths of the interval, and the mean over time says little about the calls. */
static double busy_in_flight(const struct server_sums *v, const struct interval *n)
{
	uint64_t waited = n->active.saturated_ns[RPC_LIMIT_SLOT];

	RAISE(waited, n->active.saturated_ns[RPC_LIMIT_SESSION]);
	if (waited < n->ns / 10 * 9 || !v->transports)
		return 0;
	return (double)n->phase_ns[RPC_PHASE_RTT] / (double)n->ns / v->transports;
}

/* Each operation that neither reads nor writes takes its own time. CALL_OTHER therefore holds one operation: the one that
 * has taken most time so far. Returns whether it is the interval's operation. */
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

static void add_sums(struct load_sums *to, const struct load_sums *from)
{
	to->calls += from->calls;
	to->in_flight += from->in_flight;
	to->rtt_ns += from->rtt_ns;
	to->bytes += from->bytes;
}

void loads_add(struct server_sums *v, const struct interval *n)
{
	const struct depth_histogram *pending = &n->server->depth[RPC_QUEUE_PENDING];
	uint64_t calls = depth_count(pending);
	double in_flight, busy = busy_in_flight(v, n);
	uint32_t load;

	if (!calls)
		return;
	in_flight = 1 + (double)pending->sum / (double)calls;
	RAISE(in_flight, busy);
	load = histogram_index((uint64_t)(in_flight * 16), 2, DEPTH_OVERFLOW);
	for (int k = 0; k < CALL_KINDS; k++) {
		struct load_sums of = n->kinds[k];

		if (10 * n->kinds[k].calls < 9 * n->calls ||
		    (k == CALL_OTHER && n->op && !is_main_op(v, n)))
			continue;
		of.in_flight = in_flight * (double)of.calls;
		add_sums(&v->loads[k][load], &of);
	}
}

/* ---- the verdict ---- */

struct load_sums load_sums_between(const struct load_sums *loads, double from, double below)
{
	struct load_sums sums = {};

	for (int i = 0; i < LOADS; i++) {
		double in_flight = ratio(loads[i].in_flight, (double)loads[i].calls);

		if (in_flight >= from && in_flight < below)
			add_sums(&sums, &loads[i]);
	}
	return sums;
}

static struct verdict_load load_of(const struct load_sums *s)
{
	double calls = (double)s->calls;

	return (struct verdict_load){ s->calls, ratio(s->in_flight, calls),
				      ratio((double)s->rtt_ns, calls) };
}

const struct load_sums *main_loads(const struct server_sums *v)
{
	uint64_t most = 0;
	int kind = CALL_OTHER;

	for (int k = 0; k < CALL_KINDS; k++) {
		uint64_t ns = 0;

		for (int i = 0; i < LOADS; i++)
			ns += v->loads[k][i].rtt_ns;
		if (ns > most) {
			most = ns;
			kind = k;
		}
	}
	return v->loads[kind];
}

static bool loads_are_comparable(const struct load_sums *low, const struct load_sums *high)
{
	double size = ratio((double)low->bytes * (double)high->calls,
			    (double)high->bytes * (double)low->calls);

	/* If bytes are not counted, the sizes are taken as equal. */
	return low->calls >= ENOUGH_CALLS && high->calls >= ENOUGH_CALLS &&
	       load_of(high).in_flight >= LOAD_RATIO * load_of(low).in_flight &&
	       low->in_flight * (double)high->rtt_ns <=
		       MOST_FALL * high->in_flight * (double)low->rtt_ns &&
	       (!low->bytes || (size < SAME_SIZE && size > 1 / SAME_SIZE));
}

static double slope_between(struct verdict_load low, struct verdict_load high)
{
	return (high.rtt_ns - low.rtt_ns) / (high.in_flight - low.in_flight);
}

bool is_flat(const struct verdict_numbers *n)
{
	return n->high.rtt_ns <= FLAT * n->low.rtt_ns && n->low.rtt_ns <= FLAT * n->high.rtt_ns;
}

bool is_far_away(const struct verdict_numbers *n)
{
	return n->min_rtt_ns >= FAR_NS && n->min_rtt_ns >= FAR_SHARE * n->rtt_ns;
}

bool compare_loads(struct judgement *j, const struct load_sums *loads, const struct load_sums *low,
		   const struct load_sums *high)
{
	struct verdict_numbers *n = &j->to->numbers;

	n->low = load_of(low);
	n->high = load_of(high);
	if (!loads_are_comparable(low, high))
		return false;
	j->slope = larger(slope_between(n->low, n->high), 0);
	for (int i = 0; i < LOADS; i++)
		if (loads_are_comparable(&loads[i], high) &&
		    load_of(&loads[i]).in_flight <= LOW_LOAD * n->high.in_flight)
			j->slope = larger(j->slope, slope_between(load_of(&loads[i]), n->high));
	return true;
}

/* By which factor the throughput N / R at high load could grow with any number of calls in flight, if the time R of a
 * reply continues to grow by the slope for each of them. The throughput then approaches 1 / slope. */
static double growth_ceiling(const struct judgement *j)
{
	const struct verdict_load *high = &j->to->numbers.high;

	return j->slope > 0 ? larger(high->rtt_ns / high->in_flight / j->slope, 1) : 1e9;
}

/* Names at most the number of slots: the average exceeds it if calls took longer than the interval in which they ended. */
void say_loads(struct verdict *to)
{
	const struct verdict_numbers *n = &to->numbers;
	double shown = n->slots && n->high.in_flight > n->slots ? n->slots : n->high.in_flight;

	say(to, " an answer took %.*g ms, with %.1f it took %.*g ms.", FIGURE(n->low.rtt_ns / 1e6),
	    shown, FIGURE(n->high.rtt_ns / 1e6));
}

bool is_saturated(const struct judgement *j)
{
	return growth_ceiling(j) < SATURATED_GAIN;
}

void judge_saturated(struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;

	j->to->gain_at_most = growth_ceiling(j);
	decide(j->to, BOUND_SERVER, CONFIDENCE_MEDIUM,
	       "More calls in flight are served later: with %.1f", n->low.in_flight);
	say_loads(j->to);
	say(j->to,
	    " A server that has become slower meanwhile, or calls that cost it more, look the same.");
	if (n->carrying_share >= PAUSING)
		say(j->to, " A link at its rate looks the same.");
}
