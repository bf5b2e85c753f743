// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the calls to each server between the agent's snapshots, and checkpoint episodes. */
#include "commands/agent.h"

#include "base/clock.h"
#include "base/json.h"
#include "limits/verdict.h"

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
