/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of the NFS client up to one moment, by op, server, transport, mount and owner. Counters count from the start of
 * the observation. Times are nanoseconds. */
#pragma once

#include "base/mountinfo.h"
#include "base/safe_text.h"
#include "base/span.h"
#include "rpc.h"
#include "snapshot/fields.h"

/* Durations, in the buckets of include/histogram.h. */
struct time_histogram {
	uint64_t sum_ns;
	uint64_t bucket[TIME_BUCKETS];
};

uint64_t time_histogram_count(const struct time_histogram *h);
void time_histogram_add(struct time_histogram *to, const struct time_histogram *from);
/* The upper bound in ns of the bucket that holds the @q-quantile (0 to 1). From 1 us on the true value is at most a fifth
 * lower. 0: the histogram is empty; UINT64_MAX: above all bounds. */
uint64_t time_histogram_quantile(const struct time_histogram *h, double q);

/* One end of a connection. */
struct endpoint {
	char address[RPC_ADDRESS_LEN]; /* "10.0.0.1", "fd00::1"; "": unknown */
	uint32_t port; /* 0: unknown */
};

/* Room for an address with its brackets, a colon, a port and a NUL. */
#define ENDPOINT_SIZE (RPC_ADDRESS_LEN + 2 + 1 + 10)

/* Writes "10.0.0.1:2049" or "[fd00::1]:2049" to @text, of ENDPOINT_SIZE bytes, and returns it. Unknown parts are omitted. */
const char *endpoint_text(char *text, const struct endpoint *e);
#define ENDPOINT(e) endpoint_text((char[ENDPOINT_SIZE]){ 0 }, e) /* valid in its block */

struct depth_histogram {
	uint64_t sum;
	uint64_t bucket[DEPTH_BUCKETS];
};

/* Room for "NFS4ERR_CONN_NOT_BOUND_TO_SESSION", the longest, and its NUL. */
#define RPC_STATUS_LEN 40

/* By mountstats, in which the kernel counts errors without their status. */
#define ANY_RPC_STATUS "unknown"

/* The options of a mount that operators compare, as they are in force: nfs_options.tsv. */
enum nfs_option {
#define TABLE_ROW(option, name) NFS_##option,
#include "nfs_options.inc"
	NFS_OPTIONS,
};

extern const char *const nfs_option_names[NFS_OPTIONS];

#define NFS_OPTION_SIZE 24

/* What explains that a task hangs. */
enum stuck_cause {
	STUCK_NO_RPC, /* nothing: no call is outstanding */
	STUCK_RPC, /* a call is outstanding */
	STUCK_DELAYED, /* a call is outstanding, because the server repeatedly asks to make it later */
	STUCK_LOCKD, /* a call to the server's lock manager is outstanding */
	STUCK_GSSD, /* a call waits for credentials */
};

/* Room for the kernel's name of a process with every byte escaped. */
#define SLOW_COMM_LEN 64

/* The finest resolution of sizes is 1 MiB. */
#define EPISODE_BYTES_SHIFT 20
/* The number of servers and kinds that have episodes of their own; others are added to "other". */
#define EPISODE_SETS 5

void rpc_sums_add(struct rpc_sums *to, const struct rpc_sums *from);
/* No part of @sums may exceed that of @from. */
void rpc_sums_subtract(struct rpc_sums *from, const struct rpc_sums *sums);
uint64_t rpc_kinds_sum(const __u64 *by_kind);

/* Room for a path below a mount. */
#define FILE_PATH_SIZE 448
#define FILES_SHOWN_MAX 1000 /* for each of three measures, of files and of directories */

/* The counters of a transport that sinks show alike, each in one row: member, fact and family of the metrics file, role. A session and
 * its JSON, and the sums of a server, have them as well. */
#define TRANSPORT_COUNTS(COUNT)                  \
	COUNT(retransmits, RETRANSMITS, COUNTER) \
	COUNT(timeouts, TIMEOUTS, COUNTER)       \
	COUNT(disconnects, DISCONNECTS, COUNTER) \
	COUNT(connects, CONNECTS, EARLIER_COUNTER)

