// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What keeps few calls in flight although the server is fast: readahead, the limit of dirty pages, syncs, attributes, a
 * file's lock, delegations. docs/VERDICT.md, "Thresholds", lists these rules. */
#include "limits/judgement.h"

#include <stdlib.h>

/* The application waits for a kind of calls that takes this share of the calls' time. */
#define MOST 0.6
/* A reader that uses its data at once has two readahead windows in flight; one that never waits has less than one. */
#define READ_AHEAD 2
#define SEVERAL 2.2 /* with more windows in flight there are several readers */
/* Files are long and read in sequence if the mean readahead is this share of the window that is set. */
#define FULL_WINDOW 0.5
#define WINDOW_MAX (16u << 20)
/* Dirty pages are at their limit from this share of it on, because the kernel then begins to delay writers. They limit the calls if
 * they are at the limit for HELD_UP of the time, and calls hold IN_FLIGHT of it. Otherwise the writer is faster than the server. */
#define AT_LIMIT 0.5
#define HELD_UP 0.25
#define IN_FLIGHT 0.25
#define SINGLE 2.0 /* with fewer calls at once one thread syncs */
#define STEP 4 /* a proposed value is this many times the present one */
#define DIRTY_MAX (UINT64_C(4) << 30) /* more is lost in a crash, and takes long to sync */
#define ATTRIBUTE_SECONDS 60 /* the longest default of the kernel */
#define LOCKED 2 /* this many tasks wait for files' locks, and calls could be in their place */
/* After an answer NFS4ERR_DELAY the caller waits at least this long (NFS4_POLL_RETRY_MIN), mostly between calls; each time longer, up to
 * 15 s (NFS4_POLL_RETRY_MAX). If it is UNRETURNED_NS on average, the holder of a delegation does not answer. */
#define RETRY_NS 1e8
#define RETRY_MOST UINT64_C(16000000000)
#define JUKEBOX_NS 5e9 /* after EJUKEBOX (NFS_JUKEBOX_RETRY_TIME) */
#define UNRETURNED_NS 5e8
#define DELAYED 0.05 /* a smaller share of the time that is spent so does not matter */
#define RARE 0.25 /* nor, though all other time is idle, a smaller share of all time */
/* After an answer NFS4ERR_DENIED the caller of fcntl() waits at least this long (NFS4_LOCK_MINTIMEOUT), between calls. Fewer such
 * answers prove nothing. */
#define DENIED_NS 1e9
#define DENIED 5
/* A user tries again and again what the server refuses, if so many calls end so, and this share of all: with each go others,
 * such as LOOKUP and ACCESS. */
#define REFUSED 5
#define REFUSED_SHARE 0.25
/* Calls are as large as the mount allows if their mean size is this share of it. Servers rarely allow less than SIZE_MIN. */
#define FULL_SIZE 0.9
#define SIZE_MIN (64u << 10)

#define DELEGATIONS                                                                  \
	" If clients write and read the same files by turns, fs.leases-enable=0 on " \
	"a Linux server grants no delegations: all of its clients then ask it more often."

static enum above_op op_of(const char *op)
{
	enum rpc_kind kind = rpc_kind_of(op);

	if (!strcmp(op, "GETATTR") || !strcmp(op, "ACCESS"))
		return ABOVE_ATTRIBUTES;
	return !strcmp(op, "LOOKUP")                        ? ABOVE_LOOKUP :
	       !strcmp(op, "COMMIT")                        ? ABOVE_COMMIT :
	       !strcmp(op, "OPEN")                          ? ABOVE_OPEN :
	       !strcmp(op, "DELEGRETURN")                   ? ABOVE_DELEGRETURN :
	       strstr("CLOSE CREATE REMOVE", op)            ? ABOVE_FILES :
	       strstr(op, "_STATEID") || is_clients_own(op) ? ABOVE_STATE :
	       kind == RPC_KIND_READ                        ? ABOVE_READ :
	       kind == RPC_KIND_WRITE                       ? ABOVE_WRITE :
	       kind == RPC_KIND_METADATA                    ? ABOVE_NAMES :
							      ABOVE_OTHER;
}

