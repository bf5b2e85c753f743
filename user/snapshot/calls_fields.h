/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of the NFS client: the entries of struct calls. See fields.h. */
/* clang-format off */

/* The rows of the two lists: RPC_SERVER_COUNTS() of include/rpc.h, and TRANSPORT_COUNTS(). */
#define SERVER_FIELD(name, ...) FIELD(rpc_server_state, COUNTER, uint64_t, name)
#define TRANSPORT_FIELD(name, FACT_, role) FIELD(rpc_transport_state, role, uint64_t, name, FACT(FACT_))

/* The calls of one op to one server. */
ENTRY(rpc_op)
	FIELD(rpc_op, LABEL, char[LABEL_SIZE], server)
	FIELD(rpc_op, LABEL, char[RPC_OP_LEN], op)
	FIELD(rpc_op, COUNTER, struct time_histogram, total)
	/* Every phase counts every call: a call that did not wait is in the first bucket of that wait. */
	FIELD(rpc_op, COUNTER, struct time_histogram[RPC_PHASES], phase, NAMES(rpc_phase_names), FACT(PHASE))
	FIELD(rpc_op, COUNTER, uint64_t, sent_bytes, FACT(SENT_BYTES))
	FIELD(rpc_op, COUNTER, uint64_t, received_bytes, FACT(RECEIVED_BYTES))
ENTRY_END

ENTRY(rpc_error)
	FIELD(rpc_error, LABEL, char[LABEL_SIZE], server)
	FIELD(rpc_error, LABEL, char[RPC_OP_LEN], op)
	FIELD(rpc_error, LABEL, char[RPC_STATUS_LEN], status) /* "EIO", "NFS4ERR_DELAY", ...; or ANY_RPC_STATUS */
	FIELD(rpc_error, COUNTER, uint64_t, count)
	FIELD(rpc_error, DETAIL, char[LABEL_SIZE], mountpoint) /* of the last such call; "": not known */
	FIELD(rpc_error, DETAIL, char[LABEL_SIZE], owner)
	UNRECORDED(uint32_t, share) /* numbers of the source, the client's 1 higher */
	UNRECORDED(uint32_t, client)
ENTRY_END

ENTRY(rpc_transport_state)
	FIELD(rpc_transport_state, LABEL, char[LABEL_SIZE], server)
	FIELD(rpc_transport_state, LABEL, char[32], name) /* "tcp/0" */
	FIELD(rpc_transport_state, DETAIL, char[RPC_PROTO_LEN], protocol)
	UNRECORDED(struct endpoint, remote) /* no address: the transport is gone, or stands for several */
	FIELD_PART(rpc_transport_state, DETAIL, remote.address)
	FIELD_PART(rpc_transport_state, DETAIL, remote.port)
	UNRECORDED(struct endpoint, local) /* without an address: not connected, or unknown */
	FIELD_PART(rpc_transport_state, DETAIL, local.address)
	FIELD_PART(rpc_transport_state, DETAIL, local.port)
	FIELD(rpc_transport_state, GAUGE, bool, alive) /* the transport exists; then the slots below are known */
	TRANSPORT_COUNTS(TRANSPORT_FIELD)
	FIELD(rpc_transport_state, COUNTER, uint64_t, replies, FACT(REPLIES)) /* calls that ended with a reply */
	FIELD(rpc_transport_state, COUNTER, uint64_t, rtt_ns) /* sum of their times from last transmit to reply */
	FIELD(rpc_transport_state, OWN_COUNTER, uint64_t, segments) /* TCP's, of the present connection, in and out */
	FIELD(rpc_transport_state, OWN_COUNTER, uint64_t, segments_lost)
	/* TCP's, of the present connection, as in struct tcp_info; 0: not known. */
	FIELD(rpc_transport_state, OWN_COUNTER, uint64_t, received_bytes)
	FIELD(rpc_transport_state, GAUGE, uint32_t, rcv_wnd) /* bytes that the peer may send before more are acknowledged */
	FIELD(rpc_transport_state, GAUGE, uint64_t, min_rtt_ns) /* shortest round trip of the last 5 minutes */
	FIELD(rpc_transport_state, GAUGE, uint64_t, srtt_ns) /* smoothed round trip, with the time in queues */
	FIELD(rpc_transport_state, GAUGE, bool, carries) /* data are on the network: a part of a reply has come, or calls wait in the socket */
	FIELD(rpc_transport_state, GAUGE, uint32_t, unacked) /* bytes of a segment that TCP sends repeatedly; 0: there is none */
	FIELD(rpc_transport_state, GAUGE, uint32_t, acked) /* mean bytes of the segments that were acknowledged; 0: not known */
	FIELD(rpc_transport_state, GAUGE, bool, behind) /* segments arrive at one end behind a missing one */
	FIELD(rpc_transport_state, GAUGE, uint64_t, oldest_ns) /* age of the oldest unanswered call, 0: none */
	FIELD(rpc_transport_state, GAUGE, uint32_t, connect_error) /* calls wait, and connecting fails with this errno; else 0 */
	FIELD(rpc_transport_state, COUNTER, uint64_t[RPC_LIMITS], saturated_ns, NAMES(rpc_limit_names), FACT(SATURATED))
	FIELD(rpc_transport_state, GAUGE, uint32_t, slots_max, FACT(SLOTS_MAX)) /* 65536, sunrpc's own limit, for NFSv4.1 and later */
	FIELD(rpc_transport_state, GAUGE, uint32_t, slots_allocated, FACT(SLOTS_ALLOCATED))
	FIELD(rpc_transport_state, GAUGE, uint32_t, slots_in_flight, FACT(SLOTS_IN_FLIGHT))
