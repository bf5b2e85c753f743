/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every metric family that the program exports: the one table of names, types,
 * units, labels and help. docs/METRICS.md is checked against it.
 */
#ifndef XIDSCOPE_METRICS_H
#define XIDSCOPE_METRICS_H

#define METRIC_PREFIX "xidscope_"

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "sinks/metrics_table.h"
#undef METRIC
	METRICS,
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric {
	const char *name; /* without prefix, without the counter's _total */
	enum metric_type type;
	const char *unit; /* "seconds", "bytes", or "" */
	const char *labels; /* names, separated by ", " */
	const char *help;
};

enum metrics_format {
	FORMAT_OPENMETRICS, /* OpenMetrics 1.0 text */
	FORMAT_PROMETHEUS, /* Prometheus text 0.0.4 */
};

extern const struct metric metrics[METRICS];
extern const char *const metric_type_names[];

#endif
