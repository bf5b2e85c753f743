// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every metric family that the program exports. */
#include "metrics.h"

const char *const metric_type_names[] = {
	[METRIC_COUNTER] = "counter",
	[METRIC_GAUGE] = "gauge",
	[METRIC_HISTOGRAM] = "histogram",
};

const struct metric metrics[METRICS] = {
	[METRIC_RPC_SECONDS] = {
		"rpc_seconds", METRIC_HISTOGRAM, "seconds", "server, op",
		"Duration of NFS calls, from task start to task end." },
	[METRIC_RPC_PHASE_SECONDS] = {
		"rpc_phase_seconds", METRIC_HISTOGRAM, "seconds",
		"server, op, phase",
		"Additive parts of the duration of NFS calls." },
	[METRIC_RPC_SENT_BYTES] = {
		"rpc_sent_bytes", METRIC_COUNTER, "bytes", "server, op",
		"Bytes sent for NFS calls, RPC headers included." },
	[METRIC_RPC_RECEIVED_BYTES] = {
		"rpc_received_bytes", METRIC_COUNTER, "bytes", "server, op",
		"Bytes received in replies to NFS calls, RPC headers included." },
	[METRIC_RPC_ERRORS] = {
		"rpc_errors", METRIC_COUNTER, "", "server, op, status",
		"NFS calls that ended with an error." },
	[METRIC_RPC_RETRANSMITS] = {
		"rpc_retransmits", METRIC_COUNTER, "", "server, transport",
		"Times that a call was sent again, counted when the call ends." },
	[METRIC_RPC_TIMEOUTS] = {
		"rpc_timeouts", METRIC_COUNTER, "", "server, transport",
		"Major timeouts of calls, counted when the call ends." },
	[METRIC_RPC_DISCONNECTS] = {
		"rpc_disconnects", METRIC_COUNTER, "", "server, transport",
		"Connections lost or closed." },
	[METRIC_RPC_CONNECTS] = {
		"rpc_connects", METRIC_COUNTER, "", "server, transport",
		"Connections established, since the transport was made." },
	[METRIC_RPC_SATURATED_SECONDS] = {
		"rpc_saturated_seconds", METRIC_COUNTER, "seconds",
		"server, transport, limit",
		"Time during which at least one task waited for this limit." },
	[METRIC_RPC_QUEUE_DEPTH] = {
		"rpc_queue_depth", METRIC_HISTOGRAM, "", "server, queue",
		"Tasks in a queue, as met by each task that joins it (slot, "
		"session, send) or as each call ends (xmit, pending)." },
	[METRIC_RPC_QUEUE_DEPTH_MAX] = {
		"rpc_queue_depth_max", METRIC_GAUGE, "", "server, queue",
		"Most tasks in a queue since the last write." },
	[METRIC_RPC_OLDEST_WAITER_SECONDS] = {
		"rpc_oldest_waiter_seconds", METRIC_GAUGE, "seconds",
		"server, queue",
		"Age of the oldest wait in a queue; of the oldest unanswered "
		"call for queue pending." },
	[METRIC_RPC_SLOTS] = {
		"rpc_slots", METRIC_GAUGE, "", "server, transport, kind",
		"RPC slots of a transport." },
	[METRIC_GPU_XID_ERRORS] = {
		"gpu_xid_errors", METRIC_COUNTER, "",
		"gpu, xid, severity, action",
		"Xid errors that the NVIDIA driver reported." },
	[METRIC_GPU_XID_INCIDENTS] = {
		"gpu_xid_incidents", METRIC_COUNTER, "", "gpu, xid",
		"Bursts of the same Xid: reports less than 5 s apart are one." },
	[METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS] = {
		"gpu_xid_last_timestamp_seconds", METRIC_GAUGE, "seconds",
		"gpu, xid", "When the last such Xid was reported." },
	[METRIC_NVSWITCH_SXID_ERRORS] = {
		"nvswitch_sxid_errors", METRIC_COUNTER, "",
		"device, sxid, severity",
		"SXid errors that the NVSwitch driver reported." },
	[METRIC_NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS] = {
		"nvswitch_sxid_last_timestamp_seconds", METRIC_GAUGE, "seconds",
		"device, sxid", "When the last such SXid was reported." },
	[METRIC_GPU_FAULT_REPORTS] = {
		"gpu_fault_reports", METRIC_COUNTER, "", "path",
		"Xid and SXid errors by what reported them: the kernel log's "
		"text, the driver's own hook, or both." },
	[METRIC_GPU_DRIVER_ERRORS] = {
		"gpu_driver_errors", METRIC_COUNTER, "", "gpu, kind",
		"Failures that the NVIDIA driver reported without an Xid." },
	[METRIC_GPU_DRIVER_ERROR_LAST_TIMESTAMP_SECONDS] = {
		"gpu_driver_error_last_timestamp_seconds", METRIC_GAUGE,
		"seconds", "gpu, kind",
		"When the last such failure was reported." },
	[METRIC_GPU_RECOVERED_TIMESTAMP_SECONDS] = {
		"gpu_recovered_timestamp_seconds", METRIC_GAUGE, "seconds",
		"gpu, evidence",
		"When something last told that earlier faults are over." },
	[METRIC_GPU_GSP_RATE_LIMITED] = {
		"gpu_gsp_rate_limited", METRIC_GAUGE, "", "gpu",
		"1 while the driver holds back reports of GSP errors." },
	[METRIC_GPU_INFO] = {
		"gpu_info", METRIC_GAUGE, "", "gpu, uuid, serial",
		"The identity of a GPU as its driver told it; always 1." },
	[METRIC_KERNEL_EVENTS] = {
		"kernel_events", METRIC_COUNTER, "", "kind, device",
		"Other kernel messages and events that tell of trouble." },
	[METRIC_KERNEL_LOG_LOST_RECORDS] = {
		"kernel_log_lost_records", METRIC_COUNTER, "", "",
		"Kernel log records that were overwritten before they were "
		"read." },
	[METRIC_NODE_HEALTH] = {
		"node_health", METRIC_GAUGE, "", "check",
		"Verdict of each health rule: 0 well, 1 warning, 2 failed." },
	[METRIC_HOOK_ATTACHED] = {
		"hook_attached", METRIC_GAUGE, "", "hook",
		"Whether the kernel hook is in place." },
	[METRIC_TIER] = {
		"tier", METRIC_GAUGE, "", "tier",
		"How sunrpc is observed: 1 for the tier in force." },
	[METRIC_EVENTS_DROPPED] = {
		"events_dropped", METRIC_COUNTER, "", "reason",
		"Records that a full table or buffer could not hold." },
	[METRIC_EXPORT_SECONDS] = {
		"export_seconds", METRIC_GAUGE, "seconds", "",
		"Time that the last snapshot and write took." },
	[METRIC_EXPORT_ERRORS] = {
		"export_errors", METRIC_COUNTER, "", "",
		"Writes of the metrics file that failed." },
	[METRIC_MEMORY_BYTES] = {
		"memory_bytes", METRIC_GAUGE, "bytes", "kind",
		"Memory in use: the program's resident set, the kernel's BPF "
		"maps and programs." },
	[METRIC_PROGRAM_RUN_SECONDS] = {
		"program_run_seconds", METRIC_COUNTER, "seconds", "program",
		"Time that the kernel spent in a BPF program, while it counts." },
	[METRIC_PROGRAM_RUNS] = {
		"program_runs", METRIC_COUNTER, "", "program",
		"Runs of a BPF program, while the kernel counts them." },
	[METRIC_BUILD_INFO] = {
		"build_info", METRIC_GAUGE, "", "version",
		"The program's version; always 1." },
};
