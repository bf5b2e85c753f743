/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink for people: a session as sentences and tables.
 */
#ifndef XIDSCOPE_REPORT_H
#define XIDSCOPE_REPORT_H

#include <stdio.h>

#include "session/session.h"

/* A session that has ended: the verdicts, then tables. @histograms: those of each op, too. */
void report_session(FILE *out, const struct session *t, bool histograms);

/* Room for the text of session_event_text(). */
#define SESSION_EVENT_TEXT 512

/* What happened, in @text of SESSION_EVENT_TEXT bytes, which it returns; not escaped. */
const char *session_event_text(char *text, const struct session_event *e);

/* Room for the text of format_duration(). */
#define DURATION_SIZE 16

/* Three digits and a unit: "42 ns", "1.05 us", "12.3 ms", "4.10 s"; ">275 s"
 * for UINT64_MAX. */
void format_duration(char *text, uint64_t ns);

#endif
