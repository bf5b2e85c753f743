// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Silence: a server that answers no call although calls wait. After HUNG_NS it is a stall.
 *
 * A stall is reported by itself, and left out of all other sums: 30 s in which 60 calls wait would outweigh an hour of
 * good service, and every mean would say that the server is slow. The two intervals after a stall are left out as well,
 * because the calls that end in them have waited through it. So is each later interval in which a call ends that began
 * before the end of the stall: with a v3 and a v4 mount, one connection may come back 10 s after the other. `late` has the
 * version of NFS that did.
 *
 * A shorter silence is a slow server, unless the client connects anew in it: then it is a stall as well, such as a failover
 * within 3 s. Only one in SHORT_APART counts. A connection that breaks more often is a limit by itself.
 *
 * After a restart the server wants NFSv4 clients to take their files back, for some 90 s (the grace period). What it does
 * meanwhile belongs to the restart: the client makes itself known anew (EXCHANGE_ID), and others wait (NFS4ERR_GRACE).
 *
 * A silence is known to be a stall only after HUNG_NS. Until then its time counts as active; `silent` remembers how much,
 * and it is taken back when the silence becomes a stall.
 *
 * Silence begins where the oldest call began to wait, and this may be in an earlier interval. A call younger than the
 * interval proves nothing: it may be the first one. Nor does a call that was passed by, while others were answered for
 * HUNG_NS: nobody else may ask. But an NFSv4 client renews its lease, therefore the server is silent after LEASE_NS.
 * Calls of soft mounts end without an answer; these are timeouts, and do not end a silence. */
#include "limits/judgement.h"

/* A client makes itself known at most this long after a stall; seconds. */
#define GRACE 90
/* A call has waited for so long at least before a soft mount gives it up: for an answer, or in a full socket's buffer. */
#define GIVEN_UP_NS UINT64_C(1000000000)
/* Linux servers' lease time. */
#define LEASE_NS UINT64_C(90000000000)
/* The time between two short stalls; seconds. */
#define SHORT_APART 60

/* If timeouts are not counted: the number of calls of soft mounts that ended without an answer, by their errors. A server may
 * answer with the same errors, but then the op's calls were short, or neither sent again nor waited for long to be sent. */
static uint64_t timed_out_calls(const struct interval *n)
{
	uint64_t count = 0;

	CALLS_EACH(e, &n->d->calls, error, n->name) {
		const struct rpc_op *o =
			CALLS_FIND(x, &n->d->calls, op, n->name, !strcmp(x->op, e->op));
		uint64_t calls = o ? calls_from(&o->total, GIVEN_UP_NS) : 0;

		if (!calls || (!o->phase[RPC_PHASE_RESEND].sum_ns &&
			       o->phase[RPC_PHASE_SEND].sum_ns < GIVEN_UP_NS))
			continue;
		if (!strcmp(e->status, "EIO") || !strcmp(e->status, "ETIMEDOUT"))
			count += e->count < calls ? e->count : calls;
	}
	return count;
}

bool was_passed_by(const struct server_sums *v)
{
	return v->unheard_ns && v->oldest_ns > v->unheard_ns + v->served_ns + HUNG_NS;
}

static void add_silence(struct server_sums *v, struct interval *n)
{
	const struct calls *end = &n->d->end->calls;
	bool answered = n->replies, first = !v->silent_ns;

	if (!snapshot_knows(end, RPC_FACT_REPLIES)) {
		if (!snapshot_knows(end, RPC_FACT_TIMEOUTS))
			n->timeouts = timed_out_calls(n);
		answered = n->calls > n->timeouts;
	}
	if (answered) {
		v->unheard_ns = n->ns;
		v->served_ns = n->longest_ns;
	} else if (v->unheard_ns) {
		v->unheard_ns += n->ns;
	}
	if (answered || (!v->oldest_ns && !n->timeouts) ||
	    (was_passed_by(v) && v->unheard_ns < LEASE_NS)) {
		v->silent_ns = 0;
	} else if (!first || v->oldest_ns >= n->ns || n->timeouts) {
		v->silent_ns += n->ns;
		if (first) {
			RAISE(v->silent_ns, v->oldest_ns);
			/* Others were answered in the interval before, or in one that was left out as it has passed by. */
			if (v->unheard_ns)
				LOWER(v->silent_ns, v->unheard_ns);
			v->silent_since = v->clock - (double)v->silent_ns / 1e9;
		}
		calls_victims(v->victims, end, v->server, false);
	}
}

