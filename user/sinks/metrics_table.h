/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of metrics.h's table: METRIC(id, name, type, unit, labels, help) of counters and gauges, METRIC_AT(detail, ...) of those
 * that are shown only from a level of detail on, and HISTOGRAM(id, name, unit, labels, bounds at --detail node, bounds at --detail op, help). Included once
 * for each use of them. */
HISTOGRAM(RPC_SECONDS, "rpc_seconds", "seconds", "server, kind", CALL_BOUNDS, CALL_BOUNDS,
	  "Duration of NFS calls, from task start to task end.")
METRIC(RPC_PHASE_SECONDS, "rpc_phase_seconds", COUNTER, "seconds", "server, kind, phase",
       "Sum of each phase of NFS calls. The phases add up to the duration.")
METRIC(RPC_SENT_BYTES, "rpc_sent_bytes", COUNTER, "bytes", "server, kind",
       "Bytes sent for NFS calls, RPC headers included.")
METRIC(RPC_RECEIVED_BYTES, "rpc_received_bytes", COUNTER, "bytes", "server, kind",
       "Bytes received in replies to NFS calls, RPC headers included.")
METRIC(RPC_OP_CALLS, "rpc_op_calls", COUNTER, "", "server, op", "NFS calls that ended.")
METRIC(RPC_OP_SECONDS, "rpc_op_seconds", COUNTER, "seconds", "server, op",
       "Sum of the durations of NFS calls.")
METRIC_AT(OP, RPC_OP_PHASE_SECONDS, "rpc_op_phase_seconds", COUNTER, "seconds", "server, op, phase",
	  "Sum of each phase by op; only with --detail op.")
METRIC_AT(OP, RPC_OP_SENT_BYTES, "rpc_op_sent_bytes", COUNTER, "bytes", "server, op",
	  "Bytes sent by op; only with --detail op.")
METRIC_AT(OP, RPC_OP_RECEIVED_BYTES, "rpc_op_received_bytes", COUNTER, "bytes", "server, op",
	  "Bytes received by op; only with --detail op.")
HISTOGRAM(RPC_OP_DURATION_SECONDS, "rpc_op_duration_seconds", "seconds", "server, op", NONE,
	  POWERS(12, 36), "Duration of NFS calls by op; only with --detail op.")
HISTOGRAM(RPC_OP_PHASE_DURATION_SECONDS, "rpc_op_phase_duration_seconds", "seconds",
	  "server, op, phase", NONE, POWERS(12, 36) & EVEN_POWERS,
	  "Phases of NFS calls by op; only with --detail op.")
METRIC(RPC_ERRORS, "rpc_errors", COUNTER, "", "server, op, status",
       "NFS calls that ended with an error.")
METRIC(NFS_MOUNT_CALLS, "nfs_mount_calls", COUNTER, "", "server, export, mountpoint, kind",
       "NFS calls of a mount that ended; mount point empty: of no mount that process 1 sees.")
METRIC(NFS_MOUNT_SECONDS, "nfs_mount_seconds", COUNTER, "seconds",
       "server, export, mountpoint, kind", "Sum of the durations of a mount's calls.")
METRIC_AT(OP, NFS_MOUNT_PHASE_SECONDS, "nfs_mount_phase_seconds", COUNTER, "seconds",
	  "server, export, mountpoint, phase",
	  "Sum of each phase of a mount's calls; only with --detail op.")
METRIC(NFS_MOUNT_SENT_BYTES, "nfs_mount_sent_bytes", COUNTER, "bytes",
       "server, export, mountpoint, kind", "Bytes sent for a mount's calls, RPC headers included.")
METRIC(NFS_MOUNT_RECEIVED_BYTES, "nfs_mount_received_bytes", COUNTER, "bytes",
       "server, export, mountpoint, kind",
       "Bytes received in replies to a mount's calls, RPC headers included.")
METRIC(NFS_MOUNT_ERRORS, "nfs_mount_errors", COUNTER, "", "server, export, mountpoint, kind",
       "Calls of a mount that ended with an error.")
METRIC(NFS_OWNER_CALLS, "nfs_owner_calls", COUNTER, "", "server, owner, kind",
       "NFS calls of a job, pod, unit or user that ended.")
METRIC(NFS_OWNER_SECONDS, "nfs_owner_seconds", COUNTER, "seconds", "server, owner, kind",
       "Sum of the durations of an owner's calls.")
METRIC(NFS_OWNER_WAIT_SECONDS, "nfs_owner_wait_seconds", COUNTER, "seconds", "server, owner, kind",
       "Sum of the waits of an owner's calls: for a session slot, an RPC slot, and to send.")
METRIC(NFS_OWNER_SENT_BYTES, "nfs_owner_sent_bytes", COUNTER, "bytes", "server, owner, kind",
       "Bytes sent for an owner's calls, RPC headers included.")
METRIC(NFS_OWNER_RECEIVED_BYTES, "nfs_owner_received_bytes", COUNTER, "bytes",
       "server, owner, kind",
       "Bytes received in replies to an owner's calls, RPC headers included.")
