/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open files of an agent and of its writers. In a slow guest some file is being written
 * most of the time, so each kind is counted by itself: none has to be idle when another is.
 */
#ifndef XIDSCOPE_DESCRIPTORS_H
#define XIDSCOPE_DESCRIPTORS_H

#include "agent.h"

struct descriptors {
	long memory; /* texts on the way to a writer */
	long files; /* in the agent's folder */
	long others;
};

long descriptors_sum(const struct descriptors *d);

/* The least that are open while four versions of the file are written: serves meanwhile. */
struct descriptors descriptors_idle(struct agent *a);

/*
 * It is wrong if there are more than @idle and @allowed in all, or less of a kind: by the moment
 * nearest to @idle for each kind. Serves until there are not, a minute at most: a file that could
 * not be opened is tried again.
 */
void descriptors_judge(struct agent *a, const struct descriptors *idle, long allowed);

#endif