/* The address of one of the server's connections: @wanted if a connection has it; "": no connection has one. */
static const char *address_of(const struct interval *n, const char *wanted)
{
	const char *found = "";

	CALLS_EACH(t, &n->d->end->calls, transport, n->name) {
		if (!t->alive || !*t->remote.address)
			continue;
		found = t->remote.address;
		if (!strcmp(found, wanted))
			break;
	}
	return found;
}

static void begin_or_extend_stall(struct server_sums *v, const struct interval *n)
{
	active_time_add(&v->active, &v->silent, (uint64_t)-1);
	v->silent = (struct active_time){};
	if (v->stall.begin != v->silent_since)
		v->stall = (struct stall){};
	v->stall.ns = v->silent_ns;
	v->silent_connects += n->connects;
	v->stall.reconnected |= n->connects;
	RAISE(v->stall.lost, v->lost);
	memcpy(v->stall.victims, v->victims, sizeof(v->victims));
	snprintf(v->stall.waits_on, sizeof(v->stall.waits_on), "%s",
		 v->waiting_transports == 1 ? v->waits_on : "");
	v->stall.begin = v->silent_since;
	v->stall.end = 0;
	v->stall.intervals_left = 2;
}

/* Whether a silence of @silent_ns, shorter than a stall, has ended in the interval, as the client had reconnected. */
static bool is_short_stall(const struct server_sums *v, const struct interval *n,
			   uint64_t silent_ns)
{
	return silent_ns && !v->silent_ns && !v->stall.intervals_left &&
	       (n->connects || v->silent_connects) && v->clock > v->stall.end + SHORT_APART;
}

/* Keeps the stall if it has ended and is the longest one. */
static void keep_longest(struct server_sums *v)
{
	struct stall *longest = &v->longest_stall;

	if (v->stall.end && (v->stall.begin == longest->begin ||
			     v->stall.end - v->stall.begin > longest->end - longest->begin))
		*longest = v->stall;
}

bool is_in_grace(const struct server_sums *v)
{
	return v->stall.end && v->clock <= v->stall.over + GRACE;
}

/* Notes what shows after a stall that the server has restarted. */
static void note_restart(struct server_sums *v, const struct interval *n)
{
	bool grace = CALLS_FIND(e, &n->d->calls, error, n->name,
				e->count && !strcmp(e->status, "NFS4ERR_GRACE"));

	if (!is_in_grace(v))
		return;
	v->stall.restarted |= n->clients || grace;
	if (grace && v->clock <= v->stall.end + 2 * GRACE)
		v->stall.over = v->clock;
	keep_longest(v);
}

/* Whether a call that ended in the interval has waited in the stall, or for the end of the grace period. */
static bool has_waited(const struct server_sums *v, const struct interval *n)
{
	return v->stall.end > 0 && (double)n->longest_ns / 1e9 >= v->clock - v->stall.over;
}

/* The versions of NFS, as bits, whose calls ended in the interval; 0: not known. */
static unsigned int versions_of(const struct interval *n)
{
	unsigned int versions = 0;

	CALLS_EACH(m, &n->d->end->calls, mount, n->name)
		if (CALLS_FIND(x, &n->d->calls, mount_call, n->name, calls_are_on(x, m)))
			versions |= 1u << strtoul(m->version, NULL, 10) % 8;
	return versions;
}