/* Whether the caller waits between two calls of @op that are delayed, not within one. */
static bool waits_between(enum above_op op)
{
	return op >= ABOVE_LOOKUP && op <= ABOVE_NAMES && op != ABOVE_DELEGRETURN;
}

/* Notes for each kind of calls the mount with most of their time, or the server's only mount; and waits for files' locks. */
static void note_mounts(struct above_sums *a, const struct delta *d, const char *server)
{
	const struct calls *end = &d->end->calls;
	const struct nfs_mount *only = NULL, *found[RPC_KINDS] = {};
	uint64_t most[RPC_KINDS] = {};
	int mounts = 0;

	CALLS_EACH(m, end, mount, server) {
		only = mounts++ ? NULL : m;
		a->lock_wait_ns += m->lock_waiters * d->ns;
		if (m->lock_waiters)
			snprintf(a->locked, sizeof(a->locked), "%s", m->mountpoint);
		CALLS_EACH(c, &d->calls, mount_call, server)
			for (int k = 0; k < RPC_KINDS; k++)
				if (c->sums.total_ns[k] > most[k] && calls_are_on(c, m)) {
					most[k] = c->sums.total_ns[k];
					found[k] = m;
				}
	}
	for (int k = 0; k < RPC_KINDS; k++) {
		const struct nfs_mount *m = only ?: found[k];

		if (!m || 2 * most[k] < a->most_ns[k])
			continue;
		a->mount[k] = *m;
		RAISE(a->most_ns[k], most[k]);
	}
}

/* Adds the OPENs of an interval, and those of them that were answered NFS4ERR_DELAY. */
static void add_retries(struct above_sums *a, uint64_t ns, uint64_t opens, uint64_t delayed)
{
	a->since_delay_ns += a->opens_wait ? ns : 0;
	if (delayed && opens <= delayed && a->since_delay_ns <= RETRY_MOST)
		a->retry_ns += a->since_delay_ns;
	a->opens_wait = (delayed || a->opens_wait) && opens <= delayed;
	if (delayed || !a->opens_wait)
		a->since_delay_ns = 0;
}

void above_add(struct above_sums *a, const struct delta *d, const char *server)
{
	struct op_sums open = a->ops[ABOVE_OPEN];
	static const char *const refusals[] = { "EACCES", "EPERM", "EROFS", "NFS4ERR_ACCESS" };
	const struct calls *c = &d->end->calls;

	CALLS_EACH(o, &d->calls, op, server) {
		struct op_sums *to = &a->ops[op_of(o->op)];

		if (o->total.sum_ns > to->most_ns)
			memcpy(to->op, o->op, sizeof(to->op));
		RAISE(to->most_ns, o->total.sum_ns);
		to->calls += time_histogram_count(&o->total);
		to->ns += o->total.sum_ns;
		to->rtt_ns += o->phase[RPC_PHASE_RTT].sum_ns;
		to->bytes += o->received_bytes > o->sent_bytes ? o->received_bytes : o->sent_bytes;
		if (!strcmp(o->op, "LOCK"))
			a->lock_ns += o->total.sum_ns;
	}
	CALLS_EACH(e, &d->calls, error, server) {
		enum above_op op = op_of(e->op);
		bool jukebox = !strcmp(e->status, "EJUKEBOX"),
		     grace = !strcmp(e->status, "NFS4ERR_GRACE");

		if (jukebox || grace || !strcmp(e->status, "NFS4ERR_DELAY")) {
			a->ops[op].delayed += e->count;
			a->delayed += e->count;
			a->delay = *e;
			a->grace += grace && waits_between(op) ? e->count : 0;
			a->jukebox += jukebox && waits_between(op) ? e->count : 0;
		}
		a->denied += strcmp(e->status, "NFS4ERR_DENIED") ? 0 : e->count;
		if (ARRAY_FIND(r, refusals, COUNT(refusals), !strcmp(*r, e->status))) {
			a->refused += e->count;
			a->refusal = *e;
		}
	}
	add_retries(a, d->ns, a->ops[ABOVE_OPEN].calls - open.calls,
		    a->ops[ABOVE_OPEN].delayed - open.delayed);
	note_mounts(a, d, server);
	if (!c->dirty_limit_bytes)
		return;
	a->dirty_limit_bytes = c->dirty_limit_bytes;
	if ((double)c->dirty_bytes >= AT_LIMIT * (double)c->dirty_limit_bytes)
		a->held_up_ns += d->ns;
}

