// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's lines about itself and about NFS in the event log; the limit of each server; checkpoint episodes. */
#include "commands/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/process.h"
#include "limits/verdict.h"
#include "version.h"

/* An event whose members are being written. */
struct draft {
	struct event event;
	struct json j;
	char *members;
	size_t size;
};

/* Returns false without @log, and without memory. */
static bool begin_event(struct draft *d, const struct event_log *log, enum event_kind kind,
			const char *name)
{
	*d = (struct draft){ .event = { .kind = kind,
					.pid = -1,
					.text = "",
					.alone = true,
					.monotonic_ns = monotonic_ns(),
					.time = wall_seconds() } };
	snprintf(d->event.name, sizeof(d->event.name), "%s", name);
	d->j.out = log ? open_memstream(&d->members, &d->size) : NULL;
	return d->j.out;
}

static void end_event(struct draft *d, struct event_log *log)
{
	if (!fclose(d->j.out)) {
		d->event.members = d->members;
		event_log_add(log, &d->event);
	}
	free(d->members);
}

void agent_events_say(struct agent_events *a, const char *name)
{
	struct draft d;

	if (!begin_event(&d, a->log, EVENT_KIND_AGENT, name))
		return;
	if (!strcmp(name, "start")) {
		json_text(&d.j, "boot", boot_id());
		json_text(&d.j, "version", XIDSCOPE_VERSION);
	}
	end_event(&d, a->log);
	a->alive_ns = monotonic_ns();
}

void agent_events_alive(struct agent_events *a, uint64_t now_ns)
{
	if (now_ns >= a->alive_ns + EVENT_ALIVE_SECONDS * 1000000000ull)
		agent_events_say(a, "alive");
}

static void log_span(const struct log *log, const struct nfs_span *span, double seconds)
{
	bool stall = span->kind == EVENT_KIND_NFS_STALL;

	if (stall && span->end_ns)
		log_info(log, "NFS server %s%s answers again after %.0f s", span->server,
			 span->text, seconds);
	else if (stall)
		log_warn(log, "NFS server %s%s: a call has waited %s for %.0f s", span->server,
			 span->text, rpc_queue_wait(span_of(span->name)), seconds);
	else if (span->end_ns)
		log_info(log, "NFS server %s: ended %d s ago: %s", span->server,
			 (int)(NFS_QUIET_NS / 1000000000), span->text);
	else
		log_warn(log, "NFS server %s: %s", span->server, span->text);
}

void agent_events_span(void *context, const struct nfs_span *span)
{
	struct agent_events *a = context;
	uint64_t until = span->end_ns ? span->end_ns : monotonic_ns();
	double seconds = until > span->begin_ns ? (double)(until - span->begin_ns) / 1e9 : 0;
	bool stall = span->kind == EVENT_KIND_NFS_STALL;
	struct draft d;

	if (a->messages && (stall || span->kind == EVENT_KIND_NFS_ERRORS))
		log_span(a->messages, span, seconds);
	if (!begin_event(&d, a->log, span->kind, span->name))
		return;
	json_text(&d.j, "state", span->end_ns ? "end" : "begin");
	json_nanoseconds(&d.j, "start_monotonic_seconds", span->begin_ns);
	json_fraction(&d.j, "seconds", seconds, 3);
	if (stall && span->end_ns) /* its end is in the last interval */
		json_nanoseconds(&d.j, "least_seconds", span->last_ns - span->begin_ns);
	json_known(&d.j, "owner", span->owner);
	snprintf(d.event.device, sizeof(d.event.device), "%s", span->server);
	snprintf(d.event.severity, sizeof(d.event.severity), "%s",
		 stall || *span->text ? "warning" : "info");
	d.event.text = span->text;
	d.event.text_len = strlen(span->text);
	end_event(&d, a->log);
}

/* Writes the functions of the stack, without offsets. */
static void write_stack(struct json *j, struct span stack)
{
	struct span line, name;

	json_array(j, "stack");
	while (span_next_line(&stack, &line)) {
		span_take_run(&line, " ");
		name = span_take_until(&line, "+");
		json_bytes(j, NULL, name.at, span_left(name));
	}
	json_array_end(j);
}

