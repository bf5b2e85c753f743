// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the calls to a server: the rules of docs/VERDICT.md. */
#include "limits/verdict.h"

#include "base/time_text.h"
#include "limits/judgement.h"

const char *const bound_names[BOUNDS] = {
	[BOUND_SESSION] = "session",
	[BOUND_SLOT] = "slot",
	[BOUND_SEND] = "send",
	[BOUND_DELAY] = "delay",
	[BOUND_RESEND] = "resend",
	[BOUND_CREDENTIALS] = "credentials",
	[BOUND_NETWORK] = "network",
	[BOUND_SERVER] = "server",
	[BOUND_CLIENT_CPU] = "client_cpu",
	[BOUND_APPLICATION] = "application",
	[BOUND_READAHEAD] = "readahead",
	[BOUND_WRITEBACK] = "writeback",
	[BOUND_METADATA] = "metadata",
	[BOUND_HUNG] = "hung",
	[BOUND_NONE] = "none",
};

const char *const confidence_names[CONFIDENCES] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
};

/* ---- the constants of docs/VERDICT.md ---- */

/* Fewer than this at once: the application makes one after the other. */
#define ONE_BY_ONE 2.0
/* Hardly ever more than one. */
#define ONLY_ONE 1.2
/* A call that takes longer is slow whatever the application does. */
#define SLOW_NS 15e6
/* A share of the calls' time that waits for slots and shows that they are all in use. */
#define QUEUED 0.1
/* A network that loses more of TCP's segments is the limit of what waits for it ... */
#define LOST_SHARE 0.01
/* ... if these are more than a few. */
#define ENOUGH_LOST 10
/* A task waits for a CPU in so much of the time: the CPUs are busy; they are too few for what runs ... */
#define CPU_BUSY 0.4
#define CPU_SHORT 0.6
/* ... and calls are the later for it if so much of their time is the client's own work. */
#define SHORT_SHARE 0.1
/* A connection takes no more data if calls wait to transmit for so much of the time, and of theirs. */
#define BLOCKED_TIME 0.5
#define BLOCKED_SHARE 0.25

/* After so long, what is known of calls that began before the observation suffices; until then their share matters from
 * here on. */
#define KNOWN_NS UINT64_C(10000000000)
#define EARLIER_SHARE 0.1

#define MAX_CONNECTIONS 16 /* NFS_MAX_CONNECTIONS */

/* ---- server or application ---- */