/* The share of operations @first to @last in the time of all calls. */
static double share_of(const struct judgement *j, enum above_op first, enum above_op last)
{
	uint64_t ns = 0;

	for (int o = first; o <= (int)last; o++)
		ns += j->v->above.ops[o].ns;
	return ratio((double)ns, (double)j->v->total_ns);
}

double main_mean(const struct judgement *j, const char **op)
{
	const struct op_sums *most = j->v->above.ops;
	double mean, all = j->to->numbers.rtt_ns;

	ARRAY_EACH(o, j->v->above.ops, ABOVE_OPS)
		most = o->ns > most->ns ? o : most;
	mean = ratio((double)most->rtt_ns, (double)most->calls);
	*op = 2 * most->ns >= j->v->total_ns && mean >= 2 * all ? most->op : "";
	return **op ? mean : all;
}

/* The mean number of bytes in flight of these calls, by Little's law. */
static double in_flight(const struct judgement *j, enum above_op op)
{
	const struct op_sums *o = &j->v->above.ops[op];

	return ratio((double)o->ns, (double)j->v->active.ns) *
	       ratio((double)o->bytes, (double)o->calls);
}

/* A reader has one to two windows in flight: it asks for the next window when it reaches the begin of one. */
static bool judge_readahead(struct judgement *j)
{
	const struct nfs_mount *m = &j->v->above.mount[RPC_KIND_READ];
	double window = (double)m->window_bytes, flight = in_flight(j, ABOVE_READ);
	double set_bytes = (double)m->readahead_bytes, more = STEP * set_bytes;

	if (share_of(j, ABOVE_READ, ABOVE_READ) < MOST || !m->readahead_known ||
	    window <= FULL_WINDOW * set_bytes || flight < window)
		return false;
	decide(j->to, BOUND_READAHEAD,
	       flight <= SEVERAL * window ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW,
	       "Buffered readers of %s wait for readahead: READs have %.0f KiB in flight, and a "
	       "readahead is %.0f KiB on average; read_ahead_kb is %.0f.",
	       m->mountpoint, flight / 1024, window / 1024, set_bytes / 1024);
	if (flight > SEVERAL * window)
		say(j->to, " More readers in parallel help as well.");
	LOWER(more, WINDOW_MAX);
	if (more <= set_bytes) {
		say(j->to,
		    " A larger value costs memory for each open file and delays other calls.");
		return true;
	}
	j->to->gain_at_most = more / set_bytes * larger(READ_AHEAD * window / flight, 1);
	propose(j, "read_ahead_kb", (uint64_t)more >> 10, m->mountpoint);
	return true;
}

