/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of everything observed at one moment, in plain structs.
 *
 * Hooks fill it from maps and the kernel; sinks (the metrics file, the trace report)
 * read it, and use neither maps nor the kernel. Counters count from the start of the
 * observation. Times are nanoseconds.
 */
#ifndef XIDSCOPE_SNAPSHOT_H
#define XIDSCOPE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/label.h"
#include "base/pci_address.h"
#include "snapshot/endpoint.h"
#include "snapshot/time_histogram.h"
#include "rpc.h"

struct depth_histogram {
	uint64_t sum;
	uint64_t bucket[DEPTH_BUCKETS];
};

/* The calls of one op to one server. */
struct rpc_op {
	char server[LABEL_SIZE];
	char op[RPC_OP_LEN];
	struct time_histogram total;
	/* A call that did not wait is in the first bucket of that wait, so that
	 * every phase counts every call. */
	struct time_histogram phase[RPC_PHASES];
	uint64_t sent_bytes;
	uint64_t received_bytes;
};

/* Room for "NFS4ERR_CONN_NOT_BOUND_TO_SESSION", the longest, and its NUL. */
#define RPC_STATUS_LEN 40

struct rpc_error {
	char server[LABEL_SIZE];
	char op[RPC_OP_LEN];
	char status[RPC_STATUS_LEN]; /* "EIO", "NFS4ERR_DELAY", ... */
	uint64_t count;
};

struct rpc_transport_state {
	char server[LABEL_SIZE];
	char name[32]; /* "tcp/0" */
	char protocol[RPC_PROTO_LEN];
	struct endpoint remote; /* no address: it does not exist, or is one of many */
	struct endpoint local; /* no address: it is not connected, or unknown */
	bool alive; /* it exists, so the slots below are known */
	bool named_only; /* none of the figures below is known of it alone */
	uint64_t retransmits;
	uint64_t timeouts;
	uint64_t disconnects;
	uint64_t connects;
	uint64_t replies; /* to calls that have ended */
	uint64_t rtt_ns; /* from their last transmits to these replies, added up */
	uint64_t segments, segments_lost; /* TCP's on the present connection, in and out */
	uint64_t oldest_ns; /* age of the oldest unanswered call, 0: none */
	uint64_t saturated_ns[RPC_LIMITS];
	uint32_t slots_max; /* 65536, sunrpc's own limit, for NFSv4.1 and later */
	uint32_t slots_allocated;
	uint32_t slots_in_flight;
};

/* A mount of NFS. */
struct nfs_mount {
	char server[LABEL_SIZE];
	char export[LABEL_SIZE];
	char mountpoint[LABEL_SIZE];
	char version[16]; /* "3", "4.2" */
	uint64_t device; /* of the file system: major number << 32 | minor; it is not recorded */
	bool elsewhere; /* of another network namespace than process 1's; it is not recorded */
	struct endpoint remote; /* the server's */
	bool kerberos; /* sec=krb5, krb5i or krb5p */
};

/* The storage system that a server belongs to, as the site names it. */
struct rpc_storage {
	char server[LABEL_SIZE];
	char storage[LABEL_SIZE];
};

struct rpc_server_state {
	char server[LABEL_SIZE];
	struct depth_histogram depth[RPC_QUEUES];
	uint32_t depth_max[RPC_QUEUES]; /* since the last snapshot */
	uint64_t oldest_ns[RPC_QUEUES]; /* age of the oldest waiter, 0: none */
	uint64_t credentials_ns; /* that tasks waited for upcalls, added up; a part of setup */
	uint32_t session_slots; /* that the session allows, as of its last wait; 0: it had none */
	const char *
		bound_by; /* static, not recorded: what limited its calls in the last interval; NULL: unknown */
};

/* Sizes are in steps of 1 MiB. */
#define EPISODE_BYTES_SHIFT 20
/* How many servers and kinds of episodes have figures of their own; the others are "other". */
#define EPISODE_SETS 5

/* The checkpoint episodes of one server and kind: see limits/episodes.h. */
struct episode_stats {
	char server[LABEL_SIZE];
	const char *kind; /* static: "save", "load" */
	struct time_histogram seconds;
	struct depth_histogram bytes;
};

