// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every metric family that the program exports. */
#include "sinks/metrics.h"

const char *const metric_type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

const struct metric metrics[METRICS] = {
#define METRIC(id, name, type, unit, labels, help) { name, METRIC_##type, unit, labels, help },
#include "sinks/metrics_table.h"
#undef METRIC
};
