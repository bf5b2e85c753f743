/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the BPF programs on NFS calls and user space share: keys, values, sizes.
 *
 * No map is per CPU, because such a map grows with every possible CPU: 256 on the nodes for which this is made. Hot values
 * have up to RPC_MAX_SHARDS copies ("shards") instead. The CPU number selects the shard, and additions are atomic. */
#pragma once

#include "histogram.h"

#define RPC_NFS_PROGRAM 100003
#define RPC_NLM_PROGRAM 100021

#define RPC_MAX_SHARDS 4 /* a power of two */
#define RPC_MAX_SERVERS 64
#define RPC_MAX_TRANSPORTS 1024 /* transports with figures of their own */
#define RPC_MAX_XPRTS 1536 /* transports whose server is known */
#define RPC_OP_SERIES 163 /* (server, version, op) triples; 0 is "other" */
#define RPC_MAX_SERIES 227 /* these, and one for each server: its ops that found no room */
#define RPC_SERIES_ENTRIES (RPC_MAX_SERIES * RPC_MAX_SHARDS)
#define RPC_MAX_ERRORS 1024
#define RPC_MAX_CLIENTS 4096 /* numbers of clients; the kernel always uses the lowest free one */
#define RPC_CLIENT_ENTRIES 256 /* clients with figures of their own; 0 is for all others */
#define RPC_MAX_OWNERS 256 /* control groups that call at a time; 0: the kernel, or unknown */
#define RPC_MAX_SHARES 512 /* pairs of a client and an owner; 0 is for clients without an entry */
#define RPC_KERNEL_SHARE(entry) (2 * (entry)) /* of a client and owner 0; those of owners are odd */
#define RPC_OWNER_CELLS 4096 /* cells of the cache from processes to owners; a power of two */
#define RPC_TASK_OWNERS 65536 /* the same from tasks, in the source tracepoints */
#define RPC_OWNER_LEVELS 8 /* depth of control groups; deeper ones count for the ancestor there */
#define RPC_OWNER_NAME 96 /* bytes of a group's name, with the NUL */
#define RPC_MAX_OP 80 /* p_statidx; NFSv4.2 has about 70 */
#define RPC_NAME_LEN 128 /* with the NUL; longer server names are cut */
#define RPC_ADDRESS_LEN 48
#define NFS_PORT 2049 /* the default */
#define RPC_PROTO_LEN 16
#define RPC_OP_LEN 24

/* The additive parts of a call, in the order in which it passes them. */
enum rpc_phase {
	RPC_PHASE_SESSION, /* NFSv4 session slot */
	RPC_PHASE_SLOT, /* RPC slot: xprt_backlog */
	RPC_PHASE_SEND, /* transmit queue: xprt_sending */
	RPC_PHASE_DELAY, /* rpc_delay */
	RPC_WAITS, /* the phases above are waits, measured task by task */
	RPC_PHASE_RESEND = RPC_WAITS, /* first to last transmit */
	RPC_PHASE_SETUP, /* all other time before the last transmit */
	RPC_PHASE_RTT, /* last transmit to reply */
	RPC_PHASE_FINISH, /* reply to task end */
	RPC_PHASES,
};

/* Kinds of ops. Calls that were merged because a table was full have the kind `other`. */
enum rpc_kind {
	RPC_KIND_READ, /* READ, READ_PLUS */
	RPC_KIND_WRITE, /* WRITE, COMMIT */
	RPC_KIND_METADATA,
	RPC_KIND_OTHER,
	RPC_KINDS, /* a power of two */
};

/* What may saturate: queues that tasks sleep on. */
enum rpc_limit { RPC_LIMIT_SLOT, RPC_LIMIT_SESSION, RPC_LIMIT_SEND, RPC_LIMITS };

/* Beside the limits' periods a transport has those in which tasks wait until the client has recovered its state: the session
 * is drained, and then all its slots are the state manager's. */
#define RPC_DRAINING RPC_LIMITS
#define RPC_PERIODS (RPC_LIMITS + 1)

/* The limit that is saturated while tasks are in this wait, an enum rpc_phase; RPC_LIMITS: none. */
static inline __attribute__((always_inline)) __u32 limit_of(__u32 wait)
{
	switch (wait) {
	case RPC_PHASE_SLOT:
		return RPC_LIMIT_SLOT;
	case RPC_PHASE_SESSION:
		return RPC_LIMIT_SESSION;
	case RPC_PHASE_SEND:
		return RPC_LIMIT_SEND;
	default:
		return RPC_LIMITS;
	}
}