void agent_events_stuck(void *context, const struct stuck_task *task, struct span stack,
			const char *mountpoint, enum stuck_cause cause)
{
	static const char *const causes[] = {
#define TABLE_ROW(cause, event, finding) [STUCK_##cause] = event,
#include "stuck_causes.inc"
	};
	struct agent_events *a = context;
	uint64_t now = monotonic_ns();
	double seconds = now > task->since_ns ? (double)(now - task->since_ns) / 1e9 : 0;
	struct draft d;
	bool logged;

	if (!task->client) {
		fault_observer_hang(a->faults, task->pid, task->module, task->function,
				    task->since_ns, task->told);
		return;
	}
	logged = begin_event(&d, a->log, EVENT_KIND_NFS_STUCK, task->function);
	process_comm(task->pid, now, d.event.comm, sizeof(d.event.comm));
	if (a->messages)
		log_warn(a->messages, "task %d (%s) hangs in NFS for %.0f s, in %s on %s, %s",
			 task->pid, d.event.comm, seconds, task->function,
			 *mountpoint ? mountpoint : "an unknown mount", causes[cause]);
	if (!logged)
		return;
	json_signed(&d.j, "process", task->process);
	json_bool(&d.j, "rpc", cause != STUCK_NO_RPC);
	json_nanoseconds(&d.j, "start_monotonic_seconds", task->since_ns);
	json_fraction(&d.j, "seconds", seconds, 3);
	write_stack(&d.j, stack);
	d.event.pid = task->pid;
	snprintf(d.event.device, sizeof(d.event.device), "%s", mountpoint);
	snprintf(d.event.severity, sizeof(d.event.severity), "warning");
	end_event(&d, a->log);
}

/* ---- limits and episodes ---- */

void agent_limits_free(struct agent_limits *a)
{
	calls_free(&a->counts);
	episodes_free(&a->episodes);
	limit_sums_free(&a->sums);
}

/* Writes the event of an episode. Its time is the episode's begin. */
static void log_episode(struct event_log *events, const struct episode *e)
{
	struct draft d;

	if (!begin_event(&d, events, EVENT_KIND_EPISODE, episode_kind_names[e->kind]))
		return;
	json_fraction(&d.j, "seconds", e->seconds, 3);
	json_unsigned(&d.j, "bytes", e->bytes);
	json_fraction(&d.j, "mean_bytes_per_second", e->mean_rate, 0);
	json_fraction(&d.j, "peak_bytes_per_second", e->peak_rate, 0);
	json_text(&d.j, "bound_by", bound_names[e->bound_by]);
	json_known(&d.j, "owner", e->owner);
	snprintf(d.event.device, sizeof(d.event.device), "%s", e->server);
	d.event.alone = false;
	d.event.time -= (double)(d.event.monotonic_ns - e->start_ns) / 1e9;
	d.event.monotonic_ns = e->start_ns;
	end_event(&d, events);
}

static void add_episodes(struct agent_limits *a, struct calls *c, const struct delta *d,
			 struct event_log *events)
{
	size_t kept = 0;

	episodes_add(&a->episodes, d);
	ARRAY_EACH(e, a->episodes.list, a->episodes.count) {
		log_episode(events, e);
		episode_count_in(&a->counts, e);
	}
	a->episodes.count = 0;
	ARRAY_EACH(from, a->counts.episodes, a->counts.episode_count) {
		/* The series of a server that has ended end with it. */
		if (strcmp(from->server, LABEL_OTHER) != 0 &&
		    !CALLS_FIND(v, c, server, from->server, true))
			continue;
		a->counts.episodes[kept++] = *from;
		*snapshot_episodes(c, from->server, from->kind) = *from;
	}
	a->counts.episode_count = kept;
}

static void add_worst_transport(struct rpc_server_state *v, const struct calls *before,
				const struct delta *d)
{
	const struct rpc_server_state *then = CALLS_FIND(x, before, server, v->server, true);
	uint64_t longest[RPC_LIMITS] = {};

	CALLS_EACH(t, &d->calls, transport, v->server) {
		for (int l = 0; l < RPC_LIMITS; l++)
			RAISE(longest[l], t->saturated_ns[l]);
		if (t->replies)
			RAISE(v->slowest_rtt_ns, t->rtt_ns / t->replies);
	}
	for (int l = 0; l < RPC_LIMITS; l++)
		v->saturated_ns[l] = longest[l] + (then ? then->saturated_ns[l] : 0);
}

void agent_limits_add(struct agent_limits *a, struct snapshot *s, const struct calls *before,
		      const struct delta *d, struct event_log *events)
{
	ARRAY_EACH(v, s->calls.servers, s->calls.server_count)
		add_worst_transport(v, before, d);
	memset(&a->headline, 0, offsetof(struct headline, items));
	if (d->ns && verdict_is_possible(s->calls.unknown)) {
		limit_sums_add(&a->sums, d);
		ARRAY_EACH(e, s->calls.servers, s->calls.server_count) {
			e->bound_by = bound_names[verdict_of(&a->sums, e->server).bound_by];
			headline_add_server(&a->headline, &a->sums, &s->calls, e->server, s->wall);
		}
		limit_sums_next(&a->sums);
	} else {
		limit_sums_free(&a->sums);
	}
	add_episodes(a, &s->calls, d, events);
}
