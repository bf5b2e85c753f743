// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The headline: what a person must know first.
 *
 * Somebody is called at night, reads one sentence, and acts on it. All outputs therefore have the same first sentence: the
 * terminal, the page, JSON, `why`, and the status of the agent's unit. They collect items here; the order is:
 *
 * 1. by level: what needs an action now (a fatal Xid, a server that does not answer, data that are lost), then what is over
 *    or can wait, then what is no trouble;
 * 2. by kind: GPU, what is lost, silence, failing calls, limits. A job does not survive a lost GPU, and goes on wrongly
 *    without its data. A silent server stops all of its calls, failing calls stop some, a limit makes them slow;
 * 3. by weight: the longer silence, the limit of more calls at once.
 *
 * Why not the order of servers, or one sentence for each output? Advice for a healthy server then stands above the outage
 * of another. Example: nas-1 has a burst that waits for slots, nas-2 is silent for 9 s, and a GPU is lost. The items are
 * the GPU (critical), the silence (warning: it is over), the burst of nas-1 (its confidence is low: no trouble). */
#include "limits/headline.h"

#include <math.h>

#include "base/safe_text.h"
#include "base/time_text.h"
#include "limits/sums.h"

const char *const headline_level_names[HEADLINE_LEVELS] = { "ok", "warning", "critical" };
const char *const headline_kind_names[HEADLINE_KINDS] = {
	[HEADLINE_GPU] = "gpu",       [HEADLINE_LOST] = "errors", [HEADLINE_SILENT] = "silent",
	[HEADLINE_ERRORS] = "errors", [HEADLINE_OVER] = "silent", [HEADLINE_LIMIT] = "limit",
	[HEADLINE_WELL] = "well",
};

/* As for qsort(). */
static int compare_ranks(const struct headline_rank *a, const struct headline_rank *b)
{
	return ORDER(b->level, a->level) ?: ORDER(a->kind, b->kind) ?: ORDER(b->weight, a->weight);
}

void headline_add(struct headline *h, struct headline_rank rank, const char *subject,
		  const char *format, ...)
{
	struct headline_item *item;
	size_t at = h->count;
	va_list args;

	while (at && compare_ranks(&rank, &h->items[at - 1].rank) < 0)
		at--;
	if (h->count == HEADLINE_ITEMS)
		h->left_out++;
	else
		h->count++;
	if (at == HEADLINE_ITEMS)
		return;
	memmove(&h->items[at + 1], &h->items[at], (h->count - at - 1) * sizeof(*h->items));
	item = &h->items[at];
	*item = (struct headline_item){ .rank = rank };
	snprintf(item->subject, sizeof(item->subject), "%s", subject);
	va_start(args, format);
	safe_vformat(item->text, sizeof(item->text), format, args);
	va_end(args);
	/* A sentence that others may follow ends with a blank. */
	for (size_t len = strlen(item->text); len && item->text[len - 1] == ' ';)
		item->text[--len] = 0;
}

void headline_note_quiet(struct headline *h, const char *state, const char *first, size_t count)
{
	char more[32] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " and %zu more", count - 1);
	safe_format(h->quiet, sizeof(h->quiet), " (%s: %s%s)", state, first, more);
}

void headline_add_faults(struct headline *h, const struct known_fault *faults, size_t count)
{
	char text[KNOWN_FAULT_TEXT];
	const struct known_fault *quiet = NULL;
	size_t quiets = 0, open = 0;

	ARRAY_EACH(f, faults, count)
		if (f->standing == STANDING_ACKNOWLEDGED || f->standing == STANDING_SNOOZED)
			quiet = quiets++ ? quiet : f;
	if (quiet) {
		snprintf(text, sizeof(text), "%s on %s", FAULT_NAME(quiet->kind, quiet->what),
			 quiet->device);
		headline_note_quiet(h, fault_standing_names[quiet->standing], text, quiets);
	}
	/* More would hide what is wrong with the servers. */
	ARRAY_EACH(f, faults, count)
		if (f->standing == STANDING_OPEN && ++open > HEADLINE_ITEMS / 2)
			h->left_out++;
		else if (f->standing == STANDING_OPEN)
			headline_add(h,
				     HEADLINE_RANK(f->level > 1 ? HEADLINE_FAIL : HEADLINE_WARN,
						   HEADLINE_GPU, 0),
				     f->device, "%s", known_fault_text(text, f));
}

