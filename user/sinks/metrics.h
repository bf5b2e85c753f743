/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every metric family that the program exports: the one table of names, types, units, labels and help.
 * docs/METRICS.md is checked against it. */
#pragma once

#include "snapshot/snapshot.h"

#define METRIC_PREFIX "xidscope_"

/* metrics.tsv has a row for each. */
enum metric_id {
#define TABLE_ROW(id, ...) METRIC_##id,
#include "metrics.inc"
#undef TABLE_ROW
	METRICS,
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* How much the file shows about calls. The lowest level has what alerts, rules, dashboards and documented queries read. Rejected:
 * relabelling in Prometheus, where node and agent still pay; a list of families for each site. */
enum metric_detail {
	DETAIL_NODE, /* sums by kind of call and server; of ops only calls and seconds */
	DETAIL_TRANSPORT, /* each transport */
	DETAIL_OP, /* also phases, bytes and distributions by op */
	METRIC_DETAILS,
};

struct metric {
	const char *name; /* without prefix, without the counter's _total */
	enum metric_type type;
	const char *unit; /* "seconds", "bytes", or "" */
	const char *labels; /* names, separated by ", " */
	const char *help;
	enum metric_detail least; /* the level of detail from which on it is shown */
	/* Bounds of a histogram at each level of detail: bit e is the bound 2^e (ns, tasks or bytes), the highest bit is +Inf. All
	 * are bounds of kernel buckets. */
	uint64_t bounds[METRIC_DETAILS];
};

#define METRIC_INFINITY (UINT64_C(1) << 63)

enum metrics_format {
	FORMAT_OPENMETRICS, /* OpenMetrics 1.0 text */
	FORMAT_PROMETHEUS, /* Prometheus text 0.0.4 */
};

extern const struct metric metrics[METRICS];
extern const char *const metric_type_names[];

/* Writes all of @s to @out. The formats differ in three things: the name of a counter in its metadata (OpenMetrics: "x"; Prometheus:
 * "x_total"), the UNIT lines, and the final "# EOF". The levels of detail differ in the bounds of histograms (metrics.tsv). */
void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format,
		       enum metric_detail detail);
