// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's lines about itself and about NFS in the event log. */
#include "commands/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "faults/fault_state.h"
#include "version.h"

static void add(struct event_log *log, struct event event, const char *name, const char *members)
{
	event.monotonic_ns = monotonic_ns();
	event.time = wall_seconds();
	event.pid = -1;
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

void agent_events_free(struct agent_events *a)
{
	nfs_watch_free(&a->nfs);
}
