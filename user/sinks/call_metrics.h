/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The families about calls, their bytes and errors.
 */
#ifndef XIDSCOPE_CALL_METRICS_H
#define XIDSCOPE_CALL_METRICS_H

#include "snapshot/snapshot.h"
#include "sinks/metrics_writer.h"

/* Writes them with the writer's level of detail. */
void call_metrics_write(struct metrics_writer *w, const struct snapshot *s);

#endif