bool headline_rank_kernel(struct headline_rank *rank, struct span kind, const char *device,
			  const char *grade)
{
	bool fatal = !strcmp(grade, "fatal") ||
		     (span_is(kind, "kernel_oops") && fault_module_is_watched(device));

	*rank = HEADLINE_RANK(fatal || span_is(kind, "nfs_state_lost") ? HEADLINE_FAIL :
									 HEADLINE_WARN,
			      fatal ? HEADLINE_GPU : HEADLINE_ERRORS, 0);
	return strcmp(grade, "info") != 0;
}

/* ---- servers ---- */

/* Adds that the server does not answer, or not all calls. */
static void add_silence(struct headline *h, const struct server_sums *v, const char *victims,
			uint64_t hung_ns, double now)
{
	struct headline_rank rank = { hung_ns ? HEADLINE_FAIL : HEADLINE_WARN, HEADLINE_SILENT, 0 };
	char reason[SILENCE_REASON_SIZE], text[SILENCE_REASON_SIZE];
	const char *colon = *silence_reason(reason, v, v->lost, hung_ns) ? ": " : "";

	if (hung_ns) {
		rank.weight = (double)hung_ns / 1e9;
		headline_add(
			h, rank, v->server,
			"%s does not answer for %.0f s, since %s%s%s%s. Look at the server, and at the network "
			"to it; calls of a hard mount continue when it answers.",
			v->server, rank.weight, CLOCK_TIME(now - rank.weight), victims, colon,
			reason);
	} else if (v->unanswered_ns >= HUNG_NS) {
		rank.weight = (double)v->unanswered_ns / 1e9;
		rank.level = v->unanswered_ns >= 12 * HUNG_NS ? HEADLINE_FAIL : HEADLINE_WARN;
		headline_add(
			h, rank, v->server, "%s%s %s for %.0f s%s%s%s%s.", v->server, victims,
			/* Those that ended in a long interval may all have ended before it was sent. */
			v->unheard_ns && v->unheard_ns < v->unanswered_ns ?
				"answers other calls, but the oldest has waited" :
				"has left one call unanswered",
			rank.weight, *v->waits_on ? " on " : "", v->waits_on, colon, reason);
	} else if (v->unanswered_most_ns >= (v->disconnects || *v->waited_on ? 2 : 6) * HUNG_NS &&
		   !(v->longest_stall.end > 0)) {
		rank.weight = (double)v->unanswered_most_ns / 1e9;
		headline_add(
			h, rank, v->server,
			"%s%s answered other calls, but one waited for %.0f s%s%s%s.", v->server,
			v->victims, rank.weight, *v->waited_on ? " on " : "", v->waited_on,
			*v->waited_on ?
				", which carried no reply: look at its path through the network" :
			v->disconnects ?
				" on a connection that was lost: look at the network to the server" :
				": its own log may say why");
	}
	rank = HEADLINE_RANK(HEADLINE_WARN, HEADLINE_SILENT, (double)v->lock_wait_ns / 1e9);
	if (v->lock_wait_ns)
		headline_add(h, rank, v->server, "%s%s: %s", v->server, victims,
			     wait_text(text, v->lock_wait_by, v->lock_wait_ns, WAIT_LOCKD));
}

