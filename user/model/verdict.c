// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What limits the calls to a server. */
#include "model/verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *const bound_names[BOUNDS] = {
	[BOUND_SESSION] = "session",
	[BOUND_SLOT] = "slot",
	[BOUND_SEND] = "send",
	[BOUND_DELAY] = "delay",
	[BOUND_RESEND] = "resend",
	[BOUND_CREDENTIALS] = "credentials",
	[BOUND_SERVER] = "server",
	[BOUND_CLIENT_CPU] = "client_cpu",
	[BOUND_APPLICATION] = "application",
	[BOUND_HUNG] = "hung",
	[BOUND_NONE] = "none",
};

const char *const confidence_names[CONFIDENCES] = {
	[CONFIDENCE_LOW] = "low",
	[CONFIDENCE_MEDIUM] = "medium",
	[CONFIDENCE_HIGH] = "high",
};

struct verdict_server {
	char server[LABEL_SIZE];
	uint64_t seconds_ns;
};

void verdict_history_free(struct verdict_history *h)
{
	free(h->servers);
	*h = (struct verdict_history){};
}

static struct verdict_server *history_server(struct verdict_history *h, const char *server)
{
	struct verdict_server *v;

	for (v = h->servers; v < h->servers + h->count; v++)
		if (!strcmp(v->server, server))
			return v;
	v = ARRAY_APPEND(h->servers, h->count);
	if (v)
		snprintf(v->server, sizeof(v->server), "%s", server);
	return v;
}

int verdict_history_add(struct verdict_history *h, const struct snapshot *before,
			const struct snapshot *now)
{
	for (size_t i = 0; i < now->server_count; i++) {
		struct verdict_server *v = history_server(h, now->servers[i].server);

		if (!v)
			return -ENOMEM;
		v->seconds_ns += now->time_ns - before->time_ns;
	}
	return 0;
}

struct verdict verdict_of(const struct verdict_history *h, const char *server)
{
	struct verdict verdict = {
		.bound_by = BOUND_NONE,
		.confidence = CONFIDENCE_LOW,
		.gain_at_least = 1,
		.sentence = "It cannot be decided what limits the calls.",
	};

	snprintf(verdict.server, sizeof(verdict.server), "%s", server);
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->servers[i].server, server))
			verdict.numbers.seconds = (double)h->servers[i].seconds_ns / 1e9;
	return verdict;
}