ENTRY_END

/* The calls to a server on a mount (.owner is ""), of an owner (the mount's labels are ""), or of an owner on a mount. The mount
 * may have ended; mounts with the same three names count as one. */
ENTRY(calls_by)
	FIELD(calls_by, LABEL, char[LABEL_SIZE], server)
	FIELD(calls_by, LABEL, char[LABEL_SIZE], export)
	FIELD(calls_by, LABEL, char[LABEL_SIZE], mountpoint) /* "": no single one; "other": no series */
	FIELD(calls_by, LABEL, char[LABEL_SIZE], owner) /* "slurm:4711", see owner_name(); "other": without a series */
	UNRECORDED(struct rpc_sums, sums)
	FIELD_PART(calls_by, COUNTER, sums.calls, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.total_ns, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.sent_bytes, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.received_bytes, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.errors, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.wait_ns, NAMES(rpc_kind_names))
	FIELD_PART(calls_by, COUNTER, sums.phase_ns, NAMES(rpc_phase_names))
	UNRECORDED(uint64_t, called_ns) /* CLOCK_MONOTONIC: the last snapshot with new calls */
	FIELD(calls_by, GAUGE, uint64_t, oldest_ns) /* of an owner: age of its oldest call, if it is a transport's oldest */
ENTRY_END

/* A mount of NFS. */
ENTRY(nfs_mount)
	FIELD(nfs_mount, LABEL, char[LABEL_SIZE], server)
	FIELD(nfs_mount, LABEL, char[LABEL_SIZE], export)
	FIELD(nfs_mount, LABEL, char[LABEL_SIZE], mountpoint)
	FIELD(nfs_mount, LABEL, char[16], version) /* "3", "4.2" */
	UNRECORDED(uint64_t, device) /* of the file system: major number << 32 | minor */
	UNRECORDED(bool, elsewhere) /* in another network namespace than process 1 */
	UNRECORDED(struct endpoint, remote) /* the server's */
	FIELD(nfs_mount, DETAIL, bool, kerberos) /* sec=krb5, krb5i or krb5p */
	UNRECORDED(char[NFS_OPTIONS][NFS_OPTION_SIZE], options) /* "": not known */
	FIELD_PART(nfs_mount, DETAIL, options[NFS_RSIZE])
	FIELD_PART(nfs_mount, DETAIL, options[NFS_NCONNECT])
	FIELD_PART(nfs_mount, DETAIL, options[NFS_AC])
	FIELD_PART(nfs_mount, DETAIL, options[NFS_LOOKUPCACHE])
	FIELD_PART(nfs_mount, DETAIL, options[NFS_RECOVERY])
	FIELD(nfs_mount, DETAIL, uint64_t, readahead_bytes) /* of its backing device */
	FIELD(nfs_mount, DETAIL, bool, readahead_known)
	/* Since the last look: mean bytes of a readahead (0: unknown, or most reads were direct); whether most writes were direct. */
	FIELD(nfs_mount, DETAIL, uint64_t, window_bytes)
	FIELD(nfs_mount, DETAIL, bool, direct_writes)
	FIELD(nfs_mount, DETAIL, uint32_t, lock_waiters) /* tasks that waited for the lock of an inode at the last look */
