/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every metric family that the program exports: the one table of names, types,
 * units, labels and help. docs/METRICS.md is checked against it.
 */
#ifndef XIDSCOPE_METRICS_H
#define XIDSCOPE_METRICS_H

#include <stddef.h>

#define METRIC_PREFIX "xidscope_"

enum metric_id {
	METRIC_RPC_SECONDS,
	METRIC_RPC_PHASE_SECONDS,
	METRIC_RPC_SENT_BYTES,
	METRIC_RPC_RECEIVED_BYTES,
	METRIC_RPC_ERRORS,
	METRIC_RPC_RETRANSMITS,
	METRIC_RPC_TIMEOUTS,
	METRIC_RPC_DISCONNECTS,
	METRIC_RPC_CONNECTS,
	METRIC_RPC_SATURATED_SECONDS,
	METRIC_RPC_QUEUE_DEPTH,
	METRIC_RPC_QUEUE_DEPTH_MAX,
	METRIC_RPC_OLDEST_WAITER_SECONDS,
	METRIC_RPC_SLOTS,
	METRIC_GPU_XID_ERRORS,
	METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS,
	METRIC_NVSWITCH_SXID_ERRORS,
	METRIC_HOOK_ATTACHED,
	METRIC_TIER,
	METRIC_EVENTS_DROPPED,
	METRIC_EXPORT_SECONDS,
	METRIC_EXPORT_ERRORS,
	METRIC_MEMORY_BYTES,
	METRIC_BUILD_INFO,
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

extern const struct metric metrics[METRICS];
extern const char *const metric_type_names[];

#endif