#define FAULT_CAUSES 8
#define FAULT_REPEATS 8
#define FAULT_RECENT_SECONDS 86400.0 /* the window, unless an option sets another */

/* Times of the last incidents that were no part of a longer failure, the latest first. */
struct fault_repeats {
	double times[FAULT_REPEATS];
	unsigned int count;
};

/* Room for a process' name as the kernel has it, every byte of which may be escaped. */
#define SLOW_COMM_LEN 64

/* A call that took longer than asked for. */
struct slow_call {
	double time; /* of its end, seconds since the epoch */
	char server[LABEL_SIZE];
	char op[RPC_OP_LEN];
	char mount[LABEL_SIZE]; /* mount point; "": not known */
	char comm[SLOW_COMM_LEN]; /* of the process that made the call; "": it is gone */
	uint32_t pid;
	uint32_t client; /* the kernel's number of the RPC client; it is not recorded */
	uint32_t status; /* positive: an error number, or NFS' own; 0: none */
	uint64_t total_ns;
	uint64_t phase_ns[RPC_PHASES];
};

/* Faults of one GPU or switch that differ only in time. Times of this struct and those
 * below are seconds since the epoch. */
struct fault {
	char device[PCI_ADDRESS_SIZE]; /* or "other" */
	unsigned int code;
	bool nvswitch; /* an SXid */
	char severity[16];
	char action[40];
	uint64_t count;
	uint64_t incidents; /* bursts: faults with less than 5 s between them */
	double first;
	double last;
	/* Who caused its last incidents, the latest first; 0: nobody, or unknown.
	 * These cause no other one. */
	uint32_t causes[FAULT_CAUSES];
	unsigned int place; /* of a report to add: which part of the GPU; 0: unknown */
	struct fault_repeats repeats;
	uint64_t recent; /* in a snapshot: how many of them lie within the window */
	unsigned int boots; /* in a snapshot: of a fatal Xid, in how many boots of late */
};

/* Text in the kernel log that reads like a fault, but anybody may have made the
 * kernel print it. */
struct unverified_xid {
	char gpu[PCI_ADDRESS_SIZE]; /* as the text names it, or "other" */
	unsigned int code;
	uint64_t count;
};

/* Another event that the kernel or a driver reported. */
struct kernel_event {
	bool gpu_driver; /* a failure of the GPU driver that is no Xid */
	char kind[32]; /* "pcie_aer", "oom_kill", ...: lower case with underscores */
	char device[LABEL_SIZE]; /* PCI address, server, ...; "" if there is none */
	uint64_t count;
	double last;
};

/* A GPU's identity, as its driver reported it. */
struct gpu_info {
	char gpu[PCI_ADDRESS_SIZE];
	char uuid[48]; /* "GPU-..."; "" if not reported */
	char serial[24]; /* the board's; "" if not reported */
	bool rate_limited; /* the driver limits its reports of GSP errors */
	uint64_t past_failures; /* fatal incidents of earlier boots within the window */
};

/* Evidence that only what Xid 154 asked for is over: its action was no reset. */
#define RECOVERY_WITHDRAWN "action_withdrawn"

/* Evidence that earlier faults of a GPU are over. */
struct gpu_recovery {
	char gpu[PCI_ADDRESS_SIZE]; /* or "all": every GPU */
	char evidence
		[24]; /* "action_none", "driver_loaded", "device_probed" or RECOVERY_WITHDRAWN */
	double time; /* of the last evidence */
};

/* How a fault was reported: by the kernel log's text, by the driver's own
 * function or tracepoint, or by both. */
enum fault_path { FAULT_PATH_BOTH, FAULT_PATH_TEXT, FAULT_PATH_DRIVER, FAULT_PATHS };

struct hook_state {
	const char *name; /* static */
	bool attached;
};

struct drop_count {
	const char *reason; /* static */
	uint64_t count;
};

/* The verdict of one health rule. */
struct health_state {
	const char *check; /* the rule's name, static */
	int level; /* 0: ok, 1: warning, 2: failed */
};