/* Written bytes stay in memory until the COMMIT after their WRITE has ended. */
static bool judge_writeback(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	const struct nfs_mount *m = &a->mount[RPC_KIND_WRITE];
	const struct op_sums *write = &a->ops[ABOVE_WRITE], *commit = &a->ops[ABOVE_COMMIT];
	double write_ns = ratio((double)write->ns, (double)write->calls);
	double commit_ns = ratio((double)commit->ns, (double)commit->calls);
	double held = in_flight(j, ABOVE_WRITE) * (1 + ratio(commit_ns, write_ns));
	double limit = (double)a->dirty_limit_bytes, time = (double)a->held_up_ns;
	char commits[48] = "";

	if (commit->calls)
		snprintf(commits, sizeof(commits), ", and COMMITs take %.*g ms",
			 FIGURE(commit_ns / 1e6));
	if (share_of(j, ABOVE_WRITE, ABOVE_COMMIT) < MOST || m->direct_writes)
		return false;
	if (time >= HELD_UP * (double)j->v->active.ns && held >= IN_FLIGHT * limit) {
		decide(j->to, BOUND_WRITEBACK, CONFIDENCE_MEDIUM,
		       "Writers wait at the limit of dirty pages, %.*g MiB, of which WRITEs and COMMITs hold "
		       "%.*g MiB.",
		       FIGURE(limit / (1 << 20)), FIGURE(held / (1 << 20)));
		if (STEP * a->dirty_limit_bytes > DIRTY_MAX)
			return true;
		j->to->gain_at_most = STEP;
		propose(j, "vm.dirty_bytes", STEP * a->dirty_limit_bytes, "");
		return true;
	}
	if (j->to->numbers.concurrency >= SINGLE || !*m->mountpoint || is_far_away(&j->to->numbers))
		return false;
	decide(j->to, BOUND_WRITEBACK, CONFIDENCE_MEDIUM,
	       "Buffered writes go out one by one, %.*g ms each%s: one thread syncs, "
	       "or each write is synchronous. Fewer syncs, or more threads that sync, raise the throughput.",
	       FIGURE(write_ns / 1e6), commits);
	return true;
}

static bool judge_metadata(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	const struct nfs_mount *m = &a->mount[RPC_KIND_METADATA];
	const char *ac = m->options[NFS_AC], *cache = m->options[NFS_LOOKUPCACHE];
	double all = share_of(j, ABOVE_LOOKUP, ABOVE_NAMES);
	double attributes = share_of(j, ABOVE_LOOKUP, ABOVE_ATTRIBUTES);
	double files = share_of(j, ABOVE_OPEN, ABOVE_FILES);
	uint64_t opened = a->ops[ABOVE_OPEN].calls, returned = a->ops[ABOVE_DELEGRETURN].calls;
	const char *what;
	bool recalled = attributes < all / 2 && returned >= ENOUGH_CALLS && 2 * returned >= opened;

	if (share_of(j, ABOVE_STATE, ABOVE_STATE) >= MOST && j->to->numbers.rtt_ns < SLOW_NS) {
		decide(j->to, BOUND_STATE_RECOVERY, CONFIDENCE_MEDIUM,
		       "Most of the calls' time goes to calls for the client's own state%s%s: it keeps, looks "
		       "for or recovers its lease, session and stateids.",
		       *j->v->op ? ", mostly " : "", j->v->op);
		return true;
	}
	/* A slow server is slow for whatever asks it, except that it waits while it recalls a delegation. */
	if (all < MOST || (!recalled && main_mean(j, &what) >= SLOW_NS))
		return false;
	decide(j->to, BOUND_METADATA, by_share(all),
	       "Calls for metadata are %.0f %% of the calls' time, GETATTR, ACCESS and LOOKUP %.0f %%.",
	       100 * all, 100 * attributes);
	if (attributes < all / 2) {
		if (!recalled && 2 * files >= all)
			say(j->to, " Fewer and larger files, kept open, raise the throughput.");
		else if (!recalled && *j->v->op)
			say(j->to, " Most frequent is %s.", j->v->op);
		else if (recalled)
			say(j->to,
			    " %" PRIu64 " delegations were given back, with %" PRIu64
			    " OPENs: recalled for "
			    "others, or as the client changed or removed the files.%s",
			    returned, opened, j->proposes ? DELEGATIONS : "");
		return true;
	}
	if (!j->proposes)
		return true;
	/* These options weaken what the mount promises: they are named, but are no setting to paste. */
	if (strcmp(cache, "all") != 0 && *cache &&
	    a->ops[ABOVE_LOOKUP].ns > a->ops[ABOVE_ATTRIBUTES].ns)
		say(j->to,
		    " %s has lookupcache=%s. With `all`, names are asked for less often, but files that other "
		    "clients create or remove are seen late: safe only if no other client does.",
		    m->mountpoint, cache);
	else if (!strcmp(ac, "noac"))
		say(j->to,
		    " %s has noac. Without it, attributes are kept and writes are not synchronous, but changes "
		    "by other clients are seen up to 60 s late: safe only if no other client changes the "
		    "files that are read here.",
		    m->mountpoint);
	else if (*ac && strtol(ac, NULL, 10) < ATTRIBUTE_SECONDS)
		say(j->to,
		    " %s has actimeo %s. A larger one, or nocto, asks less often, but changes by other clients "
		    "are then seen late or not at all: safe only for data that no client changes, never "
		    "for checkpoints.",
		    m->mountpoint, ac);
	return true;
}