static void judge_server(struct judgement *j)
{
	const struct load_sums *loads = main_loads(j->v);
	struct verdict_numbers *n = &j->to->numbers;
	struct load_sums low = {}, high = {};
	double most = n->concurrency > n->in_flight ? n->concurrency : n->in_flight;
	bool slow = n->rtt_ns >= SLOW_NS, varied;

	for (int i = 0; i < LOADS; i++) {
		if (loads[i].calls < ENOUGH_CALLS)
			continue;
		if (!low.calls)
			low = loads[i];
		high = loads[i];
	}
	varied = compare_loads(j, loads, &low, &high);
	if (is_saturated(j)) {
		judge_saturated(j);
	} else if (judge_above(j)) {
		return;
	} else if (slow) {
		decide(j->to, BOUND_SERVER, CONFIDENCE_MEDIUM);
		say(j->to, "The server or the network takes %.3g ms for an answer",
		    n->rtt_ns / 1e6);
		if (n->min_rtt_ns > 0)
			say(j->to, ", of which a round trip through the network is at most %.3g ms",
			    n->min_rtt_ns / 1e6);
		say(j->to, ".");
		if (most < ONLY_ONE)
			say(j->to, " The application makes one call after the other.");
	} else if (most < ONE_BY_ONE || varied) {
		decide(j->to, BOUND_APPLICATION,
		       varied && is_flat(&j->to->numbers) ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
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
	note_sizes(j);
}

/* ---- the rest ---- */

enum confidence by_share(double share)
{
	return share >= 2.0 / 3 ? CONFIDENCE_HIGH :
	       share >= 0.5     ? CONFIDENCE_MEDIUM :
				  CONFIDENCE_LOW;
}

static void judge_part(struct judgement *j, enum bound bound)
{
	double share = ratio(j->time[bound], j->total);
	const struct server_sums *v = j->v;
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
		if (!queues_on_the_way(j->v)) {
			if (to->confidence == CONFIDENCE_HIGH)
				to->confidence = CONFIDENCE_MEDIUM;
			say(to, " No queue on the way is seen: a server that does not take data "
				"faster looks the same.");
		}
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
		if (to->numbers.cpu_waiting_share > 0)
			say(to, " A task waited for a CPU in %.0f %% of the time.",
			    100 * to->numbers.cpu_waiting_share);
	}
}

/* Divides the time in which calls hold a slot, and returns what took most. */
static enum bound largest_part(struct judgement *j)
{
	const struct server_sums *v = j->v;
	double setup = (double)v->phase_ns[RPC_PHASE_SETUP] - (double)v->credentials_ns;
	enum bound largest = BOUND_SERVER;

	RAISE(setup, 0);
	j->time[BOUND_SEND] = (double)v->phase_ns[RPC_PHASE_SEND];
	j->time[BOUND_DELAY] = (double)v->phase_ns[RPC_PHASE_DELAY];
	j->time[BOUND_RESEND] = (double)v->phase_ns[RPC_PHASE_RESEND];
	j->time[BOUND_CREDENTIALS] = (double)v->credentials_ns;
	j->time[BOUND_SERVER] = (double)v->phase_ns[RPC_PHASE_RTT];
	j->time[BOUND_CLIENT_CPU] = (double)v->phase_ns[RPC_PHASE_FINISH];
	/* It includes the time to connect anew, for calls beside those that are sent again, and synchronous upcalls. */
	j->time[v->disconnects && v->phase_ns[RPC_PHASE_RESEND] ? BOUND_RESEND :
		v->kerberos                                     ? BOUND_CREDENTIALS :
								  BOUND_CLIENT_CPU] += setup;
	for (int b = 0; b < BOUNDS; b++) {
		j->total += j->time[b];
		if (j->time[b] > j->time[largest])
			largest = b;
	}
	return largest;
}

static void fill_numbers(struct verdict_numbers *n, const struct server_sums *v)
{
	double calls = (double)v->calls, total = (double)v->total_ns, active = (double)v->active.ns;

	n->seconds = (double)v->ns / 1e9;
	n->stall_seconds = (double)v->stall.ns / 1e9;
	n->active_seconds = active / 1e9;
	n->calls = v->calls;
	n->concurrency = ratio(total, active);
	n->in_flight = v->depth_calls ? 1 + (double)v->depth / (double)v->depth_calls : 0;
	n->slots = v->slots_max < RPC_SLOTS_UNLIMITED ? v->slots_max : v->session_slots;
	n->transports = v->transports;
	n->hold_ns = ratio(total - (double)v->phase_ns[RPC_PHASE_SLOT] -
				   (double)v->phase_ns[RPC_PHASE_SESSION],
			   calls);
	n->rtt_ns = ratio((double)v->phase_ns[RPC_PHASE_RTT], calls);
	for (int p = 0; p < RPC_PHASES; p++)
		n->share[p] = ratio((double)v->phase_ns[p], total);
	n->credentials_share = ratio((double)v->credentials_ns, total);
	n->earlier_share = ratio((double)v->earlier_ns, total + (double)v->earlier_ns);
	for (int l = 0; l < RPC_LIMITS; l++)
		n->saturated_share[l] = ratio((double)v->active.saturated_ns[l], active);
	n->cpu_waiting_share = ratio((double)v->active.cpu_waiting_ns, active);
	n->window_bytes = ratio(v->rcv_wnd, v->path_ns);
	n->window_share = ratio(v->window_filled, v->path_ns);
	n->carrying_share = ratio(v->carrying, v->path_ns);
	n->min_rtt_ns = ratio(v->min_rtt_ns, v->path_ns);
	n->srtt_ns = ratio(v->srtt_ns, v->path_ns);
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

bool verdict_is_possible(const struct calls *c)
{
	return knows_phases(c->unknown);
}

static bool server_is_silent(const struct server_sums *v)
{
	if (v->silent_ns >= HUNG_NS)
		return true;
	return v->silent_ns == v->ns && v->oldest_ns >= HUNG_NS;
}

uint64_t server_hangs(const struct limit_sums *h, const char *server)
{
	const struct server_sums *v = server_sums_of(h, server);

	if (!v || !server_is_silent(v))
		return 0;
	return v->silent_ns > v->oldest_ns ? v->silent_ns : v->oldest_ns;
}

/* Whether TCP loses many segments, or few that hold calls up: where these come one by one, nothing
 * is sent after a lost one, so that it is sent again after LATE_NS at the earliest. A WRITE may
 * lose many at once. Calls must have taken as long. */
static bool loses_segments(const struct judgement *j)
{
	const struct server_sums *v = j->v;

	if (v->segments_lost < ENOUGH_LOST)
		return false;
	return j->to->numbers.lost_share >= LOST_SHARE ||
	       (j->to->numbers.concurrency < ONE_BY_ONE && main_loads(v) != v->loads[CALL_WRITE] &&
		v->late_calls >= v->segments_lost &&
		v->segments_lost * LATE_NS >= v->phase_ns[RPC_PHASE_RTT] / 2);
}

/* Whether calls wait to transmit most of the time: then those before them are in the socket's full
 * buffer, and a part of the time until their answers is the same wait. */
static bool is_blocked(const struct judgement *j)
{
	return j->to->numbers.saturated_share[RPC_LIMIT_SEND] >= BLOCKED_TIME &&
	       j->time[BOUND_SEND] >= BLOCKED_SHARE * j->total;
}

/* One short call after the other, with a CPU for each when it wants one: what part of it is the client's
 * work does not matter. */
static bool is_one_short_call(const struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;

	return n->concurrency < ONE_BY_ONE && n->hold_ns < SLOW_NS / 2 &&
	       n->cpu_waiting_share < CPU_BUSY;
}

/* Whether the client's CPUs are too few, and its calls wait for them. A task that is woken by an answer
 * waits in FINISH, but what receives the answer waits in RTT, as if the server took longer. */
static bool lacks_cpu(const struct judgement *j)
{
	return j->to->numbers.cpu_waiting_share >= CPU_SHORT &&
	       j->time[BOUND_CLIENT_CPU] >= SHORT_SHARE * j->total;
}

/* Whether calls wait for slots, and not only for fewer than the server grants by now. */
static bool waits_for_slots(const struct judgement *j)
{
	const struct server_sums *v = j->v;
	double waited = (double)v->phase_ns[RPC_PHASE_SLOT] +
			(double)v->phase_ns[RPC_PHASE_SESSION] - (double)v->outgrown_ns;

	return waited >= QUEUED * (double)v->total_ns || 2 * v->waits.total_ns >= v->total_ns;
}

/* While no task waits for a CPU, what calls do before they are sent may be waits that were not seen, surely if a limit is
 * saturated. */
static bool is_refuted(const struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;
	bool unseen = n->share[RPC_PHASE_SETUP] > n->share[RPC_PHASE_FINISH];

	for (int l = 0; l < RPC_LIMITS; l++)
		unseen |= n->saturated_share[l] >= BLOCKED_TIME;
	return unseen && j->to->bound_by == BOUND_CLIENT_CPU && n->cpu_waiting_share < CPU_BUSY;
}

/* Lowers the confidence where too little is known of the calls' waits. */
static void lower_confidence(struct judgement *j)
{
	double earlier = j->to->numbers.earlier_share;

	if (is_refuted(j)) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to,
		    " Hardly any task waits for a CPU: calls may wait where it is not seen.");
	}
	if (j->to->bound_by == BOUND_SERVER && may_fill_link(j->v)) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to, " A link at its rate looks the same in so short a time.");
	}
	if (j->to->bound_by == BOUND_SERVER && !j->v->depth_calls &&
	    (!j->v->looks || queues_on_the_way(j->v))) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to, " This source does not see %s a link at its rate%s the same.",
		    j->v->looks ? "whether replies are on the way:" : "TCP: a full window,",
		    j->v->looks ? " looks" : " and lost segments look");
	}
	if (earlier < EARLIER_SHARE || j->v->ns >= KNOWN_NS)
		return;
	j->to->confidence = CONFIDENCE_LOW;
	say(j->to,
	    " %.0f %% of the calls' time was before the observation, and their waits in it are not "
	    "known.",
	    100 * earlier);
}

