// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "limits/judgement.h"

#include <stdarg.h>

/* ---- the constants of docs/VERDICT.md ---- */

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

static void append(struct verdict *to, const char *format, va_list args)
{
	size_t len = strlen(to->sentence);

	vsnprintf(to->sentence + len, sizeof(to->sentence) - len, format, args);
}

void say(struct verdict *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(to, format, args);
	va_end(args);
}

void decide(struct verdict *to, enum bound bound, enum confidence confidence, const char *format,
	    ...)
{
	va_list args;

	to->bound_by = bound;
	to->confidence = confidence;
	va_start(args, format);
	append(to, format, args);
	va_end(args);
}

bool propose(const struct judgement *j, const char *setting, uint64_t value, const char *mountpoint)
{
	struct verdict *to = j->to;

	if (!j->proposes)
		return false;
	snprintf(to->setting, sizeof(to->setting), "%s", setting);
	snprintf(to->value, sizeof(to->value), "%" PRIu64, value);
	snprintf(to->mountpoint, sizeof(to->mountpoint), "%s", mountpoint);
	return true;
}

/* ---- loads ---- */

static void add_sums(struct load_sums *to, const struct load_sums *from)
{
	to->calls += from->calls;
	to->in_flight += from->in_flight;
	to->rtt_ns += from->rtt_ns;
	to->bytes += from->bytes;
}

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

double shown_in_flight(const struct verdict_numbers *n)
{
	return n->slots && n->high.in_flight > n->slots ? n->slots : n->high.in_flight;
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
	       "More calls in flight are served later: with %.1f an answer took %.3g ms, with "
	       "%.1f it took %.3g ms.",
	       n->low.in_flight, n->low.rtt_ns / 1e6, shown_in_flight(n), n->high.rtt_ns / 1e6);
	say(j->to,
	    " A server that has become slower meanwhile, or calls that cost it more, look the same.");
	if (n->carrying_share >= PAUSING)
		say(j->to, " So does a link at its rate.");
}
