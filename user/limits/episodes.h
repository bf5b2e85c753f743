/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checkpoint episodes: bursts of writes (a save) and of reads (a load) to one server. episodes.c has the rules. */
#pragma once

#include "limits/verdict.h"

enum episode_kind { EPISODE_SAVE, EPISODE_LOAD, EPISODE_KINDS };

extern const char *const episode_kind_names[EPISODE_KINDS]; /* "save", "load" */

struct episode {
	char server[LABEL_SIZE];
	enum episode_kind kind;
	uint64_t start_ns; /* CLOCK_MONOTONIC, as in snapshots */
	double seconds;
	uint64_t bytes;
	double mean_rate, peak_rate; /* bytes per second; peak: of one interval */
	double share[RPC_PHASES]; /* of its calls' time, 0 to 1 */
	enum bound bound_by; /* the verdict on the server in its intervals */
	char owner[LABEL_SIZE]; /* the owner that moved most of its bytes; "": not known */
};

struct episode_watch; /* one server and kind */

/* Initialise with {}. */
struct episodes {
	struct episode *list; /* episodes that have ended, in the order of their ends */
	size_t count; /* the caller may set it to 0 when it has used them */
	struct episode_watch *watches;
	size_t watch_count;
	bool begun; /* a first interval has been added */
};

void episodes_free(struct episodes *e);

/* Adds an interval. */
void episodes_add(struct episodes *e, const struct delta *d);

/* Adds an episode to the figures of its server and kind in @c. If EPISODE_SETS others have figures already, it is added to
 * "other". */
void episode_count_in(struct calls *c, const struct episode *e);

/* Ends each burst, because the session ends. */
void episodes_end(struct episodes *e);