#include "snapshot/calls_fields.h"

/* Whether calls by mount may be those on this mount: their mount point, or a folder below their export. */
static inline bool calls_are_on(const struct calls_by *calls, const struct nfs_mount *mount)
{
	return *calls->mountpoint ? !strcmp(calls->mountpoint, mount->mountpoint) :
				    *calls->export && mount_leads_to(mount->export, calls->export);
}

/* The ways to observe sunrpc, the best first. */
enum rpc_source {
	RPC_SOURCE_NONE, /* sunrpc is not loaded, or cannot be observed */
	RPC_SOURCE_BTF, /* BPF programs that use sunrpc's types */
	RPC_SOURCE_TRACEPOINTS, /* BPF programs on trace events */
	RPC_SOURCE_MOUNTSTATS, /* the kernel's own statistics, polled */
	RPC_SOURCES,
};

extern const char *const rpc_source_names[RPC_SOURCES];

/* What a source measures. A figure that is not measured is 0 here, and sinks omit it, because unknown is not 0. Without
 * RPC_FACT_DISTRIBUTION only the number and the sum of calls are known, and all calls of a histogram are in its last bucket. */
enum rpc_fact {
#define TABLE_ROW(fact, ...) RPC_FACT_##fact,
#include "facts.inc"
	RPC_FACTS,
	RPC_FACT_PHASE = RPC_FACT_PHASE_SESSION, /* + enum rpc_phase */
	RPC_FACT_SATURATED = RPC_FACT_SATURATED_SLOT, /* + enum rpc_limit */
	RPC_FACT_DEPTH = RPC_FACT_DEPTH_SLOT, /* + enum rpc_queue */
	RPC_FACT_DEPTH_MAX = RPC_FACT_DEPTH_MAX_SLOT, /* + enum rpc_queue */
	RPC_FACT_OLDEST = RPC_FACT_OLDEST_SLOT, /* + enum rpc_queue */
};

extern const char *const rpc_fact_names[RPC_FACTS];

#define RPC_FACT_BIT(fact) ((uint64_t)1 << (fact))
#define RPC_ALL_FACTS (RPC_FACT_BIT(RPC_FACTS) - 1)

/* Sets of facts, from facts.tsv. Returns RPC_FACT_BIT()s. */
enum fact_set {
	FACTS_MOUNTSTATS = 1, /* the source mountstats measures them */
	FACTS_REST = 2, /* the source tracepoints takes them from there */
	FACTS_NO_EVENT = 4, /* the source tracepoints never measures them */
	FACTS_WAITS = 8, /* only hooks on waiting tasks show them; and so on */
	FACTS_DISCONNECT = 16,
	FACTS_CLIENT = 32, /* only in the source btf */
	FACTS_OWNER = 64,
	FACTS_TRANSMIT = 128, /* only in the source tracepoints */
};
uint64_t rpc_facts(enum fact_set set);

/* Sysctls and module parameters with the number of slots of a new transport or session. */
enum slot_setting { SLOTS_SESSION, SLOTS_TCP, SLOTS_UDP, SLOTS_RDMA, SLOT_SETTINGS };

extern const struct slot_setting_name {
	const char *name, *path;
} slot_settings[SLOT_SETTINGS];

/* The arrays and their counts are in tables.tsv: `struct rpc_op *ops; size_t op_count;` and so on. */
#define CALLS(type, list, count, ...) \
	struct type *list;            \
	size_t count;
#define FAULTS(...)
#define SELF(...)
#define TABLE_ROW(table, part, ...) part(__VA_ARGS__)
struct calls {
	enum rpc_source source; /* in use */
	uint64_t source_number; /* if it changes, all counts of calls have begun again */
	char rpc_missing[96]; /* why sunrpc is not observed; "": it is */
	uint64_t unknown; /* RPC_FACT_BIT()s that the source does not measure */
	uint32_t slots_wanted[SLOT_SETTINGS]; /* for new mounts; 0: unknown */
	uint64_t cpu_waiting_ns; /* since the boot, a task waited for a CPU; 0: unknown */
	uint64_t dirty_bytes; /* of all files: to be written or committed */
	uint64_t dirty_limit_bytes; /* above this the kernel delays writers; 0: unknown */
	uint64_t mounts_version; /* changes when the list is read again; not recorded */
	uint64_t left_out_entries; /* mounts beyond the limit; not recorded */
#include "tables.inc"
};
#undef CALLS
#undef FAULTS
#undef SELF

