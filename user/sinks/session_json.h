/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink for programs: a session as JSON, as docs/trace.schema.json describes it.
 */
#ifndef XIDSCOPE_SESSION_JSON_H
#define XIDSCOPE_SESSION_JSON_H

#include <stdio.h>

#include "session/session.h"

/* Raised when a member changes its meaning or goes; new members leave it. */
#define SESSION_JSON_VERSION 1

/* Writes a session that has ended, and a newline. It must have kept its intervals. */
void session_json_write(FILE *out, const struct session *t);

#endif
