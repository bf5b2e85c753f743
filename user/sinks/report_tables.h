/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report's tables: ops, histograms, episodes, slow calls, events.
 */
#ifndef XIDSCOPE_REPORT_TABLES_H
#define XIDSCOPE_REPORT_TABLES_H

#include <stdio.h>

#include "session/session.h"

/* The ops of each server, the costliest first. */
void report_ops(FILE *out, const struct session *t);

/* The durations of each op's calls as bars. */
void report_histograms(FILE *out, const struct session *t);

void report_episodes(FILE *out, const struct session *t);
void report_slow_calls(FILE *out, const struct session *t);
void report_events(FILE *out, const struct session *t);

/* The ops with calls that are wanted, of @server: the one with the largest sum of time first.
 * Returns how many; free *@ops. Without memory none. */
size_t session_ops(const struct session *t, const char *server, const struct rpc_op ***ops);

#endif
