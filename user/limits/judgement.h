/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict in the making: its sentence, and the calls' times at low and at high load. The rules of verdict.c,
 * network.c and slots.c share it; nothing else includes it. */
#pragma once

#include "limits/sums.h"

/* Fewer calls at a load prove nothing. */
#define ENOUGH_CALLS 20
/* Fewer calls at once than this, on average: nothing is limited. */
#define IDLE 0.05
/* Of the calls in flight at the high load, or of all slots: half or less. */
#define LOW_LOAD 0.505

struct judgement {
	const struct server_sums *v;
	struct verdict *to;
	double time[BOUNDS]; /* of the calls, by what they were held up by, ns */
	double total; /* ... without waits for slots, ns */
	double slope; /* an answer takes so much longer for each further call in flight, ns */
};

/* 0 if there is no whole. */
static inline double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Appends to the sentence; cuts it at its size. */
__attribute__((format(printf, 2, 3))) void say(struct verdict *to, const char *format, ...);

void decide(struct verdict *to, enum bound bound, enum confidence confidence);

/* As the share of the time that is spent so. */
enum confidence by_share(double share);

/* The LOADS of the kind of calls that took most of the time. */
const struct load_sums *main_loads(const struct server_sums *v);

/* The sum of @loads with @from to @below calls in flight on a transport. */
struct load_sums load_sums_between(const struct load_sums *loads, double from, double below);

/* Notes the calls at low and at high load in the verdict's numbers. Returns whether they can be compared. The slope
 * is then that of the line between them, or a steeper one from any of @loads that is half of the high one or less: a
 * server may be busy only from such a load on. */
bool compare_loads(struct judgement *j, const struct load_sums *loads, const struct load_sums *low,
		   const struct load_sums *high);

/* Whether an answer takes nearly as long at both loads that it found: less at high load shows that the server has changed. */
bool is_flat(const struct verdict_numbers *n);

/* Whether the server gives hardly more answers for any more calls in flight. False without a comparison. */
bool is_saturated(const struct judgement *j);

/* Decides that it is so. */
void judge_saturated(struct judgement *j);

/* How many calls on a transport the sentence names for the high load: no more than there are slots. Of
 * calls that took longer than the interval in which they ended the average exceeds them. */
double shown_in_flight(const struct verdict_numbers *n);

/* Decides that the network is the limit of calls that wait for replies, if it is. Returns whether it is. */
bool judge_network(struct judgement *j);

/* Whether a link at its rate may make replies late, by too few looks to decide it. */
bool may_fill_link(const struct server_sums *v);

/* Whether the connection's data wait on their way: what TCP sends takes much longer than it might. */
bool queues_on_the_way(const struct server_sums *v);

/* Decides on a server whose calls wait for slots of @limit, BOUND_SLOT or BOUND_SESSION: that limit,
 * with the setting and the gain, or the server. */
void judge_slots(struct judgement *j, enum bound limit);

/* Decides that readahead, dirty pages, syncs or attributes keep so little in flight, if one does. Returns whether. */
bool judge_above(struct judgement *j);

/* Decides that tasks wait for a file's lock, if more do than calls are in flight. Returns whether. */
bool judge_lock(struct judgement *j);

/* Decides that callers of calls for metadata wait before retries, in calls or between them, if most do. Returns whether. */
bool judge_delayed(struct judgement *j);

/* Adds to the sentence that the mount has most of the calls' time go to small READs or WRITEs, if it does, and proposes larger
 * ones: as large as the server allows. */
void note_sizes(struct judgement *j);
