/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict in the making: its sentence, and the calls' times at low and at high load. Only above.c, judgement.c, network.c,
 * slots.c and verdict.c include this header. */
#pragma once

#include "limits/sums.h"

/* Fewer calls at a load prove nothing. */
#define ENOUGH_CALLS 20
/* A call that takes this long is slow, whatever the application does. */
#define SLOW_NS 15e6
/* The low load has at most this share of the calls in flight at the high load, or of all slots: a half. */
#define LOW_LOAD 0.505

struct judgement {
	const struct server_sums *v;
	struct verdict *to;
	double time[BOUNDS]; /* the hold time divided by what takes it, ns */
	double total; /* the whole hold time, ns */
	bool proposes; /* the server is used enough for a change to be worth its risk */
	double slope; /* how much longer a reply takes for each further call in flight, ns */
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

/* Appends to the sentence, which is cut at its size. */
__attribute__((format(printf, 2, 3))) void say(struct verdict *to, const char *format, ...);

/* Decides, and appends the sentence. */
__attribute__((format(printf, 4, 5))) void
decide(struct verdict *to, enum bound bound, enum confidence confidence, const char *format, ...);

/* Proposes a value for a setting, to which @mountpoint belongs; "": no single one. Returns whether. */
bool propose(const struct judgement *j, const char *setting, uint64_t value,
	     const char *mountpoint);

/* The confidence in a part that takes this share of the time. */
enum confidence by_share(double share);

/* The loads of the kind of calls that took most of the time. */
const struct load_sums *main_loads(const struct server_sums *v);

/* The sum of @loads with at least @from and less than @below calls in flight on a transport. */
struct load_sums load_sums_between(const struct load_sums *loads, double from, double below);

/* Writes the calls at low and at high load to the verdict's numbers. Returns whether they can be compared. If so, sets the
 * slope: of the line between them, or of a steeper line from another of @loads that has half of the high load or less,
 * because a server may be busy only from such a load on. */
bool compare_loads(struct judgement *j, const struct load_sums *loads, const struct load_sums *low,
		   const struct load_sums *high);

/* Whether an answer takes nearly as long at both loads that it found: less at high load shows that the server has changed. */
bool is_flat(const struct verdict_numbers *n);

/* Whether the network's round trip is most of the time until an answer: the server is far away. */
bool is_far_away(const struct verdict_numbers *n);

/* Whether more calls in flight would bring hardly more replies. False without a comparison. */
bool is_saturated(const struct judgement *j);

/* Decides that the server is saturated. */
void judge_saturated(struct judgement *j);

/* The calls in flight at high load that the sentence names: at most the number of slots. The average exceeds it if calls
 * took longer than the interval in which they ended. */
double shown_in_flight(const struct verdict_numbers *n);

/* Decides that the network limits calls that wait for replies, if it does. Returns whether. */
bool judge_network(struct judgement *j);

/* Whether a link at its rate may delay replies, but too few looks show it. */
bool may_fill_link(const struct server_sums *v);

/* Whether data wait in queues on the way: a round trip takes much longer than the shortest one. */
bool queues_on_the_way(const struct server_sums *v);

/* Judges a server whose calls wait for slots. @limit is BOUND_SLOT or BOUND_SESSION. Decides on that limit, with a setting
 * and the gain, or on the server. */
void judge_slots(struct judgement *j, enum bound limit);

/* Decides that readahead, dirty pages, syncs or attributes keep few calls in flight, if one of them does. Returns whether. */
bool judge_above(struct judgement *j);

/* Decides that tasks wait for a file's lock, if more tasks do than calls are in flight. Returns whether. */
bool judge_lock(struct judgement *j);

/* Decides that metadata calls wait before retries, within or between calls, if that is most of their time. Returns whether. */
bool judge_delayed(struct judgement *j);

/* Decides that tasks wait for fcntl locks, if that is most of their time. Returns whether. */
bool judge_denied(struct judgement *j);

/* Decides that a user tries again and again what the server refuses, if many calls end so. Returns whether. */
bool judge_refused(struct judgement *j);

/* If most of the calls' time goes to small READs or WRITEs, because the mount allows no larger ones: says so, and proposes
 * the largest size that the server allows. */
void note_sizes(struct judgement *j);