/* Writers that wait at the limit of dirty pages hold the lock meanwhile: then the limit is the cause. */
bool judge_lock(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	double waiting = ratio((double)a->lock_wait_ns, (double)j->v->active.ns);
	double flight = j->to->numbers.concurrency;

	if (waiting < LOCKED || waiting < flight ||
	    (double)a->held_up_ns >= HELD_UP * (double)j->v->active.ns)
		return false;
	j->to->gain_at_most = 1 + waiting / flight;
	decide(j->to, BOUND_APPLICATION, CONFIDENCE_MEDIUM,
	       "On average %.0f tasks wait for the lock of a file in %s, with %.*g concurrent calls: a buffered "
	       "write keeps all others out, and buffered and O_DIRECT calls keep each other out. More threads "
	       "would wait as well. More files, or O_DIRECT alone, would raise the throughput: %.1f times at "
	       "most.",
	       waiting, a->locked, FIGURE_2(flight), j->to->gain_at_most);
	return true;
}

void say_delays(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	const struct rpc_error *last = &a->delay;

	if (*last->status)
		say(j->to, " Such answers: %" PRIu64 ", the last %s to %s%s%s%s%s.", a->delayed,
		    last->status, last->op, *last->mountpoint ? " on " : "", last->mountpoint,
		    *last->owner ? " of " : "", last->owner);
}

bool judge_delayed(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	double jukebox = (double)a->jukebox, count = 0, rest, waited;
	double all, judged = (double)j->v->judged_ns;
	bool unreturned;

	for (int o = ABOVE_LOOKUP; o <= ABOVE_NAMES; o++)
		count += waits_between(o) ? (double)a->ops[o].delayed : 0;
	waited = larger(RETRY_NS * (count - jukebox), (double)a->retry_ns) + JUKEBOX_NS * jukebox;
	rest = (double)(j->v->total_ns - j->v->phase_ns[RPC_PHASE_DELAY]);
	if (!(waited > 0) || waited < DELAYED * (double)j->v->active.ns || waited < rest)
		return false;
	unreturned = waited >= UNRETURNED_NS * count;
	all = waited + rest;
	j->to->bound_by = BOUND_DELAY;
	/* Many tasks may wait at once, or one for most of the time. */
	j->to->confidence = !j->idle && all > judged / 2       ? by_share(waited / all) :
			    unreturned || all >= RARE * judged ? CONFIDENCE_MEDIUM :
								 CONFIDENCE_LOW;
	if (2 * (double)a->grace > count)
		say(j->to,
		    "The server has restarted: calls for metadata had to wait for the end of its "
		    "grace period.");
	else
		say(j->to,
		    "Calls for metadata had to be made again, as if another client holds a delegation of the "
		    "file: retries wait for %.*g s at least, calls take %.*g s.%s",
		    FIGURE(waited / 1e9), FIGURE(rest / 1e9),
		    a->jukebox ?
			    " Or the server reads the file from a tape." :
		    unreturned ?
			    " That client does not return it: check whether it is down. The server takes it back after a lease time." :
		    j->idle ? "" :
			      DELEGATIONS);
	say_delays(j);
	return true;
}