/* Adds the longest silence that is over. A client that loses its state or its connections again and again is silent in between. */
static void add_stall(struct headline *h, const struct server_sums *v, const struct verdict *to)
{
	const struct failed_calls *worst = failures_worst(&v->failures);
	const struct stall *s = &v->longest_stall;
	bool again = (to->bound_by == BOUND_STATE_RECOVERY && to->confidence == CONFIDENCE_HIGH) ||
		     (to->closings_len && s->ns < HUNG_NS);
	bool fails = again || (worst && !worst->over &&
			       failure_of(worst->op, worst->status) != FAILURE_STATE);
	const struct headline_rank rank = { HEADLINE_WARN, fails ? HEADLINE_OVER : HEADLINE_SILENT,
					    s->end - s->begin };
	char reason[SILENCE_REASON_SIZE] = "", more[48] = "", late[64] = "", least[32] = "";
	bool unsure = s->unsure >= 2; /* after long intervals, as the agent's */

	if (s->lost == LOST_ONLY_LARGE)
		silence_reason(reason, v, s->lost, true);
	else if (*s->waits_on)
		snprintf(reason, sizeof(reason),
			 "all calls waited on %s, one of %" PRIu32 " connections", s->waits_on,
			 v->transports);
	if (v->stalls > 1)
		snprintf(more, sizeof(more), ", the longest of %u such times", v->stalls);
	if (s->late_end >= s->end + 2 && (s->late == 1u << 3 || s->late == 1u << 4))
		snprintf(late, sizeof(late), ", and its NFSv%c calls ended %.0f s later",
			 s->late == 1u << 3 ? '3' : '4', s->late_end - s->end);
	else if (s->last >= s->end + 2)
		snprintf(late, sizeof(late), ", and some of its calls ended %.0f s later",
			 s->last - s->end);
	if (unsure)
		snprintf(least, sizeof(least), "%.0f to ", rank.weight - s->unsure);
	headline_add(
		h, rank, v->server,
		"%s%s did not answer for %s%.*f s, from %s to %s%s%s%s%s%s%s%s. %s.", v->server,
		s->victims, least, !unsure, rank.weight, CLOCK_TIME(s->begin), CLOCK_TIME(s->end),
		unsure ? " at the latest" : "",
		*s->moved_to ?
			", until the client had connected to " :
		s->restarted ?
			", until the client had registered again: the server has restarted, or dropped the client" :
		s->reconnected ? ", until the client had reconnected" :
				 "",
		s->moved_to, late, more, *reason ? ": " : "", reason,
		*s->waits_on ? "Look at the network to it, and at its log" :
			       "Its own log may say why");
}

/* Adds waits of tasks that the verdict does not name: they are over, or other calls were more. After a stall state is recovered. */
static void add_waits(struct headline *h, const struct server_sums *v, enum bound said)
{
	const struct failed_calls *worst = failures_worst(&v->failures);
	bool expired = worst && failure_of(worst->op, worst->status) == FAILURE_TICKET;
	double upcall = (double)v->upcall_ns / 1e9, drained = (double)v->draining_ns / 1e9;
	char text[FAILURE_TEXT_SIZE];

	if (v->upcall_ns >= HUNG_NS && said != BOUND_CREDENTIALS && said != BOUND_HUNG && !expired)
		headline_add(h, HEADLINE_RANK(HEADLINE_WARN, HEADLINE_SILENT, upcall), v->server,
			     "%s: %s", v->server,
			     wait_text(text, v->upcall_by, v->upcall_ns, WAIT_GSSD));
	if (drained >= 10 && said != BOUND_STATE_RECOVERY && !(v->longest_stall.end > 0) &&
	    !v->silent_ns)
		headline_add(
			h, HEADLINE_RANK(HEADLINE_WARN, HEADLINE_ERRORS, drained), v->server,
			"%s: calls waited for %.0f s until the client had recovered its state.",
			v->server, drained);
}

