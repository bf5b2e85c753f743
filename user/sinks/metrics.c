// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every metric family that the program exports. */
#include "sinks/metrics.h"

const char *const metric_type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

/* Which bounds a histogram has: those of 2^first to 2^last, and +Inf. */
#define NONE 0
#define INFINITY_ALONE BOUND_INFINITY
#define POWERS(first, last) (BOUND_INFINITY | ((UINT64_C(2) << (last)) - (UINT64_C(1) << (first))))
#define EVEN_POWERS (BOUND_INFINITY | UINT64_C(0x5555555555555555))
#define CALL_BOUNDS (POWERS(16, 28) | (POWERS(30, 34) & EVEN_POWERS)) /* 66 us to 268 ms, 17 s */
#define PHASE_BOUNDS (POWERS(14, 32) & EVEN_POWERS) /* 16 us to 4.3 s */

const struct metric metrics[METRICS] = {
#define METRIC(id, name, type, unit, labels, help) { name, METRIC_##type, unit, labels, help, {} },
#define HISTOGRAM(id, name, unit, labels, node, op, help) \
	{ name, METRIC_HISTOGRAM, unit, labels, help, { node, op } },
#include "sinks/metrics_table.h"
#undef HISTOGRAM
#undef METRIC
};