/* How often and how long a BPF program has run, since the kernel began to count runs. */
struct program_run {
	char name[32];
	uint64_t runs;
	uint64_t ns;
};

/* The ways to observe sunrpc, the best first. */
enum rpc_source {
	RPC_SOURCE_NONE, /* sunrpc is not loaded, or cannot be observed */
	RPC_SOURCE_BTF, /* BPF programs that use sunrpc's types */
	RPC_SOURCE_TRACEPOINTS, /* BPF programs on trace events */
	RPC_SOURCE_MOUNTSTATS, /* the kernel's own statistics, polled */
	RPC_SOURCES,
};

extern const char *const rpc_source_names[RPC_SOURCES];

/*
 * What a source measures of the calls. A figure that is not measured is 0, and sinks
 * leave it out, because unknown is not the same as none.
 */
enum rpc_fact {
	/* How long single calls took. Without it only their number and their sum
	 * are known: all calls of a histogram are in its last bucket. */
	RPC_FACT_DISTRIBUTION,
	RPC_FACT_SENT_BYTES,
	RPC_FACT_RECEIVED_BYTES,
	RPC_FACT_RETRANSMITS,
	RPC_FACT_TIMEOUTS,
	RPC_FACT_DISCONNECTS,
	RPC_FACT_CONNECTS,
	RPC_FACT_REPLIES,
	RPC_FACT_SLOTS_MAX,
	RPC_FACT_SLOTS_ALLOCATED,
	RPC_FACT_SLOTS_IN_FLIGHT,
	RPC_FACT_CREDENTIALS,
	RPC_FACT_SESSION_SLOTS,
	RPC_FACT_PHASE, /* + enum rpc_phase */
	RPC_FACT_SATURATED = RPC_FACT_PHASE + RPC_PHASES, /* + enum rpc_limit */
	RPC_FACT_DEPTH = RPC_FACT_SATURATED + RPC_LIMITS, /* + enum rpc_queue */
	RPC_FACT_DEPTH_MAX = RPC_FACT_DEPTH + RPC_QUEUES, /* likewise */
	RPC_FACT_OLDEST = RPC_FACT_DEPTH_MAX + RPC_QUEUES, /* likewise */
	RPC_FACTS = RPC_FACT_OLDEST + RPC_QUEUES,
};

#define RPC_FACT_BIT(fact) ((uint64_t)1 << (fact))
#define RPC_ALL_FACTS (RPC_FACT_BIT(RPC_FACTS) - 1)

/* The facts that are known only through the events of waiting tasks. */
static inline uint64_t snapshot_facts_of_waits(void)
{
	uint64_t facts = RPC_FACT_BIT(RPC_FACT_CREDENTIALS) | RPC_FACT_BIT(RPC_FACT_SESSION_SLOTS);

	for (int l = 0; l < RPC_LIMITS; l++)
		facts |= RPC_FACT_BIT(RPC_FACT_SATURATED + l) | RPC_FACT_BIT(RPC_FACT_DEPTH + l) |
			 RPC_FACT_BIT(RPC_FACT_DEPTH_MAX + l) | RPC_FACT_BIT(RPC_FACT_OLDEST + l);
	return facts;
}

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	double wall; /* the same in seconds since the epoch; 0: not known */
	enum rpc_source source; /* in use */
	const char *rpc_missing; /* why sunrpc is not observed; NULL: it is, or is not wanted */
	uint64_t unknown; /* RPC_FACT_BIT()s of what the source does not measure */
	uint32_t session_slots_wanted; /* nfs.max_session_slots; 0: unknown */
	uint64_t cpu_waiting_ns; /* for which a task waited for a CPU, since the boot; 0: unknown */

	struct rpc_op *ops;
	size_t op_count;
	struct rpc_error *errors;
	size_t error_count;
	struct rpc_transport_state *transports;
	size_t transport_count;
	struct rpc_server_state *servers;
	size_t server_count;
	struct episode_stats *episodes;
	size_t episode_count;
	struct nfs_mount *mounts;
	size_t mount_count;
	struct rpc_storage *storages;
	size_t storage_count;
	struct slow_call *slow; /* since the snapshot before */
	size_t slow_count;
	struct fault *faults;
	size_t fault_count;
	struct kernel_event *kernel_events;
	size_t kernel_event_count;
	struct gpu_info *gpus;
	size_t gpu_count;
	struct unverified_xid *unverified;
	size_t unverified_count;
	struct gpu_recovery *recoveries;
	size_t recovery_count;
	uint64_t open_faults; /* of a session's first: those from before it, by the health rules */
	bool gpu_watched; /* GPU hooks are attached, so the next two are known */
	uint64_t fault_paths[FAULT_PATHS];
	uint64_t log_lost; /* kernel log records overwritten before they were read */

	struct hook_state hooks[32];
	size_t hook_count;
	size_t rpc_hook_count; /* how many of them are sunrpc's; these come first */
	struct drop_count drops[16];
	size_t drop_count;
	uint64_t folded_entries; /* those about calls: into "other"; others: left out */
	struct health_state health[24];
	size_t health_count;
	struct program_run programs[32];
	size_t program_count;

	uint64_t resident_bytes;
	uint64_t map_bytes;
	uint64_t program_bytes;
	uint64_t trace_bytes; /* kernel memory of the trace buffers */
	double export_seconds; /* how long the last write took */
	uint64_t export_errors;
};