/* Of the verdict: calls that fail, or a limit. What is said elsewhere is left out: silence, and that nothing limits. */
static void add_verdict(struct headline *h, const struct server_sums *v, const struct verdict *to)
{
	const struct failed_calls *worst = failures_worst(&v->failures);
	struct headline_rank rank = { .kind = HEADLINE_LIMIT, .weight = to->numbers.concurrency };
	const char *rest = to->sentence + to->failures_len;
	char text[FAILURE_TEXT_SIZE];

	/* The verdict says why the server does not know the client's state. */
	if (worst && (to->bound_by != BOUND_STATE_RECOVERY ||
		      failure_of(worst->op, worst->status) != FAILURE_STATE))
		headline_add(h,
			     HEADLINE_RANK(failure_is_final(worst) ? HEADLINE_FAIL : HEADLINE_WARN,
					   HEADLINE_ERRORS, (double)worst->count),
			     v->server, "%s: %s", v->server, failures_text(text, &v->failures));
	if (to->bound_by == BOUND_STATE_RECOVERY && to->confidence > CONFIDENCE_LOW)
		rank.kind = HEADLINE_ERRORS;
	else if (to->bound_by == BOUND_NONE)
		rank.kind =
			!v->calls_ended && v->oldest_ns >= v->ns ? HEADLINE_SILENT : HEADLINE_WELL;
	if (to->closings_len)
		headline_add(h,
			     HEADLINE_RANK(HEADLINE_WARN, HEADLINE_ERRORS, (double)v->disconnects),
			     v->server, "%s: %.*s", v->server, (int)to->closings_len - 1, rest);
	rest += to->closings_len;
	if (to->bound_by != BOUND_NONE && to->bound_by != BOUND_APPLICATION &&
	    to->bound_by != BOUND_ERRORS && to->confidence > CONFIDENCE_LOW)
		rank.level = HEADLINE_WARN;
	if (to->bound_by == BOUND_HUNG || (to->bound_by == BOUND_ERRORS && worst) || !*rest)
		return;
	if (to->bound_by != BOUND_NONE)
		headline_add(h, rank, v->server, "%s: bound by %s, confidence %s. %s", v->server,
			     bound_names[to->bound_by], confidence_names[to->confidence], rest);
	else if (!ARRAY_FIND(item, h->items, h->count, !strcmp(item->subject, v->server)))
		headline_add(h, rank, v->server, "%s: %s", v->server, rest);
}

void headline_add_server(struct headline *h, const struct limit_sums *sums, const struct calls *c,
			 const char *server, double now)
{
	const struct server_sums *v = server_sums_of(sums, server);
	struct verdict to = verdict_of(sums, server);
	uint64_t hung_ns = server_hangs(sums, server);

	if (!v || !(v->calls_ended || v->oldest_ns || v->silent_ns || v->upcall_ns ||
		    v->lock_wait_ns || v->draining_ns || v->draining_now_ns ||
		    v->longest_stall.end > 0 || failures_worst(&v->failures)))
		return;
	add_silence(h, v, VICTIMS(c, server, !hung_ns), hung_ns, now);
	if (v->longest_stall.end > 0)
		add_stall(h, v, &to);
	add_waits(h, v, to.bound_by);
	add_verdict(h, v, &to);
}

void headline_end(struct headline *h, bool gpu_watched, const struct calls *c, bool calls_ended)
{
	bool blind = !snapshot_knows(c, RPC_FACT_OLDEST + RPC_QUEUE_PENDING) &&
		     (c->op_count || c->mount_count);
	const char *nfs = *c->rpc_missing ? "NFS was not observed" :
			  blind           ? "this source does not see calls that wait" :
			  calls_ended     ? "each server that had calls answered" :
					    "no NFS call ended";
	const struct headline_rank rank = { .kind = HEADLINE_WELL, .weight = INFINITY };

	if (h->count && h->items[0].rank.kind != HEADLINE_WELL)
		return;
	if (!gpu_watched)
		headline_add(
			h, rank, "",
			"Nothing is known to be wrong, but faults of GPUs were not observed; %s.",
			nfs);
	else if (*c->rpc_missing || blind)
		headline_add(h, rank, "",
			     "Nothing is known to be wrong: no open fault of a GPU%s, but %s.",
			     h->quiet, nfs);
	else
		headline_add(h, rank, "", "All is well: no open fault of a GPU%s, and %s.",
			     h->quiet, nfs);
}
