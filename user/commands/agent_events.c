// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's lines about itself and about NFS in the event log; what limits the calls to each server between its
 * snapshots, and checkpoint episodes. */
#include "commands/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/process.h"
#include "faults/fault_state.h"
#include "limits/verdict.h"
#include "version.h"

/* Other members that @event lacks are set here. */
static void add(struct event_log *log, struct event event, const char *name, const char *members)
{
	event.monotonic_ns = monotonic_ns();
	event.time = wall_seconds();
	event.pid = event.pid ? event.pid : -1;
	event.alone = true;
	event.text = "";
	event.members = members;
	snprintf(event.name, sizeof(event.name), "%s", name);
	event_log_add(log, &event);
}

static void add_agent(struct agent_events *a, const char *name, const char *members)
{
	if (!a->log)
		return;
	add(a->log, (struct event){ .kind = "agent" }, name, members);
	a->alive_ns = monotonic_ns();
}

void agent_events_start(struct agent_events *a)
{
	char boot[BOOT_ID_SIZE], *members = NULL;
	struct json j = {};
	size_t size;

	j.out = open_memstream(&members, &size);
	if (j.out) {
		boot_id_read(boot);
		json_text(&j, "boot", boot);
		json_text(&j, "version", XIDSCOPE_VERSION);
		if (!fclose(j.out))
			add_agent(a, "start", members);
	}
	free(members);
}

void agent_events_alive(struct agent_events *a, uint64_t now_ns)
{
	if (now_ns >= a->alive_ns + EVENT_ALIVE_SECONDS * 1000000000ull)
		add_agent(a, "alive", "");
}

void agent_events_stop(struct agent_events *a)
{
	add_agent(a, "stop", "");
}

static void say_stall(const struct log *log, const struct nfs_span *span, double seconds)
{
	if (span->end_ns)
		log_info(log, "NFS server %s: its stall is over after %.0f s", span->server,
			 seconds);
	else
		log_warn(log, "NFS server %s: a call waits for %.0f s in the queue %s",
			 span->server, seconds, span->name);
}

static void on_span(void *context, const struct nfs_span *span)
{
	struct agent_events *a = context;
	struct event event = { .kind = span->kind };
	struct json j = {};
	char *members = NULL;
	size_t size;
	uint64_t end = span->end_ns ? span->end_ns : monotonic_ns();
	double seconds = end > span->begin_ns ? (double)(end - span->begin_ns) / 1e9 : 0;
	bool stall = !strcmp(span->kind, "nfs_stall");

	if (stall && a->messages)
		say_stall(a->messages, span, seconds);
	j.out = open_memstream(&members, &size);
	if (!j.out)
		return;
	json_text(&j, "state", span->end_ns ? "end" : "begin");
	json_nanoseconds(&j, "start_monotonic_seconds", span->begin_ns);
	json_fraction(&j, "seconds", seconds, 3);
	if (*span->owner)
		json_text(&j, "owner", span->owner);
	snprintf(event.device, sizeof(event.device), "%s", span->server);
	snprintf(event.severity, sizeof(event.severity), "%s", stall ? "warning" : "info");
	if (!fclose(j.out))
		add(a->log, event, span->name, members);
	free(members);
}

void agent_events_add(struct agent_events *a, const struct delta *d)
{
	if (a->log)
		nfs_watch_add(&a->nfs, d, on_span, a);
}

/* The stack line by line, without the offsets. */
static void write_stack(struct json *j, struct span stack)
{
	json_array(j, "stack");
	while (span_left(stack)) {
		struct span line = span_take_line(&stack), name;

		span_take_run(&line, " ");
		name = span_take_until(&line, "+");
		json_bytes(j, NULL, name.at, span_left(name));
	}
	json_array_end(j);
}

