/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One server in one interval, while sums.c adds it; and an unfinished verdict, in which verdict.c has the order of the
 * rules. Each subject with a theory of its own has a file with both: above.c, loads.c, network.c, silence.c, slots.c. Only
 * these seven files include this header. */
#pragma once

#include "limits/sums.h"

/* ---- an interval ---- */

struct interval {
	const struct delta *d;
	const struct rpc_server_state *server;
	const char *name;
	uint64_t ns;
	uint64_t received_bytes; /* by TCP */
	uint64_t calls, replies, timeouts, connects;
	uint64_t clients, sessions; /* calls by which a client makes itself, or a session, known */
	uint64_t late; /* calls that took LATE_NS or more */
	uint64_t longest_ns; /* the longest call took at least so long; 0: not known */
	uint64_t total_ns, phase_ns[RPC_PHASES];
	struct active_time active; /* all of it, without that of calls that slept before */
	struct load_sums kinds[CALL_KINDS]; /* CALL_OTHER: only the operation with most calls */
	const char *op; /* the operation in CALL_OTHER; NULL: there is none */
	bool grown; /* the server has granted the session more slots */
};

uint64_t depth_count(const struct depth_histogram *h); /* the number of values */
uint64_t calls_from(const struct time_histogram *h, uint64_t ns); /* that took @ns or more */

/* Each adds a part of the interval to the sums. */
void loads_add(struct server_sums *v, const struct interval *n); /* calls at its load */
void paths_add(struct server_sums *v, const struct interval *n); /* round trips and windows */
void slot_waits_add(struct server_sums *v, const struct interval *n);

/* Updates the time without an answer and the last stall. Returns whether the interval belongs to a stall, or is one of the two
 * after it: then nothing else of it is added. */
bool stall_covers(struct server_sums *v, struct interval *n);

/* Whether the interval is so soon after a stall that each client makes itself known, if the server has restarted. */
bool is_in_grace(const struct server_sums *v);

/* Notes the slots of transport @t of the snapshot at the end. *@waited: whether calls waited for those noted so far; it begins as false. */
void slots_note(struct server_sums *v, const struct rpc_transport_state *t, bool *waited);

/* Adds @from to the active time @to; with -1 as @sign it is taken away. */
void active_time_add(struct active_time *to, const struct active_time *from, uint64_t sign);

/* ---- a verdict ---- */

/* Fewer calls prove nothing, nor does a mean of fewer values. */
#define ENOUGH_CALLS 20
/* A call that takes this long is slow, whatever the application does. */
#define SLOW_NS 15e6
/* The low load has at most this share of the calls in flight at the high load, or of all slots: a half, with a tolerance of 1 %. */
#define LOW_LOAD 0.505

/* What raises the throughput by a smaller factor is not worth a remount. */
#define WORTH_IT 1.25

struct judgement {
	const struct server_sums *v;
	struct verdict *to;
	double time[BOUNDS]; /* the hold time divided by what takes it, ns */
	double total; /* the whole hold time, ns */
	bool idle; /* NFS is used too little to limit the programs */
	bool proposes; /* a change is worth its risk: not idle, and the calls succeed */
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

/* The precision and the value for %.*g: three digits or two, and no exponent. */
#define FIGURE(x) (x) < 999.5 ? 3 : (x) < 9999.5 ? 4 : (x) < 99999.5 ? 5 : 6, x
#define FIGURE_2(x) (x) < 99.5 ? 2 : FIGURE(x)

/* Appends to the sentence, which is cut at its size. */
__attribute__((format(printf, 2, 3))) void say(struct verdict *to, const char *format, ...);

/* Decides, and appends the sentence. */
#define decide(to, bound, sure, ...) \
	((to)->bound_by = (bound), (to)->confidence = (sure), say(to, __VA_ARGS__))

/* Proposes a value for a setting, to which @mountpoint belongs; "": no single one. Returns whether it did. */
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

/* Whether of @calls in flight less than one would be at the server on average, and the others on the network. Any server can
 * serve that. With more calls at the server, a server that has only as many workers as there were calls would look the same. */
bool serves_any(const struct verdict_numbers *n, double calls);

/* Whether more calls in flight would bring hardly more replies; false without a comparison. */
bool is_saturated(const struct judgement *j);
/* Decides on that. */
void judge_saturated(struct judgement *j);

/* Says, after "with N in flight", how long an answer took at low load, and at high load. */
void say_loads(struct verdict *to);

/* Whether a link at its rate may delay replies, but too few looks show it. */
bool may_fill_link(const struct server_sums *v);

/* Whether data wait in queues on the network: a round trip takes much longer than the shortest one. */
bool queues_on_the_way(const struct server_sums *v);

/* Judges a server whose calls wait for slots. @limit is BOUND_SLOT or BOUND_SESSION. Decides on that limit, with a setting
 * and the gain, or on the server. */
void judge_slots(struct judgement *j, enum bound limit);

/* Each decides that something is the limit, if it is, and returns whether. */
bool judge_network(struct judgement *j); /* TCP's window or a link delays replies */
bool judge_above(struct judgement *j); /* readahead, dirty pages, syncs, attributes */
/* The mean round trip of all calls, and *@op is "". If half of the time is that of few among shorter ones: of these, and one of their ops. */
double main_mean(const struct judgement *j, const char **op);
bool judge_lock(struct judgement *j); /* tasks wait for a file's lock */
bool judge_delayed(struct judgement *j); /* calls for metadata wait before retries */
void say_delays(struct judgement *j); /* how many answers ask for later retries, and the last one */
bool judge_denied(struct judgement *j); /* tasks wait for fcntl locks */
bool judge_refused(struct judgement *j); /* a user repeatedly tries what the server refuses */

/* If most of the calls' time goes to small READs or WRITEs, because the mount allows no larger ones: says so, and proposes
 * the largest size that the server allows. */
void note_sizes(struct judgement *j);