/* Queues whose depth is recorded: the limits, then two more at call end. */
enum rpc_queue {
	RPC_QUEUE_SLOT = RPC_LIMIT_SLOT,
	RPC_QUEUE_SESSION = RPC_LIMIT_SESSION,
	RPC_QUEUE_SEND = RPC_LIMIT_SEND,
	RPC_QUEUE_XMIT, /* xprt->xmit_queuelen */
	RPC_QUEUE_PENDING, /* xprt->pending.qlen: calls in flight */
	RPC_QUEUES,
};

/* Why something was not recorded as it should have been. */
enum rpc_drop {
	RPC_DROP_WAITER, /* waiter table full: the wait went to setup */
	RPC_DROP_SERVER, /* server table full: its calls are under "other" */
	RPC_DROP_TRANSPORT, /* transport table full: no per-transport figures */
	RPC_DROP_SERIES, /* series table full: the call is under the op "other" */
	RPC_DROP_ERROR, /* error table full: the error counts without its status */
	RPC_DROP_CLIENT, /* client table full: the call has no mount */
	RPC_DROP_OWNER, /* table of owners full: the call counts for the kernel */
	RPC_DROP_OWNER_GONE, /* its process had ended: the call counts for the kernel */
	RPC_DROP_CLIPPED, /* waits exceeded the time before the transmit */
	RPC_DROPS,
};

/* Padding between two shards: one cache line, in words of 8 bytes. Without it, fields that two CPUs write would share a cache
 * line. */
#define RPC_PADDING 8

/* One (server, version, op), one shard. Times are nanoseconds. The histogram of a wait holds only the calls that waited. */
struct rpc_series {
	__u64 started; /* calls whose recording has begun */
	__u64 total_ns;
	__u64 total[TIME_BUCKETS];
	__u64 phase_ns[RPC_PHASES];
	__u64 phase[RPC_PHASES][PHASE_BUCKETS];
	__u64 sent_bytes;
	__u64 received_bytes;
	__u64 finished; /* calls whose recording is complete; equal to started in a consistent copy */
	__u64 padding[RPC_PADDING];
};

/* Sums of calls. All members are 8-byte words, because user space adds them as an array. */
struct rpc_sums {
	__u64 calls[RPC_KINDS];
	__u64 total_ns[RPC_KINDS];
	__u64 sent_bytes[RPC_KINDS];
	__u64 received_bytes[RPC_KINDS];
	__u64 errors[RPC_KINDS];
	__u64 wait_ns[RPC_KINDS]; /* for a session slot, an RPC slot, and to send */
	__u64 phase_ns[RPC_PHASES];
};

/* The calls of one client of sunrpc by one owner, one shard. Each mounted file system (superblock) has a client of its own.
 * The time until the reply is not recorded: it is what the other phases leave of the total. */
struct rpc_share_stats {
	__u64 started; /* as in struct rpc_series */
	struct rpc_sums sums;
	__u64 finished;
	__u64 padding[6]; /* five cache lines in all */
};

/* Both are written by one store of eight bytes. */
struct rpc_client_info {
	__u32 client; /* 1 + the kernel's number; 0: the entry is free */
	__u32 server; /* number; RPC_MAX_SERVERS: "other" */
} __attribute__((aligned(8)));

struct rpc_share_info {
	__u32 entry; /* of the client; 0: the share is free */
	__u32 owner;
} __attribute__((aligned(8)));

/* A control group that makes calls, also by processes of groups below it. In v1 a process has a group in each hierarchy: the
 * deepest one counts. */
struct rpc_owner_key {
	__u64 root; /* address of its hierarchy's root; 0: the number is free */
	__u64 id; /* inode number of its folder */
};

/* The owner of a process. A process number is reused: the times (CLOCK_MONOTONIC) bound the calls of this process. */
struct rpc_owner_cell {
	__u64 process; /* tgid << 32 | owner; 0: free */
	__u64 began;
	__u64 life; /* from then to its end; RPC_OWNER_LIVES: it has not ended */
};

#define RPC_OWNER_LIVES \
	(~(__u64)0 >> 1) /* less than what a time before @began seems to be after it */