static void judge_calls(struct judgement *j)
{
	const double *share = j->to->numbers.share;
	enum bound part = largest_part(j);

	if (part == BOUND_CLIENT_CPU && is_one_short_call(j))
		part = BOUND_SERVER;
	else if (part == BOUND_SERVER && !waits_for_slots(j) && lacks_cpu(j))
		part = BOUND_CLIENT_CPU;
	if (part == BOUND_SERVER && is_blocked(j))
		part = BOUND_SEND;
	if ((part == BOUND_SERVER || part == BOUND_SEND) && loses_segments(j)) {
		decide(j->to, BOUND_RESEND, CONFIDENCE_MEDIUM);
		say(j->to,
		    "The network loses packets: %.1f %% of TCP's segments were sent again or "
		    "came late.",
		    100 * j->to->numbers.lost_share);
	} else if (part != BOUND_SERVER && (part != BOUND_SEND || !judge_lock(j))) {
		judge_part(j, part);
	} else if (part == BOUND_SERVER && !judge_lock(j) && !judge_network(j)) {
		if (waits_for_slots(j))
			judge_slots(j, share[RPC_PHASE_SLOT] > share[RPC_PHASE_SESSION] ?
					       BOUND_SLOT :
					       BOUND_SESSION);
		else
			judge_server(j);
	}
	if ((double)j->v->outgrown_ns >= QUEUED * (double)j->v->total_ns)
		say(j->to, " Calls waited for session slots until the server granted %u.",
		    j->v->session_slots);
	lower_confidence(j);
}

