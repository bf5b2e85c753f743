/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agent's verdicts: what limited each server's calls between two of its snapshots, and the
 * checkpoint episodes since its start.
 */
#ifndef XIDSCOPE_VERDICTS_H
#define XIDSCOPE_VERDICTS_H

#include "base/log.h"
#include "limits/episodes.h"
#include "sinks/event_log.h"

/* Initialise with {}. */
struct verdicts {
	struct snapshot before; /* the last one */
	struct snapshot counts; /* has episodes alone */
	struct episodes episodes;
};

void verdicts_free(struct verdicts *v);

/* Adds to @s what limited its calls since the last one, and the episodes. Those that have ended
 * go to @events; NULL: nowhere. Returns 0 or -ENOMEM. */
int verdicts_add(struct verdicts *v, struct snapshot *s, struct event_log *events);

/* Takes @s, which becomes empty, as the last one. */
void verdicts_keep(struct verdicts *v, struct snapshot *s);

#endif