ENTRY_END

/* A module of the kernel's NFS client. */
ENTRY(client_module)
	FIELD(client_module, LABEL, char[16], name)
	FIELD(client_module, DETAIL, char[48], build) /* srcversion or build id; "": not known */
	FIELD(client_module, DETAIL, char[16], origin) /* "in-tree", "out-of-tree", "built-in" */
ENTRY_END

/* Tasks that hang in the NFS client. The entries without a mount point are always there, also with 0 tasks. */
ENTRY(stuck_state)
	FIELD(stuck_state, LABEL, char[LABEL_SIZE], mountpoint) /* "": not known */
	FIELD(stuck_state, LABEL, bool, rpc) /* an outstanding call explains it */
	FIELD(stuck_state, GAUGE, uint32_t, cause) /* of one of them: enum stuck_cause */
	FIELD(stuck_state, GAUGE, uint32_t, tasks)
	FIELD(stuck_state, GAUGE, uint64_t, oldest_ns) /* how long the oldest has been in this state */
ENTRY_END

/* The storage system that a server belongs to, named by --storage. */
ENTRY(rpc_storage)
	FIELD(rpc_storage, LABEL, char[LABEL_SIZE], server)
	FIELD(rpc_storage, DETAIL, char[LABEL_SIZE], storage)
ENTRY_END

ENTRY(rpc_server_state)
	FIELD(rpc_server_state, LABEL, char[LABEL_SIZE], server)
	FIELD(rpc_server_state, COUNTER, struct depth_histogram[RPC_QUEUES], depth, NAMES(rpc_queue_names), FACT(DEPTH))
	FIELD(rpc_server_state, GAUGE, uint32_t[RPC_QUEUES], depth_max, NAMES(rpc_queue_names), FACT(DEPTH_MAX)) /* since the last snapshot */
	FIELD(rpc_server_state, GAUGE, uint64_t[RPC_QUEUES], oldest_ns, NAMES(rpc_queue_names), FACT(OLDEST)) /* age of the oldest waiter, 0: none */
	FIELD(rpc_server_state, COUNTER, uint64_t, credentials_ns, FACT(CREDENTIALS)) /* sum of waits for upcalls; a part of setup */
	RPC_SERVER_COUNTS(SERVER_FIELD, SERVER_FIELD) /* see include/rpc.h */
	FIELD(rpc_server_state, GAUGE, uint64_t, upcall_ns) /* age of the oldest wait for credentials; 0: none is known */
	/* The oldest call without an answer, if it has waited for some seconds; "" and 0: not known. */
	FIELD(rpc_server_state, DETAIL, char[RPC_OP_LEN], oldest_op)
	FIELD(rpc_server_state, DETAIL, char[SLOW_COMM_LEN], oldest_comm) /* of the process that made it; "": it is gone */
	FIELD(rpc_server_state, DETAIL, uint32_t, oldest_pid)
	FIELD(rpc_server_state, DETAIL, char[LABEL_SIZE], upcall_by) /* who waits: "sh (1033)"; "": not known */
	FIELD(rpc_server_state, COUNTER, uint64_t, draining_ns, FACT(DRAINING)) /* tasks waited until the client had recovered its state (NFSv4) */
	FIELD(rpc_server_state, GAUGE, uint64_t, draining_now_ns, FACT(DRAINING)) /* age of the present such wait; 0: there is none */
	FIELD(rpc_server_state, GAUGE, uint64_t, lock_wait_ns) /* how long a task waits for it; 0: not for long, or not known */
	FIELD(rpc_server_state, DETAIL, char[LABEL_SIZE], lock_wait_by) /* "flock (71)" */
	FIELD(rpc_server_state, COUNTER, struct rpc_gaps, gaps, NAMES(gap_names))
	FIELD(rpc_server_state, GAUGE, uint32_t, session_slots, FACT(SESSION_SLOTS)) /* at the last wait for one; 0: no task has waited */
	/* By agent_limits_add(): the time in which tasks waited for a limit, in each interval on the transport where it was
	 * longest; the longest mean round trip of a transport in the last interval, 0: there was no reply; static, what
	 * limited its calls in the last interval, NULL: unknown. */
	UNRECORDED(uint64_t[RPC_LIMITS], saturated_ns)
	UNRECORDED(uint64_t, slowest_rtt_ns)
	UNRECORDED(const char *, bound_by)
