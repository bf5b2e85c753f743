/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink that writes a snapshot as a metrics file.
 */
#ifndef XIDSCOPE_OPENMETRICS_H
#define XIDSCOPE_OPENMETRICS_H

#include <stdint.h>
#include <stdio.h>

#include "model/snapshot.h"

enum metrics_format {
	FORMAT_OPENMETRICS, /* OpenMetrics 1.0 text */
	FORMAT_PROMETHEUS, /* Prometheus text 0.0.4 */
};

/*
 * Writes all of @s to @out. What differs between the formats is only the name
 * by which a counter's metadata goes (OpenMetrics: "x"; Prometheus: "x_total"),
 * the UNIT lines and the final "# EOF".
 */
void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format);

/* Room for the longest number of the next functions. */
#define NUMBER_SIZE 32

/* @units / 10^@decimals (0 or 9) as an `le`: the shortest decimal that reads
 * back as the same double, with a point or an exponent (OpenMetrics 1.0,
 * "Considerations: Canonical Numbers"). */
void format_bound(char *text, uint64_t units, int decimals);

#endif
