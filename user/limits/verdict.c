// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the calls to a server: the order of the rules.
 *
 * The question is which layer must give more before calls become faster or more numerous. The answer is one limit, how sure
 * it is, a setting to change, and by how much the throughput can grow at most.
 *
 * Why not name the phase that takes most of the calls' time? Waits for slots show that all slots are in use, but not why.
 * Example: 32 threads, 8 slots, and a server that serves one call in 1 ms, one after the other. 8 calls are in flight and
 * each takes 8 ms; each call waits 24 ms for its slot. Three quarters of the time are waits for slots, and yet 16 slots
 * would gain nothing: each call would then take 16 ms at the server. If the server served all at once, a reply would take
 * 1 ms with 8 slots and with 16, and twice the slots would be twice the throughput.
 *
 * The rules therefore look at the hold time first, which is a call's time without its waits for slots:
 * 1. No call is answered: hung. It needs no other evidence.
 * 2. The largest part of the hold time decides: send, delay, resend, credentials, client CPU, or the time until the reply.
 *    judge_calls() lists where one part is a symptom of another.
 * 3. Only if the time until the reply is the largest part, the limit is outside the client's code. Then in this order:
 *    the network (network.c: a full window, a link at its rate), slots or the server (slots.c: did replies become slower
 *    with more calls in flight?), and without waits for slots the server or the application (above.c: what the kernel
 *    does between them).
 *
 * Invariant: without evidence the expected gain is not claimed. A saturated server and a fast one look alike behind few
 * slots; only a load that varied separates them, and the steepest growth of reply times counts (loads.c).
 * A model with fitted parameters would always give an answer, also a wrong one.
 *
 * What the sums contain, and which calls are left out: sums.c. Thresholds, and how often each verdict was right on systems
 * with a known limit: docs/VERDICT.md. */
#include "limits/verdict.h"

#include "limits/judgement.h"

#include <ctype.h>
#include <stdarg.h>

const char *const bound_names[BOUNDS] = {
#define TABLE_ROW(BOUND, name) name,
#include "bounds.inc"
};

const char *const confidence_names[CONFIDENCES] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
};

/* ---- the constants of docs/VERDICT.md ---- */

/* With fewer calls at once the application makes one after the other. */
#define ONE_BY_ONE 2.0
/* With fewer calls at once there is hardly ever more than one. */
#define ONLY_ONE 1.2
/* Waits for slots are this share of the calls' time: all slots are in use. */
#define QUEUED 0.1
/* The network is the limit if TCP loses this share of its segments, this many, and some in this share of the active time. */
#define LOST_SHARE 0.01
#define ENOUGH_LOST 10
#define LOSING 0.25
/* The share of time in which a task waits for a CPU: from the first on CPUs are busy, from the second on too few. */
#define CPU_BUSY 0.4
#define CPU_SHORT 0.6
/* Too few CPUs delay calls if the client's own work is this share of the hold time. */
#define SHORT_SHARE 0.1
/* A connection accepts no more data: calls wait to transmit in this share of the time, and for this share of the hold time. */
#define BLOCKED_TIME 0.5
#define BLOCKED_SHARE 0.25

/* In a shorter observation, the confidence is low if this share of the calls' time lies before it. */
#define KNOWN_NS UINT64_C(10000000000)
#define EARLIER_SHARE 0.1

/* A client makes itself known with its first mount, and after a restart of the server. So often, and once in this time on
 * average, is no service. */
#define RECOVERIES 4
#define RECOVERY_NS UINT64_C(120000000000)

/* The client recovers its state, and new calls wait: for so long now, or in this share of the time. */
#define DRAINED_NS UINT64_C(10000000000)
#define DRAINED 0.5

/* Setup is a wait for lost connections if calls that were sent again waited for a tenth of it. */
#define RESENT 10

/* A connection is closed again and again: CLOSINGS times, and once in this time on average. */
#define CLOSING_NS UINT64_C(30000000000)

#define MAX_CONNECTIONS 16 /* NFS_MAX_CONNECTIONS */

/* ---- the sentence ---- */

