/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `xidscope top` and `xidscope status`: what they share, and what trace.c needs of them. */
#pragma once

#include "sinks/report.h"

struct options;

/* ---- top.c: the view of trace.c's sessions on a screen, or as text ---- */

struct top {
	const struct options *options;
	struct top_view view;
	const struct session *session; /* that was shown last */
	char header[2048];
	uint64_t left; /* views still to be printed as text; 0: it has the screen */
};

/* Returns 0, or an exit code after a message. */
int top_begin(struct top *t, const struct options *o);

/* Shows the session's latest interval with its faults. Returns 0, or -ECANCELED: that was the last view. */
int top_show(struct top *t, const struct session *session);

/* Handles the keys that have come, and a new size of the screen. Returns whether top shall end. */
bool top_keys(struct top *t);

/* Of a recording: shows the view for an interval, while it is frozen, or if it is the @last. Returns 0, or -ECANCELED. */
int top_wait(struct top *t, bool last);

/* ---- status.c ---- */

/* Writes what the agent judges to @text, as one line of safe text: "critical, 3 s ago: GPU ..."; or why it is not known. */
void agent_line(char *text, size_t size, const struct options *o);

/* Whether an agent has written the health file lately. */
bool agent_runs(const struct options *o);