static inline bool snapshot_knows(const struct snapshot *s, int fact)
{
	return !(s->unknown & RPC_FACT_BIT(fact));
}

/* The snapshot owns its arrays; initialise with {}. */
void snapshot_free(struct snapshot *s);

/* What a count has grown by; 0 if it has fallen. */
static inline uint64_t counted_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The entry of @s with the labels of @like; NULL: there is none. @at: the place of @like in its own
 * snapshot, where it mostly is in @s, too. */
const struct rpc_op *snapshot_op_like(const struct snapshot *s, const struct rpc_op *like,
				      size_t at);
const struct rpc_transport_state *snapshot_transport_like(const struct snapshot *s,
							  const struct rpc_transport_state *like,
							  size_t at);

/* Find the entry with these labels, or add one of zeros. NULL: no memory. The pointer is
 * valid until the next call for the same array. A fault's labels are all members of
 * @like except counts and times; a mount's are its texts. */
struct rpc_op *snapshot_op(struct snapshot *s, const char *server, const char *op);
struct rpc_error *snapshot_error(struct snapshot *s, const char *server, const char *op,
				 const char *status);
struct rpc_transport_state *snapshot_transport(struct snapshot *s, const char *server,
					       const char *name);
struct rpc_server_state *snapshot_server(struct snapshot *s, const char *server);
/* @kind is static. */
struct episode_stats *snapshot_episodes(struct snapshot *s, const char *server, const char *kind);
struct nfs_mount *snapshot_mount(struct snapshot *s, const struct nfs_mount *like);
struct rpc_storage *snapshot_storage(struct snapshot *s, const char *server);
struct fault *snapshot_fault(struct snapshot *s, const struct fault *like);
struct kernel_event *snapshot_kernel_event(struct snapshot *s, bool gpu_driver, const char *kind,
					   const char *device);
struct gpu_info *snapshot_gpu(struct snapshot *s, const char *gpu);
struct unverified_xid *snapshot_unverified(struct snapshot *s, const char *gpu, unsigned int code);
struct gpu_recovery *snapshot_recovery(struct snapshot *s, const char *gpu, const char *evidence);

/* Entries of the arrays of fixed size. One for which there is no room is left out:
 * make the array larger. A drop or a program adds to the entry of its name. */
void snapshot_hook(struct snapshot *s, const char *name, bool attached);
void snapshot_drop(struct snapshot *s, const char *reason, uint64_t count);
void snapshot_program(struct snapshot *s, const char *name, uint64_t runs, uint64_t ns);
void snapshot_health(struct snapshot *s, const char *check, int level);

extern const char *const rpc_phase_names[RPC_PHASES];
extern const char *const rpc_limit_names[RPC_LIMITS];
extern const char *const rpc_queue_names[RPC_QUEUES];
extern const char *const fault_path_names[FAULT_PATHS];

#endif