METRIC(NFS_OWNER_OLDEST_CALL_SECONDS, "nfs_owner_oldest_call_seconds", GAUGE, "seconds",
       "server, owner", "Age of an owner's oldest unanswered call.")
METRIC(RPC_RETRANSMITS, "rpc_retransmits", COUNTER, "", "server, transport",
       "Retransmissions of calls, counted when the call ends.")
METRIC(RPC_TIMEOUTS, "rpc_timeouts", COUNTER, "", "server, transport",
       "Major timeouts of calls, counted when the call ends.")
METRIC(RPC_DISCONNECTS, "rpc_disconnects", COUNTER, "", "server, transport",
       "Connections lost or closed.")
METRIC(RPC_CONNECTS, "rpc_connects", COUNTER, "", "server, transport",
       "Connections established since the transport was created.")
METRIC_AT(TRANSPORT, RPC_REPLIES, "rpc_replies", COUNTER, "", "server, transport",
	  "Calls that ended with a reply on this transport; only with --detail transport.")
METRIC_AT(
	TRANSPORT, RPC_RTT_SECONDS, "rpc_rtt_seconds", COUNTER, "seconds", "server, transport",
	"Sum of the times from last transmit to reply of rpc_replies; only with --detail transport.")
METRIC(RPC_SLOWEST_RTT_SECONDS, "rpc_slowest_rtt_seconds", GAUGE, "seconds", "server",
       "Mean time from last transmit to reply on the transport where it is longest, since the last write.")
METRIC_AT(
	TRANSPORT, RPC_TRANSPORT_INFO, "rpc_transport_info", GAUGE, "",
	"server, transport, protocol, local, remote",
	"Addresses and ports of a transport's connection, always 1; only with --detail transport.")
METRIC(RPC_SATURATED_SECONDS, "rpc_saturated_seconds", COUNTER, "seconds",
       "server, transport, limit", "Time in which at least one task waited for this limit.")
METRIC_AT(
	OP, RPC_SESSION_DRAINING_SECONDS, "rpc_session_draining_seconds", COUNTER, "seconds",
	"server",
	"Time in which tasks waited until the NFSv4 client had recovered its state; only with --detail op.")
METRIC(NFS_LOCK_CALLS, "nfs_lock_calls", COUNTER, "", "server",
       "Calls to the server's lock manager (NLM).")
METRIC(NFS_LOCK_SECONDS, "nfs_lock_seconds", COUNTER, "seconds", "server",
       "Duration of nfs_lock_calls.")
METRIC(NFS_LOCK_ERRORS, "nfs_lock_errors", COUNTER, "", "server",
       "Of nfs_lock_calls: failed in RPC.")
HISTOGRAM(
	RPC_QUEUE_DEPTH, "rpc_queue_depth", "", "server, queue", NONE, POWERS(0, 17),
	"Tasks in a queue when a task joins it (slot, session, send) or a call ends (xmit, pending); only with --detail op.")
METRIC(RPC_QUEUE_DEPTH_MAX, "rpc_queue_depth_max", GAUGE, "", "server, queue",
       "Most tasks in a queue since the last write.")
METRIC(RPC_OLDEST_WAITER_SECONDS, "rpc_oldest_waiter_seconds", GAUGE, "seconds", "server, queue",
       "Age of the oldest wait in a queue; for queue pending, of the oldest unanswered call.")
METRIC(RPC_OLDEST_CALL_SECONDS, "rpc_oldest_call_seconds", GAUGE, "seconds", "server, op",
       "Age of the oldest unanswered call, from 2 s on.")
METRIC(RPC_LIMIT, "rpc_limit", GAUGE, "", "server, limit",
       "What limited calls between the last two writes: 1 for that limit.")
HISTOGRAM(CHECKPOINT_EPISODE_SECONDS, "checkpoint_episode_seconds", "seconds", "server, kind",
	  INFINITY_ALONE, POWERS(30, 38), "Duration of bursts of writes (save) and reads (load).")
HISTOGRAM(CHECKPOINT_EPISODE_BYTES, "checkpoint_episode_bytes", "bytes", "server, kind",
	  INFINITY_ALONE, POWERS(26, 39),
	  "Bytes of bursts of writes (save) and reads (load), RPC headers included.")
METRIC(RPC_SLOTS, "rpc_slots", GAUGE, "", "server, transport, kind", "RPC slots of a transport.")
METRIC(RPC_SERVER_INFO, "rpc_server_info", GAUGE, "", "server, storage",
       "Storage system that a server belongs to, by --storage; always 1.")
METRIC(NFS_MOUNT_INFO, "nfs_mount_info", GAUGE, "",
       "server, export, mountpoint, version, rsize, wsize, nconnect, max_connect, recovery, timeo, "
       "retrans, sec, proto, ac, lookupcache, local_lock",
       "NFS mount that process 1 sees, with its options in force; always 1.")