void agent_events_stuck(void *context, const struct stuck_task *task, struct span stack,
			const char *mountpoint, bool rpc)
{
	struct agent_events *a = context;
	struct event event = { .kind = "nfs_stuck", .pid = task->pid };
	struct json j = {};
	char *members = NULL;
	size_t size;
	uint64_t now = monotonic_ns();
	double seconds = now > task->since_ns ? (double)(now - task->since_ns) / 1e9 : 0;

	process_first_line(task->pid, now, "comm", event.comm, sizeof(event.comm));
	if (a->messages)
		log_warn(a->messages, "task %d (%s) hangs in NFS for %.0f s, in %s on %s, %s",
			 task->pid, event.comm, seconds, task->function,
			 *mountpoint ? mountpoint : "an unknown mount",
			 rpc ? "behind a call" : "and no call is outstanding");
	j.out = a->log ? open_memstream(&members, &size) : NULL;
	if (!j.out)
		return;
	json_signed(&j, "process", task->process);
	json_bool(&j, "rpc", rpc);
	json_nanoseconds(&j, "start_monotonic_seconds", task->since_ns);
	json_fraction(&j, "seconds", seconds, 3);
	write_stack(&j, stack);
	snprintf(event.device, sizeof(event.device), "%s", mountpoint);
	snprintf(event.severity, sizeof(event.severity), "warning");
	if (!fclose(j.out))
		add(a->log, event, task->function, members);
	free(members);
}

/* ---- limits and episodes ---- */

void agent_limits_free(struct agent_limits *a)
{
	calls_free(&a->counts);
	episodes_free(&a->episodes);
}

/* The event of an episode; its time is that of its start. */
static void log_episode(struct event_log *events, const struct episode *e)
{
	struct event event = { .kind = "checkpoint_episode", .pid = -1, .text = "" };
	struct json j = { .out = NULL };
	char *members = NULL;
	size_t size;

	j.out = open_memstream(&members, &size);
	if (!j.out)
		return;
	json_fraction(&j, "seconds", e->seconds, 3);
	json_unsigned(&j, "bytes", e->bytes);
	json_fraction(&j, "mean_bytes_per_second", e->mean_rate, 0);
	json_fraction(&j, "peak_bytes_per_second", e->peak_rate, 0);
	json_text(&j, "bound_by", bound_names[e->bound_by]);
	if (*e->owner)
		json_text(&j, "owner", e->owner);
	if (!fclose(j.out)) {
		snprintf(event.name, sizeof(event.name), "%s", episode_kind_names[e->kind]);
		snprintf(event.device, sizeof(event.device), "%s", e->server);
		event.monotonic_ns = e->start_ns;
		event.time = wall_seconds() - (double)(monotonic_ns() - e->start_ns) / 1e9;
		event.members = members;
		event_log_add(events, &event);
	}
	free(members);
}

static int add_episodes(struct agent_limits *a, struct calls *c, const struct delta *d,
			struct event_log *events)
{
	int err = episodes_add(&a->episodes, d);

	for (size_t i = 0; i < a->episodes.count && !err; i++) {
		if (events)
			log_episode(events, &a->episodes.list[i]);
		err = episode_count_in(&a->counts, &a->episodes.list[i]);
	}
	a->episodes.count = 0;
	for (size_t i = 0; i < a->counts.episode_count && !err; i++) {
		const struct episode_stats *from = &a->counts.episodes[i];
		struct episode_stats *to = snapshot_episodes(c, from->server, from->kind);

		if (!to)
			return -ENOMEM;
		*to = *from;
	}
	return err;
}

int agent_limits_add(struct agent_limits *a, struct snapshot *s, const struct delta *d,
		     struct event_log *events)
{
	struct limit_sums sums = {};
	int err = 0;

	if (d->ns && verdict_is_possible(&s->calls)) {
		err = limit_sums_add(&sums, d);
		for (size_t i = 0; i < s->calls.server_count && !err; i++)
			s->calls.servers[i].bound_by =
				bound_names[verdict_of(&sums, s->calls.servers[i].server).bound_by];
		limit_sums_free(&sums);
	}
	return err ? err : add_episodes(a, &s->calls, d, events);
}