ENTRY_END

/* The checkpoint episodes of one server and kind: see limits/episodes.h. */
ENTRY(episode_stats)
	FIELD(episode_stats, LABEL, char[LABEL_SIZE], server)
	FIELD(episode_stats, LABEL, char[8], kind) /* "save", "load" */
	FIELD(episode_stats, COUNTER, struct time_histogram, seconds)
	FIELD(episode_stats, COUNTER, struct depth_histogram, bytes)
ENTRY_END

/* A call that took longer than --slower. */
ENTRY(slow_call)
	FIELD(slow_call, DETAIL, double, time) /* of its end, seconds since the epoch */
	FIELD(slow_call, DETAIL, char[LABEL_SIZE], server)
	FIELD(slow_call, DETAIL, char[RPC_OP_LEN], op)
	FIELD(slow_call, DETAIL, char[LABEL_SIZE], mount) /* mount point; "": not known */
	FIELD(slow_call, DETAIL, char[LABEL_SIZE], owner)
	FIELD(slow_call, DETAIL, char[FILE_PATH_SIZE], file) /* with --files: as in struct file_calls */
	FIELD(slow_call, DETAIL, char[SLOW_COMM_LEN], comm) /* of the process that made the call; "": it is gone */
	FIELD(slow_call, DETAIL, uint32_t, pid)
	UNRECORDED(uint32_t, client) /* the kernel's number of the RPC client */
	FIELD(slow_call, DETAIL, uint32_t, status) /* errno or an error of NFS, positive; 0: none */
	FIELD(slow_call, DETAIL, uint64_t, total_ns)
	FIELD(slow_call, DETAIL, uint64_t[RPC_PHASES], phase_ns, NAMES(rpc_phase_names))
ENTRY_END

/* Calls of one op to a file, or to a directory and what it contains, with --files. In the last snapshot of a session. */
ENTRY(file_calls)
	FIELD(file_calls, DETAIL, char[LABEL_SIZE], server)
	FIELD(file_calls, DETAIL, char[LABEL_SIZE], mount) /* mount point; "": not known */
	/* As the first call found it: below the mount, else on the server; ".../a" if it has more levels; "": not known. */
	FIELD(file_calls, DETAIL, char[FILE_PATH_SIZE], path)
	FIELD(file_calls, DETAIL, char[RPC_OP_LEN], op)
	FIELD(file_calls, DETAIL, bool, directory)
	FIELD(file_calls, DETAIL, char[LABEL_SIZE], owner) /* of the first call, as comm and pid */
	FIELD(file_calls, DETAIL, char[SLOW_COMM_LEN], comm)
	FIELD(file_calls, DETAIL, uint32_t, pid)
	UNRECORDED(uint32_t, client) /* the kernel's number of the RPC client */
	FIELD(file_calls, DETAIL, uint64_t, files) /* 1; of a directory: those with such calls */
	FIELD(file_calls, DETAIL, uint64_t, calls)
	FIELD(file_calls, DETAIL, uint64_t, bytes) /* sent and received */
	FIELD(file_calls, DETAIL, uint64_t, total_ns)
ENTRY_END
