// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Silence: a server that answers no call although calls wait. After HUNG_NS it is a stall.
 *
 * A stall is reported by itself, and left out of all other sums: 30 s in which 60 calls wait would outweigh an hour of
 * good service, and every mean would say that the server is slow. The two intervals after a stall are left out as well,
 * because the calls that end in them have waited through it.
 *
 * A silence is known to be a stall only after HUNG_NS. Until then its time counts as active; `silent` remembers how much,
 * and it is taken back when the silence becomes a stall.
 *
 * Silence begins where the oldest call began to wait, and this may be in an earlier interval. A call younger than the
 * interval proves nothing: it may be the first one. Calls of soft mounts end without an answer; these are timeouts, and
 * do not end a silence. */
#include "limits/interval.h"

/* If timeouts are not counted: the number of calls of soft mounts that ended without an answer, by their errors. A server may
 * answer with the same errors, but then nothing was sent again. */
static uint64_t timed_out_calls(const struct interval *n)
{
	uint64_t count = 0;

	if (!n->phase_ns[RPC_PHASE_RESEND])
		return 0;
	ARRAY_EACH(e, n->d->errors, n->d->error_count)
		if (!strcmp(e->now->server, n->name) &&
		    (!strcmp(e->now->status, "EIO") || !strcmp(e->now->status, "ETIMEDOUT")))
			count += e->count;
	return count;
}

static void add_silence(struct server_sums *v, struct interval *n)
{
	bool answered = n->replies;
	uint64_t before;

	if (!snapshot_knows(&n->d->end->calls, RPC_FACT_REPLIES)) {
		n->timeouts = timed_out_calls(n);
		answered = n->calls > n->timeouts;
	}
	if (answered || (!v->oldest_ns && !n->timeouts)) {
		v->silent_ns = 0;
	} else if (v->silent_ns || v->oldest_ns >= n->ns || n->timeouts) {
		if (!v->silent_ns) {
			v->silent_since = n->d->end->wall - (double)v->oldest_ns / 1e9;
			before = v->oldest_ns > n->ns ? v->oldest_ns - n->ns : 0;
			/* Other calls were answered in the interval before. In the first interval nothing is known of the
			 * time before. */
			v->silent_ns = v->ns == n->ns || before < n->ns ? before : n->ns;
		}
		v->silent_ns += n->ns;
	}
}

/* The address of one of the server's connections: @wanted if a connection has it; "": no connection has one. */
static const char *address_of(const struct interval *n, const char *wanted)
{
	const struct calls *c = &n->d->end->calls;
	const char *found = "";

	ARRAY_EACH(t, c->transports, c->transport_count) {
		if (!t->alive || !*t->remote.address || strcmp(t->server, n->name) != 0)
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
	v->stall.ns = v->silent_ns;
	if (v->stall.begin != v->silent_since) {
		v->stall.reconnected = v->stall.restarted = false;
		*v->stall.moved_to = 0;
	}
	v->stall.reconnected |= n->connects;
	v->stall.begin = v->silent_since;
	v->stall.end = 0;
	v->stall.intervals_left = 2;
}

/* An interval after a stall that is still left out. */
static void end_stall(struct server_sums *v, const struct interval *n)
{
	const char *address = address_of(n, v->address);

	if (!v->stall.end) {
		v->stall.end = n->d->end->wall;
		v->stalls++;
		v->stall.reconnected = n->connects || v->stall.reconnected;
	}
	v->stall.restarted |= n->clients;
	if (*v->address && strcmp(address, v->address) != 0)
		snprintf(v->stall.moved_to, sizeof(v->stall.moved_to), "%s", address);
	v->stall.intervals_left--;
	if (v->stall.begin == v->longest_stall.begin ||
	    v->stall.end - v->stall.begin > v->longest_stall.end - v->longest_stall.begin)
		v->longest_stall = v->stall;
}

bool stall_covers(struct server_sums *v, struct interval *n)
{
	add_silence(v, n);
	if (v->silent_ns >= HUNG_NS) {
		begin_or_extend_stall(v, n);
		return true;
	}
	if (!v->silent_ns)
		v->silent = (struct active_time){};
	if (v->stall.intervals_left) {
		end_stall(v, n);
		return true;
	}
	if (!v->silent_ns)
		snprintf(v->address, sizeof(v->address), "%s", address_of(n, v->address));
	return false;
}
