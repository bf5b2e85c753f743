/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink that writes a snapshot as a metrics file.
 */
#ifndef XIDSCOPE_OPENMETRICS_H
#define XIDSCOPE_OPENMETRICS_H

#include <stdio.h>

#include "snapshot/snapshot.h"
#include "sinks/metrics.h"

/*
 * Writes all of @s to @out. The formats differ only in the name of a counter
 * in its metadata (OpenMetrics: "x"; Prometheus: "x_total"), the UNIT lines and
 * the final "# EOF"; the levels of detail in the bounds of histograms (metrics_table.h).
 */
void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format,
		       enum metric_detail detail);

#endif