/* For each entry of one server in a list of struct calls: CALLS_EACH(o, &d->calls, op, server) goes through .ops. CALLS_FIND()
 * returns the first of them for which @wanted is true, or NULL. */
#define CALLS_EACH(entry, calls, list, of)                         \
	ARRAY_EACH(entry, (calls)->list##s, (calls)->list##_count) \
		if (strcmp((entry)->server, of) != 0) {            \
		} else
#define CALLS_FIND(entry, calls, list, of, wanted)                 \
	ARRAY_FIND(entry, (calls)->list##s, (calls)->list##_count, \
		   !strcmp((entry)->server, of) && (wanted))

static inline bool snapshot_knows(const struct calls *c, int fact)
{
	return !(c->unknown & RPC_FACT_BIT(fact));
}

void calls_free(struct calls *c);

/* What a silent server blocks: " (/mnt/ckpt and 2 more; oldest call: ACCESS of ls 4712, slurm:4712)"; "": not known. @others: it
 * answers other calls, and only the mount of the oldest one counts: " (one of 3 mounts; ...)" if it is not known. Returns @text, of
 * VICTIMS_TEXT bytes. */
#define VICTIMS_TEXT 512
const char *calls_victims(char *text, const struct calls *c, const char *server, bool others);
#define VICTIMS(c, server, others) \
	calls_victims((char[VICTIMS_TEXT]){ 0 }, c, server, others) /* valid in its block */

/* The queue in which the oldest waiter is. */
enum rpc_queue server_oldest(const struct rpc_server_state *v);

void calls_remove_server(struct calls *c, const char *server);

/* Find the entry with these labels, or add one of zeros. The pointer is valid until the next call for the same array. Without
 * memory it is one that nobody reads: see table_append(). The labels of a mount are its server, export, mount point and version. */
ENTRIES(rpc_op, snapshot_op, TABLE_OPS, (struct calls * c, const char *server, const char *op),
	server, op)
ENTRIES(rpc_error, snapshot_error, TABLE_ERRORS,
	(struct calls * c, const char *server, const char *op, const char *status), server, op,
	status)
ENTRIES(rpc_transport_state, snapshot_transport, TABLE_TRANSPORTS,
	(struct calls * c, const char *server, const char *name), server, name)
ENTRIES(rpc_server_state, snapshot_server, TABLE_SERVERS, (struct calls * c, const char *server),
	server)
ENTRIES(episode_stats, snapshot_episodes, TABLE_EPISODES,
	(struct calls * c, const char *server, const char *kind), server, kind)
ENTRIES(calls_by, snapshot_owner_calls, TABLE_OWNER_CALLS,
	(struct calls * c, const char *server, const char *owner), server, "", "", owner)
ENTRIES(client_module, snapshot_module, TABLE_MODULES, (struct calls * c, const char *name), name)
ENTRIES(rpc_storage, snapshot_storage, TABLE_STORAGES, (struct calls * c, const char *server),
	server)
ENTRIES(stuck_state, snapshot_stuck, TABLE_STUCK,
	(struct calls * c, const char *mountpoint, bool rpc), mountpoint, &rpc)

static inline struct nfs_mount *snapshot_mount(struct calls *c, const struct nfs_mount *like)
{
	return table_get_like(TABLE_MOUNTS, c, like);
}

extern const char *const rpc_phase_names[RPC_PHASES];
extern const char *const rpc_kind_names[RPC_KINDS];
enum rpc_kind rpc_kind_of(const char *op);
extern const char *const rpc_limit_names[RPC_LIMITS];
extern const char *const rpc_queue_names[RPC_QUEUES];

/* What a call in the queue of this name waits for: "for its reply". "": no call's wait there is measured. */
const char *rpc_queue_wait(struct span queue);