struct rpc_owner {
	struct rpc_owner_key key;
	char path[RPC_OWNER_LEVELS][RPC_OWNER_NAME]; /* names, its own first; "": the root */
};

_Static_assert(RPC_MAX_SERIES == RPC_OP_SERIES + RPC_MAX_SERVERS, "a series for each server");

/* The series of a server's ops that found no room. */
static inline __attribute__((always_inline)) __u32 rest_series(__u32 server)
{
	return server < RPC_MAX_SERVERS ? RPC_OP_SERIES + server : 0;
}

struct rpc_series_key {
	__u32 server;
	__u16 version; /* of the NFS program: 3 or 4 */
	__u16 op; /* p_statidx */
};

struct rpc_series_info {
	struct rpc_series_key key;
	char name[RPC_OP_LEN]; /* p_name */
};

struct rpc_error_key {
	__u32 series;
	__s32 status; /* tk_status, negative */
};

struct rpc_error_count {
	__u64 count;
	__u64 order; /* in which it was first seen, because a hash map has no order */
	__u64 share; /* of the last such call */
};

struct rpc_server {
	__u64 port; /* a text, "20127"; 0: NFS's own */
	__u64 netns; /* inode number of the network namespace */
	char name[RPC_NAME_LEN]; /* xprt->servername, any bytes */
};

/* The greatest depth in an interval. User space counts intervals in `rpc_epoch`. Even and odd intervals have an entry each:
 * the last interval can be read while the present one is written. */
struct rpc_peak {
	__u64 value[2]; /* interval << 32 | depth */
};

/* Times between replies to calls that waited for a slot, in units of 1,024 ns. */
#define RPC_GAP_SHIFT 10
struct rpc_gaps {
	__u64 count, sum, squares;
};

/* Counters of a server, each in one row: a member of struct rpc_server_stats here and of struct rpc_server_state in user space.
 * SHOWN: and its family in the metrics file, the form of its value there, and the counter that must not be 0, else nothing is
 * written. The lock manager (NLM) locks files of NFSv3: its calls are in no other figure, and only the source btf sees them. */
#define RPC_SERVER_COUNTS(COUNT, SHOWN)                                                  \
	COUNT(earlier_ns) /* the part of setup before the programs were attached */      \
	SHOWN(lock_calls, NFS_LOCK_CALLS, INTEGER, lock_calls) /* to its lock manager */ \
	SHOWN(lock_errors, NFS_LOCK_ERRORS, INTEGER, lock_calls)                         \
	SHOWN(lock_ns, NFS_LOCK_SECONDS, SECONDS, lock_calls)

/* One server, one shard. */
struct rpc_server_stats {
	/* Source btf: the number of the series + 1, for NFSv3 and NFSv4; 0: not looked up yet. */
	__u8 series[2][RPC_MAX_OP];
	__u64 depth[RPC_QUEUES][DEPTH_BUCKETS];
	__u64 depth_sum[RPC_QUEUES];
#define MEMBER_OF(name, ...) __u64 name;
	RPC_SERVER_COUNTS(MEMBER_OF, MEMBER_OF)
#undef MEMBER_OF
	/* Only the first shard has these two. */
	__u64 replied; /* time of the last reply to a call that waited: CLOCK_MONOTONIC, ns */
	struct rpc_gaps gaps;
	/* Only xmit and pending are used: the limits have their peaks in the transport, where the queue's lock orders the
	 * writers. */
	struct rpc_peak peak[RPC_QUEUES];
	__u64 padding[RPC_PADDING];
};

/* Replies on each transport. One shard. */
struct rpc_replies {
	struct {
		__u64 count;
		__u64 rtt_ns; /* sum of the times from last transmit to reply */
	} of[RPC_MAX_TRANSPORTS + 1]; /* the last: transports beyond the table */
};

/* A transport of a server. It outlives the rpc_xprt: the next rpc_xprt of that server and protocol takes the entry, and the
 * counters continue. */