/* An interval after a stall that is still left out. */
static void end_stall(struct server_sums *v, const struct interval *n)
{
	const char *address = address_of(n, v->address);

	if (!v->stall.end) {
		v->stall.end = v->stall.over = v->clock;
		v->stall.unsure = (double)n->ns / 1e9;
		v->stalls++;
		v->stall.reconnected = n->connects || v->stall.reconnected;
	}
	note_restart(v, n);
	if (has_waited(v, n)) {
		v->stall.last = v->clock;
		if (v->stall.back && !v->stall.late)
			v->stall.late = versions_of(n) & ~v->stall.back;
		if (v->stall.late && !v->stall.late_end)
			v->stall.late_end = v->stall.last;
	}
	if (*v->address && strcmp(address, v->address) != 0)
		snprintf(v->stall.moved_to, sizeof(v->stall.moved_to), "%s", address);
	if (v->stall.intervals_left)
		v->stall.intervals_left--;
}

bool stall_covers(struct server_sums *v, struct interval *n)
{
	uint64_t silent_ns = v->silent_ns;
	bool covers;

	add_silence(v, n);
	if (v->silent_ns >= HUNG_NS) {
		begin_or_extend_stall(v, n);
		return true;
	}
	if (is_short_stall(v, n, silent_ns)) {
		active_time_add(&v->active, &v->silent, (uint64_t)-1);
		v->stall = (struct stall){ .ns = silent_ns,
					   .begin = v->silent_since,
					   .reconnected = true,
					   .intervals_left = 2 };
		memcpy(v->stall.victims, v->victims, sizeof(v->victims));
	}
	v->silent_connects = v->silent_ns ? v->silent_connects + n->connects : 0;
	if (!v->silent_ns)
		v->silent = (struct active_time){};
	/* Only the oldest call waits, and goes on to wait: no other was made. Who registers again had no answer before. */
	if (!v->silent_ns && !v->stall.end && n->longest_ns && n->longest_ns < n->ns &&
	    v->oldest_ns > v->stall.ns && !n->clients)
		v->stall = (struct stall){};
	note_restart(v, n);
	covers = v->stall.intervals_left || has_waited(v, n);
	if (covers) {
		end_stall(v, n);
		keep_longest(v);
	} else if (!v->silent_ns) {
		snprintf(v->address, sizeof(v->address), "%s", address_of(n, v->address));
	}
	v->stall.back |= v->stall.end > 0 ? versions_of(n) : 0;
	return covers;
}

bool waits_for_disks(const struct server_sums *v)
{
	return !strcmp(v->oldest_op, "COMMIT") && v->acknowledges && !v->lost && !v->connect_error;
}

const char *silence_reason(char *text, const struct server_sums *v, enum lost_packets lost,
			   bool silent)
{
	const char *down = silent ? "the host or the network" : "a part of the network";
	const char *large = lost == LOST_LARGE ? ", or only small packets pass (MTU)" : "";
	char all[64 + CONNECTION_SIZE] = "";

	*text = 0;
	if (silent && *v->waits_on && v->waiting_transports == 1)
		snprintf(all, sizeof(all),
			 "all calls wait on %s, one of %" PRIu32 " connections: ", v->waits_on,
			 v->transports);
	if (v->connect_error)
		snprintf(text, SILENCE_REASON_SIZE, "connecting fails (%s)",
			 strerror((int)v->connect_error));
	else if (lost == LOST_ONLY_LARGE)
		snprintf(
			text, SILENCE_REASON_SIZE,
			"small packets pass, large ones are lost: the likely reason is the MTU of the network "
			"(ping -M do -s 1472)");
	else if (lost && *v->waits_on && (*all || !silent))
		snprintf(
			text, SILENCE_REASON_SIZE,
			"%snothing that is sent on it is acknowledged: a firewall drops it, or %s is down%s",
			all, down, large);
	else if (lost)
		snprintf(text, SILENCE_REASON_SIZE,
			 "nothing that is sent is acknowledged: %s is down%s", down, large);
	else if (silent && waits_for_disks(v))
		snprintf(
			text, SILENCE_REASON_SIZE,
			"the oldest call is a COMMIT, and the host acknowledges what is sent: it writes to its "
			"disks, or its nfsd hangs");
	return text;
}