METRIC(NFS_MOUNT_READAHEAD_BYTES, "nfs_mount_readahead_bytes", GAUGE, "bytes",
       "server, export, mountpoint", "Most bytes that the kernel reads ahead of a buffered reader.")
METRIC(SUNRPC_INFO, "sunrpc_info", GAUGE, "", "module, build, origin",
       "Module of the kernel's NFS client, with its build and whether it is the kernel's own; always 1.")
METRIC(NFS_STUCK_TASKS, "nfs_stuck_tasks", GAUGE, "", "mountpoint, state",
       "Tasks that sleep in the NFS client for more than a minute: an outstanding call explains it (rpc), or none.")
METRIC(NFS_OLDEST_STUCK_TASK_SECONDS, "nfs_oldest_stuck_task_seconds", GAUGE, "seconds",
       "mountpoint, state", "How long the oldest of these tasks has been in this state.")
METRIC(GPU_XID_ERRORS, "gpu_xid_errors", COUNTER, "", "gpu, xid, severity, action",
       "Xid errors that the NVIDIA driver reported.")
METRIC(GPU_XID_INCIDENTS, "gpu_xid_incidents", COUNTER, "", "gpu, xid",
       "Incidents of this Xid: reports less than 5 s apart are one incident.")
METRIC(GPU_XID_RECENT_INCIDENTS, "gpu_xid_recent_incidents", GAUGE, "", "gpu, xid",
       "Incidents of this Xid in 24 hours, at least 180 s apart; at most 8.")
METRIC(GPU_XID_LAST_TIMESTAMP_SECONDS, "gpu_xid_last_timestamp_seconds", GAUGE, "seconds",
       "gpu, xid", "Time of the last report of this Xid.")
METRIC(GPU_XID_UNVERIFIED, "gpu_xid_unverified", COUNTER, "", "gpu, xid",
       "Kernel log texts that look like an Xid or SXid but are not proven to be the driver's.")
METRIC(NVSWITCH_SXID_ERRORS, "nvswitch_sxid_errors", COUNTER, "", "device, sxid, severity",
       "SXid errors that the NVSwitch driver reported.")
METRIC(NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS, "nvswitch_sxid_last_timestamp_seconds", GAUGE,
       "seconds", "device, sxid", "Time of the last report of this SXid.")
METRIC(GPU_FAULT_AUTHORITY, "gpu_fault_authority", GAUGE, "", "authority",
       "Who says that a fault happened: 1 for the one in force.")
METRIC(GPU_DRIVER_ERRORS, "gpu_driver_errors", COUNTER, "", "gpu, kind",
       "Failures that the NVIDIA driver reported without an Xid.")
METRIC(GPU_RECOVERED_TIMESTAMP_SECONDS, "gpu_recovered_timestamp_seconds", GAUGE, "seconds",
       "gpu, evidence", "Time of the last evidence that earlier faults are over.")
METRIC(GPU_INFO, "gpu_info", GAUGE, "", "gpu, uuid, serial",
       "Identity of a GPU as reported by its driver; always 1.")
METRIC(KERNEL_EVENTS, "kernel_events", COUNTER, "", "kind, device",
       "Other kernel messages and events that indicate trouble.")
METRIC(KERNEL_LOG_LOST_RECORDS, "kernel_log_lost_records", COUNTER, "", "",
       "Kernel log records that were overwritten before they were read.")
METRIC(NODE_HEALTH, "node_health", GAUGE, "", "check",
       "Result of each health rule: 0 ok, 1 warning, 2 failed.")
METRIC(NODE_FINDING_INFO, "node_finding_info", GAUGE, "", "check, device, code",
       "What a health rule has found, the gravest 32; always 1.")
METRIC(HOOK_ATTACHED, "hook_attached", GAUGE, "", "hook", "Whether the kernel hook is attached.")
METRIC(RPC_SOURCE, "rpc_source", GAUGE, "", "source",
       "Source of the figures on NFS calls: 1 for the one in use.")
METRIC(EVENTS_DROPPED, "events_dropped", COUNTER, "", "reason", "Records lost or cut, by reason.")
METRIC(LEFT_OUT_ENTRIES, "left_out_entries", GAUGE, "", "", "Mounts beyond the limit of 256.")
METRIC(EXPORT_SECONDS, "export_seconds", GAUGE, "seconds", "",
       "Duration of the last snapshot and write.")
METRIC(EXPORT_ERRORS, "export_errors", COUNTER, "", "", "Writes of the metrics file that failed.")
METRIC(MEMORY_BYTES, "memory_bytes", GAUGE, "bytes", "kind",
       "Memory in use: the program's resident set, BPF maps and programs, trace buffers.")
METRIC(PROGRAM_RUN_SECONDS, "program_run_seconds", COUNTER, "seconds", "program",
       "Time spent in a BPF program, while the kernel counts it.")
METRIC(PROGRAM_RUNS, "program_runs", COUNTER, "", "program",
       "Runs of a BPF program, while the kernel counts them.")
METRIC(BUILD_INFO, "build_info", GAUGE, "", "version", "The program's version; always 1.")