struct rpc_transport {
	__u64 xprt; /* address of the rpc_xprt; 0: there is none; or RPC_XPRT_FILLED */
	union {
		char proto[8]; /* "tcp", "udp", "rdma", "tls"; "": never used */
		__u64 proto_number;
	};
	__u32 server;
	__u32 zero;
	__u64 retransmits;
	__u64 timeouts;
	__u64 disconnects;
	__u64 connects; /* of rpc_xprts that are gone */
	__u64 saturated_ns[RPC_PERIODS]; /* ended periods */
	__u64 saturated_since[RPC_PERIODS]; /* begin of the present period; 0: none */
	struct rpc_peak peak[RPC_LIMITS];
	__u64 credentials_ns; /* sum of the waits for upcalls */
	__u64 session_slots; /* slots of the session when a task last waited for one; 0: no task has */
	__u64 connect_failed; /* when a task last heard that connecting had failed; 0: never */
	__u64 connect_error; /* with this errno */
};

/* In place of an address: a CPU has taken the entry and is filling it. */
#define RPC_XPRT_FILLED 1

/* What is known about the rpc_xprt at an address. */
struct rpc_xprt_ref {
	__u32 transport; /* number; RPC_MAX_TRANSPORTS: the table was full */
	__u32 server; /* number; RPC_MAX_SERVERS: the table was full */
};

/* A direct-mapped cache of the same: a lookup takes a tenth of the instructions of a hash map. The address selects the entry;
 * the first rpc_xprt to take it keeps it. */
#define RPC_XPRT_CACHE 2048

struct rpc_xprt_cached {
	__u64 xprt; /* 0: free; or RPC_XPRT_FILLED */
	struct rpc_xprt_ref ref;
};

/* A table of tasks, see bpf/tasks.bpf.h. Source btf: tasks that have waited. Source tracepoints: also tasks that were
 * transmitted. A bucket is a cache line of keys; its i-th key belongs to entry number bucket * RPC_TASK_WAYS + i. */
#define RPC_TASK_WAYS 8
#define RPC_TASK_BUCKETS 4096
#define RPC_MAX_TASKS (RPC_TASK_BUCKETS * RPC_TASK_WAYS)

struct rpc_task_bucket {
	__u64 task[RPC_TASK_WAYS]; /* keys; 0: free */
};

/* RPC_ASLEEP_NO, or 1 + the enum rpc_phase of the wait; RPC_PHASE_SETUP: for credentials. */
#define RPC_ASLEEP_NO 0

/* A task's waits; the same for both BPF sources. Times: CLOCK_MONOTONIC, ns. */
struct rpc_waits {
	__u64 since; /* begin of its last wait */
	__u64 until; /* end of its last wait */
	__u64 first; /* first transmit, if the call may be sent again; otherwise 0 */
	__u64 wait_ns[RPC_WAITS];
	__s32 status; /* if booked: tk_status */
	__u8 booked; /* the call has ended and is not recorded yet */
	__u8 asleep;
	__u8 last; /* enum rpc_phase of the last wait */
	__u8 unseen; /* source tracepoints: 1 + phase of a wait whose begin was not seen; otherwise 0 */
};

/* An entry of the source btf. Its key is the task's address. */
struct rpc_waiter {
	__u64 start; /* tk_start: it differs if the memory belongs to a new task */
	__u64 xprt; /* where it waits */
	struct rpc_waits waits;
	__u64 total; /* if booked: duration of the call */
};

/* How rpc_probe finds the local address of a connection. */
enum rpc_local_kind {
	RPC_LOCAL_UNKNOWN,
	RPC_LOCAL_SOCKET, /* the rpc_xprt is part of a sock_xprt */
	RPC_LOCAL_TCP, /* the same with a TCP socket, whose figures rpc_probe also reads */
	RPC_LOCAL_RDMA, /* the rpc_xprt is part of an rpcrdma_xprt, see rpc_rdma_local */
};

struct rpc_address {
	__u8 bytes[16]; /* of IPv4 the first four */
	__u16 family; /* 0: there is none */
	__u16 port;
};

/* Figures of a TCP connection, as in struct tcp_info. */
struct rpc_tcp {
	__u64 segments; /* in and out */
	__u64 segments_lost; /* sent again, or received late */
	__u64 received_bytes;
	__u32 rcv_wnd, min_rtt, srtt; /* bytes; us */
	__u32 unsent; /* bytes that wait in the socket */
	__u32 timeouts; /* in a row */
	__u32 unacked,
		unacked_segments; /* bytes that were sent and not acknowledged; their segments */
	__u32 acked_segment; /* mean bytes of those that were acknowledged; 0: none was */
	__u32 behind; /* not 0: one side has segments behind a missing one */
};