/* Whether calls that move data take most of the time: others do not hide their limit. An idle server has none. */
static bool moves_data(const struct judgement *j)
{
	return !j->idle && share_of(j, ABOVE_READ, ABOVE_COMMIT) >= MOST;
}

bool judge_denied(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	const char *mountpoint = a->mount[RPC_KIND_METADATA].mountpoint;
	/* The calls that ask for a lock are a part of the wait: one kernel repeated them hundreds of times a second. */
	double waited = DENIED_NS * (double)a->denied + (double)a->lock_ns;
	double others = (double)(j->v->total_ns - a->lock_ns);

	/* A task may also ask again and again (F_SETLK), without a wait. */
	if (a->denied < DENIED || waited < others || waited < DELAYED * (double)j->v->active.ns ||
	    moves_data(j))
		return false;
	decide(j->to, BOUND_APPLICATION, CONFIDENCE_MEDIUM,
	       "Tasks wait for locks (fcntl) of files%s%s that others hold, or poll for them: %" PRIu64
	       " calls were answered NFS4ERR_DENIED. Locks that are held for a shorter time, or a file for each "
	       "task, help.",
	       *mountpoint ? " in " : "", mountpoint, a->denied);
	return true;
}

bool judge_refused(struct judgement *j)
{
	const struct above_sums *a = &j->v->above;
	const struct rpc_error *last = &a->refusal;

	if (a->refused < REFUSED || (double)a->refused < REFUSED_SHARE * (double)j->v->calls ||
	    moves_data(j))
		return false;
	decide(j->to, BOUND_ERRORS, CONFIDENCE_MEDIUM,
	       "%" PRIu64 " of %" PRIu64
	       " calls are refused, the last one %s%s%s with %s%s%s%s: permissions, "
	       "root_squash, or a read-only export%s. Their times show no limit.",
	       a->refused, j->v->calls, last->op, *last->mountpoint ? " to " : "", last->mountpoint,
	       last->status, *last->owner ? " (" : "", last->owner, *last->owner ? ")" : "",
	       j->v->kerberos ? NO_TICKET : "");
	return true;
}

bool judge_above(struct judgement *j)
{
	return (!is_far_away(&j->to->numbers) && judge_metadata(j)) || judge_writeback(j) ||
	       judge_readahead(j);
}

void note_sizes(struct judgement *j)
{
	static const enum nfs_option options[RPC_KINDS] = {
		[RPC_KIND_READ] = NFS_RSIZE, [RPC_KIND_WRITE] = NFS_WSIZE
	};

	for (int k = RPC_KIND_READ; k <= RPC_KIND_WRITE; k++) {
		const enum above_op op = k == RPC_KIND_READ ? ABOVE_READ : ABOVE_WRITE;
		const struct op_sums *o = &j->v->above.ops[op];
		const struct nfs_mount *m = &j->v->above.mount[k];
		double size = strtod(m->options[options[k]], NULL);

		if (!(size > 0) || size >= SIZE_MIN || share_of(j, op, op) < MOST ||
		    ratio((double)o->bytes, (double)o->calls) < FULL_SIZE * size)
			continue;
		say(j->to, " The calls are as large as %s of %s allows, %.0f KiB.",
		    nfs_option_names[options[k]], m->mountpoint, size / 1024);
		j->to->remount = propose(j, nfs_option_names[options[k]], 1 << 20, m->mountpoint);
	}
}
