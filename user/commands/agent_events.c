// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's lines about itself and about NFS in the event log. */
#include "commands/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/process.h"
#include "faults/fault_state.h"
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

void agent_events_free(struct agent_events *a)
{
	nfs_watch_free(&a->nfs);
}
