/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink for people: snapshots as lines, tables and sentences.
 */
#ifndef XIDSCOPE_REPORT_H
#define XIDSCOPE_REPORT_H

#include <stdio.h>

#include "model/snapshot.h"

/* Column heads of report_interval(). */
void report_head(FILE *out);

/* One line on what happened between two snapshots, and one for each slow or stuck
 * connection. */
void report_interval(FILE *out, const struct snapshot *before, const struct snapshot *now);

/* A session that took @seconds and its counters: per server and op the phases, then
 * the faults, then a summary. @open_before: how many faults from before are open. */
void report_session(FILE *out, const struct snapshot *s, double seconds, size_t open_before);

/* Room for the text of format_duration(). */
#define DURATION_SIZE 16

/* Three digits and a unit: "42 ns", "1.05 us", "12.3 ms", "4.10 s"; ">275 s"
 * for UINT64_MAX. */
void format_duration(char *text, uint64_t ns);

#endif