/* Of a stall that ended: when it was, and what ended it. */
static void say_stall(struct verdict *to, const struct server_sums *v)
{
	char begin[TIME_CLOCK_SIZE], end[TIME_CLOCK_SIZE];

	say(to, "No call was answered from %s to %s (%.0f s)%s%s. ",
	    time_clock(begin, v->stall.begin), time_clock(end, v->stall.end),
	    v->stall.end - v->stall.begin,
	    *v->stall.moved_to ?
		    ", until the client had connected to " :
	    v->stall.restarted ?
		    ", until the client had made itself known anew: the server has restarted, or dropped it" :
	    v->stall.reconnected ? ", until the client had connected anew" :
				   "",
	    v->stall.moved_to);
}

/* Of a server whose calls are not answered at the end, or of which none ended. */
static bool judge_waiting(struct verdict *to, const struct server_sums *v)
{
	uint64_t seen = v->silent_ns < v->ns ? v->silent_ns : v->ns;
	double oldest = (double)v->oldest_ns / 1e9, silent = (double)seen / 1e9;

	if (server_is_silent(v)) {
		/* Before the session, others may have been answered. */
		decide(to, BOUND_HUNG, seen >= HUNG_NS ? CONFIDENCE_HIGH : CONFIDENCE_LOW);
		if (v->oldest_ns >= HUNG_NS)
			say(to,
			    "No call is answered: the oldest waits for %.0f s, and nothing came for %.0f s.",
			    oldest, silent);
		else
			say(to, "No call is answered: they time out, and nothing came for %.0f s.",
			    silent);
	} else if (v->calls) {
		return false;
	} else if (v->credentials_ns) {
		decide(to, BOUND_CREDENTIALS, CONFIDENCE_HIGH);
		say(to,
		    "No call ended; they wait for credentials: rpc.gssd or the key server does not answer.");
	} else if (v->calls_ended) {
		say(to, "No other call ended, so nothing can be said about the rest of the time.");
	} else if (v->oldest_ns) {
		say(to, "No call ended; the oldest has waited for %.0f s at least.", oldest);
	} else {
		say(to, "No call ended, so nothing can be said.");
	}
	return true;
}

struct verdict verdict_of(const struct limit_sums *h, const char *server)
{
	const struct server_sums *v = server_sums_of(h, server);
	struct verdict to = { .bound_by = BOUND_NONE };

	snprintf(to.server, sizeof(to.server), "%s", server);
	if (!v) {
		say(&to, "No call ended, so nothing can be said.");
		return to;
	}
	fill_numbers(&to.numbers, v);
	if (v->stall.end > 0)
		say_stall(&to, v);
	if (judge_waiting(&to, v) || judge_delayed(&(struct judgement){ .v = v, .to = &to }))
		return to;
	if (to.numbers.concurrency < IDLE ||
	    (v->calls < ENOUGH_CALLS && (double)v->total_ns < IDLE * (double)v->ns)) {
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