void say(struct verdict *to, const char *format, ...)
{
	size_t len = strlen(to->sentence);
	va_list args;

	va_start(args, format);
	vsnprintf(to->sentence + len, sizeof(to->sentence) - len, format, args);
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

/* ---- server or application ---- */

#define NO_MORE " A server that serves no more at once looks the same."

static void judge_server(struct judgement *j)
{
	const struct load_sums *loads = main_loads(j->v);
	struct verdict_numbers *n = &j->to->numbers;
	struct load_sums low = {}, high = {};
	enum confidence sure = CONFIDENCE_MEDIUM;
	double most = n->concurrency > n->in_flight ? n->concurrency : n->in_flight;
	const char *op;
	double mean = main_mean(j, &op);
	bool varied;

	for (int i = 0; i < LOADS; i++) {
		if (loads[i].calls < ENOUGH_CALLS)
			continue;
		if (!low.calls)
			low = loads[i];
		high = loads[i];
	}
	varied = compare_loads(j, loads, &low, &high);
	if (varied && is_flat(n) && serves_any(n, n->high.in_flight))
		sure = CONFIDENCE_HIGH;
	if (is_saturated(j)) {
		judge_saturated(j);
	} else if (judge_above(j)) {
		return;
	} else if (is_far_away(n)) {
		decide(j->to, BOUND_LATENCY, sure,
		       "The server is far away: an answer takes %.*g ms, of which TCP's round trip is %.*g ms. "
		       "More concurrent calls (%.*g now) raise the throughput: more threads, larger requests, more "
		       "read ahead.%s",
		       FIGURE(n->rtt_ns / 1e6), FIGURE(n->min_rtt_ns / 1e6),
		       FIGURE_2(n->concurrency),
		       sure == CONFIDENCE_HIGH ? " Changes of the server do not help." :
		       varied                  ? NO_MORE :
						 "");
	} else if (mean >= SLOW_NS) {
		decide(j->to, BOUND_SERVER, CONFIDENCE_MEDIUM,
		       "The server or the network takes %.*g ms for an answer%s%s",
		       FIGURE(mean / 1e6), *op ? " to calls such as " : "", op);
		if (n->min_rtt_ns > 0)
			say(j->to, ", of which a round trip through the network is at most %.*g ms",
			    FIGURE(n->min_rtt_ns / 1e6));
		say(j->to, ".");
		if (most < ONLY_ONE)
			say(j->to, " The application makes one call after the other.");
	} else if (most < ONE_BY_ONE || varied) {
		decide(j->to, BOUND_APPLICATION, sure,
		       "The application has %.*g concurrent calls, and an answer takes %.*g ms: "
		       "more concurrent requests, or larger ones, would raise the throughput.%s",
		       FIGURE_2(n->concurrency), FIGURE(n->rtt_ns / 1e6),
		       varied && sure != CONFIDENCE_HIGH ? NO_MORE : "");
	} else {
		decide(j->to, BOUND_SERVER, CONFIDENCE_LOW,
		       "Most of the calls' time passes until the answer, %.*g ms with %.1f "
		       "concurrent calls; whether more would be served faster is not known.",
		       FIGURE(n->rtt_ns / 1e6), n->concurrency);
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
	uint32_t connections = v->nconnect ?: v->transports ?: 1, more;

	decide(to, bound, by_share(share), "%.0f %% of the time that calls have a slot ",
	       100 * share);
	switch (bound) {
	case BOUND_SEND:
		/* Connections of several addresses and versions are of several mounts. */
		more = 2 * connections;
		say(to, "is spent waiting to transmit: the connection does not take data faster.");
		if (!queues_on_the_way(j->v)) {
			if (to->confidence == CONFIDENCE_HIGH)
				to->confidence = CONFIDENCE_MEDIUM;
			say(to,
			    " No queue on the network is seen: a server that does not take data "
			    "faster looks the same.");
		}
		if (more > MAX_CONNECTIONS)
			break;
		say(to, " More connections help if each is limited, not if the link is.");
		/* One call at a time uses one connection. */
		to->gain_at_most = 1 / (1 - share) < 2 ? 1 / (1 - share) : 2;
		LOWER(to->gain_at_most, larger(larger(to->numbers.in_flight, 1),
					       to->numbers.concurrency / connections));
		/* Not each kernel heeds it for NFSv4 by RDMA. */
		if (to->gain_at_most >= WORTH_IT && strcmp(v->protocol, "rdma") != 0)
			to->remount = propose(j, "nconnect", more, "");
		break;
	case BOUND_DELAY:
		say(to, "is spent waiting before a retry: the server asks for it%s.",
		    *v->above.delay.status ? "" : ", or connecting fails");
		say_delays(j);
		break;
	case BOUND_RESEND:
		if (v->retransmits || v->disconnects) {
			say(to,
			    "is spent sending again (times: %" PRIu64 ", disconnects: %" PRIu64
			    "): calls or connections are lost.",
			    v->retransmits, v->disconnects);
		} else { /* before this time, or the source does not know them */
			to->confidence = CONFIDENCE_LOW;
			say(to,
			    "is spent between the first and the last time that a call was sent. "
			    "Neither a call sent again nor a lost connection was seen.");
		}
		break;
	case BOUND_CREDENTIALS:
		/* Most of it is setup, which is attributed to credentials only by the mount's option. */
		if ((double)v->credentials_ns < j->time[bound] / 2)
			to->confidence = share >= 0.5 ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
		say(to, "is spent waiting for credentials: rpc.gssd or the key server is slow.");
		break;
	default:
		say(to, "is the client's own work: its CPUs are busy, or too few.");
		if (to->numbers.cpu_waiting_share > 0)
			say(to, " A task waited for a CPU for %.0f %% of the time.",
			    100 * to->numbers.cpu_waiting_share);
	}
}

/* How often one connection, or each of them, was closed; 0: rarely, as idle ones are. */
static uint64_t closings_of(const struct server_sums *v)
{
	uint64_t times = v->transports ? v->disconnects / v->transports : 0;

	RAISE(times, v->closings);
	return times >= CLOSINGS && times * CLOSING_NS >= v->judged_ns ? times : 0;
}

/* Divides the hold time, and returns its largest part. */
static enum bound largest_part(struct judgement *j)
{
	const struct server_sums *v = j->v;
	double setup = (double)v->phase_ns[RPC_PHASE_SETUP] - (double)v->credentials_ns;
	enum bound largest = BOUND_SERVER;
	bool resends;

	RAISE(setup, 0);
	j->time[BOUND_SEND] = (double)v->phase_ns[RPC_PHASE_SEND];
	j->time[BOUND_DELAY] = (double)v->phase_ns[RPC_PHASE_DELAY];
	j->time[BOUND_RESEND] = (double)v->phase_ns[RPC_PHASE_RESEND];
	j->time[BOUND_CREDENTIALS] = (double)v->credentials_ns;
	j->time[BOUND_SERVER] = (double)v->phase_ns[RPC_PHASE_RTT];
	j->time[BOUND_CLIENT_CPU] = (double)v->phase_ns[RPC_PHASE_FINISH];
	/* Setup includes connecting anew, for calls that are not sent again themselves, and upcalls that block the task. About as
	 * many calls wait for a connection before they are sent as afterwards. */
	resends = v->disconnects && RESENT * j->time[BOUND_RESEND] >= setup;
	j->time[resends || closings_of(v) ? BOUND_RESEND :
		v->kerberos               ? BOUND_CREDENTIALS :
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

#define TABLE_ROW(name, type, member, unit, digits, value) n->member = value;
#include "verdict_numbers.inc"
	for (int p = 0; p < RPC_PHASES; p++)
		n->share[p] = ratio((double)v->phase_ns[p], total);
	for (int l = 0; l < RPC_LIMITS; l++)
		n->saturated_share[l] = ratio((double)v->active.saturated_ns[l], active);
}

bool verdict_is_possible(uint64_t unknown)
{
	return !(unknown >> RPC_FACT_PHASE & (RPC_FACT_BIT(RPC_PHASES) - 1));
}

uint64_t server_hangs(const struct limit_sums *h, const char *server)
{
	const struct server_sums *v = server_sums_of(h, server);

	return v && v->silent_ns >= HUNG_NS ? v->silent_ns : 0;
}

/* Whether TCP loses a large share of its segments, or a few that delay calls, and not at one moment alone, as when a path
 * changes. If calls come one by one, nothing is sent after a lost segment, and it is sent again after LATE_NS at the earliest:
 * as many calls must have taken that long. WRITEs are left out, because one of them may lose many segments. */
static bool loses_segments(const struct judgement *j)
{
	const struct server_sums *v = j->v;

	return v->segments_lost >= ENOUGH_LOST &&
	       (double)v->losing_ns >= LOSING * (double)v->active.ns &&
	       (j->to->numbers.lost_share >= LOST_SHARE ||
		(j->to->numbers.concurrency < ONE_BY_ONE && main_loads(v) != v->loads[CALL_WRITE] &&
		 v->late_calls >= v->segments_lost &&
		 v->segments_lost * LATE_NS >= v->phase_ns[RPC_PHASE_RTT] / 2));
}

/* Whether calls wait to transmit most of the time. The calls before them are then in the socket's full buffer, and a part
 * of the time until their replies is the same wait. */
static bool is_blocked(const struct judgement *j)
{
	return j->to->numbers.saturated_share[RPC_LIMIT_SEND] >= BLOCKED_TIME &&
	       j->time[BOUND_SEND] >= BLOCKED_SHARE * j->total;
}

/* Whether one short call follows the other, and each finds a free CPU. Such a client is not too slow, even if its own work
 * is most of the hold time. */
static bool is_one_short_call(const struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;

	return n->concurrency < ONE_BY_ONE && n->hold_ns < SLOW_NS / 2 &&
	       n->cpu_waiting_share < CPU_BUSY;
}

/* Whether the client's CPUs are too few, and its calls wait for them. A task that is woken by a reply waits in FINISH. The
 * kernel thread that receives the reply waits in RTT, as if the server took longer. */
static bool lacks_cpu(const struct judgement *j)
{
	return j->to->numbers.cpu_waiting_share >= CPU_SHORT &&
	       j->time[BOUND_CLIENT_CPU] >= SHORT_SHARE * j->total;
}

/* Whether calls wait for slots. Waits for fewer session slots than there are now do not count. */
static bool waits_for_slots(const struct judgement *j)
{
	const struct server_sums *v = j->v;
	double waited = (double)v->phase_ns[RPC_PHASE_SLOT] +
			(double)v->phase_ns[RPC_PHASE_SESSION] - (double)v->outgrown_ns;

	return waited >= QUEUED * (double)v->total_ns || 2 * v->waits.total_ns >= v->total_ns;
}

/* Whether client_cpu is doubtful: hardly any task waits for a CPU, and calls may wait where it is not seen. They do if setup
 * exceeds FINISH, or if a limit is saturated. */
static bool is_refuted(const struct judgement *j)
{
	const struct verdict_numbers *n = &j->to->numbers;
	bool unseen = n->share[RPC_PHASE_SETUP] > n->share[RPC_PHASE_FINISH];

	for (int l = 0; l < RPC_LIMITS; l++)
		unseen |= n->saturated_share[l] >= BLOCKED_TIME;
	return unseen && j->to->bound_by == BOUND_CLIENT_CPU && n->cpu_waiting_share < CPU_BUSY;
}

/* Lowers the confidence if too little is known about the calls' waits. */
static void lower_confidence(struct judgement *j)
{
	double earlier = j->to->numbers.earlier_share;

	if (is_refuted(j)) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to, " Hardly any task waits for a CPU: calls may wait elsewhere.");
	}
	if (j->to->bound_by == BOUND_SERVER && may_fill_link(j->v)) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to, " A link at its rate looks the same in so short a time.");
	}
	if (j->to->bound_by == BOUND_SERVER && !j->v->depth_calls &&
	    (!j->v->looks || queues_on_the_way(j->v))) {
		j->to->confidence = CONFIDENCE_LOW;
		say(j->to, " This source does not see %s a link at its rate%s the same.",
		    j->v->looks ? "whether replies are on the network:" : "TCP: a full window,",
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
		decide(j->to, BOUND_RESEND, CONFIDENCE_MEDIUM,
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

const char *wait_text(char *text, const char *by, uint64_t ns, enum wait_for what)
{
	static const char *const whats[] = {
		[WAIT_LOCKD] =
			"the server's lock manager: check lockd on the server and the network to its port. NFS calls are answered.",
		[WAIT_GSSD] =
			"credentials, which rpc.gssd (does it run?) gets from the key server. The NFS server is not the cause.",
	};

	snprintf(text, FAILURE_TEXT_SIZE, "%.48s waited for %.0f s for %s", *by ? by : "A task",
		 (double)ns / 1e9, whats[what]);
	return text;
}

const char *connection_text(char *text, const struct rpc_transport_state *t)
{
	snprintf(text, CONNECTION_SIZE, "%s%s%s", strchr(t->name, '/') ? t->name : "a connection",
		 *t->local.address ? " from " : "", ENDPOINT(&t->local));
	return text;
}

const char *closings_text(char *text, const char *connection, uint64_t times)
{
	snprintf(text, SILENCE_REASON_SIZE,
		 "The server, or a device on the network, closed %s %" PRIu64
		 " times; calls wait until it is reconnected.",
		 connection, times);
	return text;
}

/* Judges a server that answers no call at the end, or none of whose calls ended. */
static bool judge_waiting(struct verdict *to, const struct server_sums *v)
{
	uint64_t seen = v->silent_ns < v->ns ? v->silent_ns : v->ns;
	double oldest = (double)v->oldest_ns / 1e9, silent = (double)seen / 1e9;
	const struct failed_calls *worst = failures_worst(&v->failures);
	/* rpc.gssd has answered: for each call it looks for a new ticket. */
	bool expired = worst && failure_of(worst->op, worst->status) == FAILURE_TICKET;
	char text[FAILURE_TEXT_SIZE], reason[SILENCE_REASON_SIZE];

	if (v->silent_ns >= HUNG_NS) {
		/* If the silence began before the session, other calls may have been answered in it. */
		to->bound_by = BOUND_HUNG;
		to->confidence = seen < HUNG_NS                         ? CONFIDENCE_LOW :
				 waits_for_disks(v) || was_passed_by(v) ? CONFIDENCE_MEDIUM :
									  CONFIDENCE_HIGH;
		if (v->oldest_ns >= HUNG_NS || v->silent_ns < v->oldest_ns + HUNG_NS)
			say(to,
			    "No call is answered: the oldest waits for %.0f s, and nothing came for %.0f s.",
			    oldest, silent);
		else
			say(to, "No call is answered: they time out, and nothing came for %.0f s.",
			    silent);
		if (*silence_reason(reason, v, v->lost, true))
			say(to, " %c%s.", toupper(*reason), reason + 1);
		if (worst)
			say(to, " %s", failures_text(text, &v->failures));
	} else if (v->upcall_ns >= HUNG_NS && 2 * v->upcall_ns >= v->ns && !expired) {
		decide(to, BOUND_CREDENTIALS, CONFIDENCE_HIGH, "%s",
		       wait_text(text, v->upcall_by, v->upcall_ns, WAIT_GSSD));
		if (worst)
			say(to, " %s", failures_text(text, &v->failures));
	} else if (v->lock_wait_now_ns && 2 * v->lock_wait_ns >= v->ns) {
		decide(to, BOUND_HUNG, CONFIDENCE_MEDIUM, "%s",
		       wait_text(text, v->lock_wait_by, v->lock_wait_ns, WAIT_LOCKD));
	} else if (v->calls || worst || v->draining_ns || v->draining_now_ns) {
		return false;
	} else if (v->calls_ended) {
		say(to, "No other call ended: nothing can be said about the rest of the time.");
	} else if (v->oldest_ns) {
		say(to, "No call ended; the oldest has waited for %.0f s at least.", oldest);
	} else {
		say(to, "No call ended: nothing can be said.");
	}
	return true;
}

/* Says that the client recovers its state, if that holds up calls. Decides on that. Returns whether. */
static bool judge_recovery(struct verdict *to, const struct server_sums *v)
{
	uint64_t clients = v->clients / (v->identities ?: 1);
	uint64_t times = v->sessions / (v->identities ?: 1);
	double drained = larger((double)v->draining_ns, (double)v->draining_now_ns);
	bool session = clients < RECOVERIES, again;
	bool waits = v->draining_now_ns >= DRAINED_NS ||
		     (v->draining_ns && (double)v->draining_ns >= DRAINED * (double)v->ns);

	times = session ? times : clients;
	/* New mounts also make the client known, without errors. What is over shows in these. */
	again = times >= RECOVERIES && times * RECOVERY_NS >= v->ns &&
		failures_of_state(&v->failures) >= RECOVERIES &&
		(v->unregistered_ns < RECOVERY_NS / 2 || times * v->unregistered_ns < 2 * v->ns);
	if (!again && !waits)
		return false;
	to->bound_by = BOUND_STATE_RECOVERY;
	to->confidence = again ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
	if (again)
		say(to,
		    "This client %s again %" PRIu64
		    " times in %.0f s: another client has its identity (host name, nfs4_unique_id), or "
		    "the server drops it.",
		    session ? "created its session" : "registered", times - 1, (double)v->ns / 1e9);
	if (waits)
		say(to,
		    "%sCalls%s waited for %.0f s until the client has recovered its state (session, locks, "
		    "open files) with the server.",
		    again ? " " : "", v->victims, drained / 1e9);
	return true;
}

/* Says which calls end with errors. Decides on that if many do, because their times show no limit. Returns whether. */
static bool judge_failures(struct verdict *to, const struct server_sums *v)
{
	const struct failed_calls *worst = failures_worst(&v->failures);
	bool state = worst && failure_of(worst->op, worst->status) == FAILURE_STATE;
	bool recovers = judge_recovery(to, v);
	const struct op_sums *ops = v->above.ops;
	const uint64_t data[DATA_CALLS] = { ops[ABOVE_READ].calls, ops[ABOVE_WRITE].calls,
					    ops[ABOVE_COMMIT].calls };
	char text[FAILURE_TEXT_SIZE];

	if (worst && !(state && recovers))
		say(to, "%s%s", recovers ? " " : "", failures_text(text, &v->failures));
	if (recovers || !worst)
		return recovers;
	if (!failures_are_common(&v->failures, v->calls_ended, data)) {
		say(to, " ");
		to->failures_len = strlen(to->sentence);
		return false;
	}
	to->bound_by = BOUND_ERRORS;
	to->confidence = worst->over ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
	return true;
}

struct verdict verdict_of(const struct limit_sums *h, const char *server)
{
	const struct server_sums *v = server_sums_of(h, server);
	struct verdict to = { .bound_by = BOUND_NONE };
	struct judgement j = { .v = v, .to = &to };
	char text[SILENCE_REASON_SIZE];
	uint64_t times;

	snprintf(to.server, sizeof(to.server), "%s", server);
	if (!v) {
		say(&to, "No call ended: nothing can be said.");
		return to;
	}
	fill_numbers(&to.numbers, v);
	j.idle = to.numbers.idle_share > 1 - BUSY;
	if (judge_waiting(&to, v) || judge_failures(&to, v) || judge_delayed(&j) ||
	    judge_denied(&j) || judge_refused(&j))
		return to;
	times = closings_of(v);
	if (times)
		say(&to, "%s ",
		    closings_text(text, v->closings < times ? "each connection" : v->closed_text,
				  times));
	to.closings_len = strlen(to.sentence) - to.failures_len;
	if (to.numbers.concurrency < BUSY || (v->calls < ENOUGH_CALLS && j.idle)) {
		decide(&to, BOUND_NONE, CONFIDENCE_MEDIUM,
		       "%s %.0f %% of the time; NFS does not limit.",
		       *to.sentence || v->longest_stall.end || v->lock_wait_ns ||
				       v->unanswered_ns >= HUNG_NS ||
				       v->unanswered_most_ns >= 2 * HUNG_NS ?
			       "Apart from that, idle" :
			       "idle",
		       100 * to.numbers.idle_share);
	} else if (!verdict_is_possible(v->unknown)) {
		say(&to,
		    "It cannot be decided what limits the calls: their phases are not measured.");
	} else {
		j.proposes = !j.idle && !times && !failures_worst(&v->failures) &&
			     10 * v->above.delayed < v->calls;
		judge_calls(&j);
		if (!j.proposes)
			to.gain_expected = to.gain_at_most = 0;
		if (j.idle)
			say(&to, " Idle %.0f %% of the time.", 100 * to.numbers.idle_share);
		LOWER(to.confidence, j.idle                       ? CONFIDENCE_LOW :
				     to.numbers.busy_share <= 0.5 ? CONFIDENCE_MEDIUM :
								    CONFIDENCE_HIGH);
	}
	return to;
}
