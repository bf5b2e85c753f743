// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The agent's verdicts between its snapshots. */
#include "commands/verdicts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "limits/verdict.h"

void verdicts_free(struct verdicts *v)
{
	snapshot_free(&v->before);
	snapshot_free(&v->counts);
	episodes_free(&v->episodes);
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

static int add_episodes(struct verdicts *v, struct snapshot *s, struct event_log *events)
{
	struct episode_stats *to;
	int err;

	if (v->before.time_ns) {
		err = episodes_add(&v->episodes, &v->before, s);
		if (err)
			return err;
	}
	for (size_t i = 0; i < v->episodes.count; i++) {
		if (events)
			log_episode(events, &v->episodes.list[i]);
		err = episode_count_in(&v->counts, &v->episodes.list[i]);
		if (err)
			return err;
	}
	v->episodes.count = 0;
	for (size_t i = 0; i < v->counts.calls.episode_count; i++) {
		to = snapshot_episodes(&s->calls, v->counts.calls.episodes[i].server,
				       v->counts.calls.episodes[i].kind);
		if (!to)
			return -ENOMEM;
		*to = v->counts.calls.episodes[i];
	}
	return 0;
}

int verdicts_add(struct verdicts *v, struct snapshot *s, struct event_log *events)
{
	struct verdict_history history = {};
	int err = 0;

	if (v->before.time_ns && verdict_is_possible(s)) {
		err = verdict_history_add(&history, &v->before, s);
		for (size_t i = 0; i < s->calls.server_count && !err; i++)
			s->calls.servers[i].bound_by =
				bound_names[verdict_of(&history, s->calls.servers[i].server)
						    .bound_by];
		verdict_history_free(&history);
	}
	return err ? err : add_episodes(v, s, events);
}

void verdicts_keep(struct verdicts *v, struct snapshot *s)
{
	snapshot_free(&v->before);
	v->before = *s;
	*s = (struct snapshot){};
}