/* What rpc_probe reads from an rpc_xprt when user space runs it. */
struct rpc_probe {
	__u64 connects; /* stat.connect_count */
	__u64 oldest_start; /* tk_start of the oldest unanswered call; 0: there is none, and the next three are undefined */
	__u32 oldest_owner; /* its owner */
	__u32 oldest_pid; /* thread group that made it */
	char oldest_op[RPC_OP_LEN];
	__u32 max_slots; /* max_reqs */
	__u32 slots; /* num_reqs; 0 over RDMA */
	__u32 pending; /* pending.qlen */
	__u32 queued[RPC_LIMITS]; /* tasks that wait there; session: not known, 0 */
	struct rpc_tcp tcp;
	__u32 reply_len; /* bytes of a reply that has come in part; 0: none */
	struct rpc_address local;
	char address[RPC_ADDRESS_LEN]; /* remote address as text */
	char port[8];
};

/* ---- what bpf/mount_clients.bpf.c reads ---- */

/* The most clients of one reading (128 kB). Bind mounts repeat theirs, and the kernel repeats a mount until its text fits. */
#define MOUNT_CLIENTS_MAX 32768

/* Offset in bytes of cl_clid in struct rpc_clnt (include/linux/sunrpc/clnt.h): from 3.9 to 7.3 the second member, after a count
 * of 4 bytes. A number is used only if calls have shown such a client. */
#define RPC_CLNT_NUMBER_AT 4

/* ---- calls by file, for `trace --files` ---- */

#define RPC_MAX_FILES 65536 /* pairs of a file and an op */
#define RPC_FILE_OPS 16 /* a power of two */
#define RPC_FILE_NAMES 256 /* bytes of names; a power of two */
#define RPC_FILE_NAME 128 /* of one name with its NUL: longer ones are cut */
#define RPC_FILE_LEVELS 12 /* names of a path at most */

/* An op whose calls are counted. */
struct rpc_file_op {
	__u64 name; /* the first bytes of p_name, of 7 at most */
	/* NFSv3 and NFSv4: bytes from rpc_argp to the pointer to the file handle, + 1; 0: unknown; RPC_FILE_ARGUMENT: rpc_argp points to
	 * the handle itself. */
	__s32 handle[2];
	__u32 args,
		inode; /* of an op on data: bytes from tk_calldata to the arguments and the inode */
	__u64 of_directory; /* a file's calls count for the directory that contains it */
};

#define RPC_FILE_ARGUMENT (-1)

struct rpc_file_key {
	__u64 handle; /* a hash of the server's file handle */
	__u32 client; /* number of the rpc_clnt */
	__u32 op; /* index in rpc_file_ops */
};

struct rpc_file {
	__u64 calls, bytes, total_ns; /* bytes: sent and received, with headers */
	__u64 group; /* of the first call: its control group, as in struct rpc_owner_key, ... */
	__u32 owner, pid; /* ... the number that its owner had then, and its thread group */
	char comm[16];
	__u64 directory; /* of an op on data: a hash of the handle of the directory that contains the file */
	__u64 whole; /* the names end with a root's: "nas:/x" */
	char names
		[RPC_FILE_NAMES +
		 RPC_FILE_NAME]; /* its own, its directory's, and so on, each with a NUL; then a NUL */
};

/* ---- slow calls one by one, for `trace --slower` ---- */

/* Bytes of the ring buffer: a power of two, and a multiple of the page size. */
#define RPC_SLOW_RING (256 * 1024)

/* Times are ns, moments CLOCK_MONOTONIC. */
struct rpc_slow_call {
	__u64 end;
	__u64 total;
	__u64 before; /* up to the last transmit */
	__u64 rtt; /* last transmit to reply; ~0: there was no reply */
	__u64 resend; /* first to last transmit */
	__u64 wait_ns[RPC_WAITS]; /* before the first transmit */
	__u32 server; /* number */
	__u32 client; /* the kernel's number of the rpc_clnt: one for each mounted file system */
	__u32 pid; /* thread group that made the call */
	__u32 owner; /* number */
	__s32 status; /* tk_status */
	struct rpc_file_key file; /* its file or directory; .client ~0: unknown */
	char op[RPC_OP_LEN];
};
