// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "snapshot/calls.h"

#include "snapshot/table.h"

const char *const rpc_source_names[RPC_SOURCES] = {
	[RPC_SOURCE_NONE] = "none",
	[RPC_SOURCE_BTF] = "btf",
	[RPC_SOURCE_TRACEPOINTS] = "tracepoints",
	[RPC_SOURCE_MOUNTSTATS] = "mountstats",
};

const struct slot_setting_name slot_settings[SLOT_SETTINGS] = {
	[SLOTS_SESSION] = { "nfs.max_session_slots",
			    "/sys/module/nfs/parameters/max_session_slots" },
	[SLOTS_TCP] = { "sunrpc.tcp_max_slot_table_entries",
			"/proc/sys/sunrpc/tcp_max_slot_table_entries" },
	[SLOTS_UDP] = { "sunrpc.udp_slot_table_entries",
			"/proc/sys/sunrpc/udp_slot_table_entries" },
	[SLOTS_RDMA] = { "sunrpc.rdma_slot_table_entries",
			 "/proc/sys/sunrpc/rdma_slot_table_entries" },
};

const char *const nfs_option_names[NFS_OPTIONS] = {
#define TABLE_ROW(option, name) name,
#include "nfs_options.inc"
};

const char *const rpc_phase_names[RPC_PHASES] = {
	[RPC_PHASE_SESSION] = "session", [RPC_PHASE_SLOT] = "slot",     [RPC_PHASE_SEND] = "send",
	[RPC_PHASE_DELAY] = "delay",     [RPC_PHASE_RESEND] = "resend", [RPC_PHASE_SETUP] = "setup",
	[RPC_PHASE_RTT] = "rtt",         [RPC_PHASE_FINISH] = "finish",
};

const char *const rpc_limit_names[RPC_LIMITS] = {
	[RPC_LIMIT_SLOT] = "slot",
	[RPC_LIMIT_SESSION] = "session",
	[RPC_LIMIT_SEND] = "send",
};

const char *const rpc_queue_names[RPC_QUEUES] = {
	[RPC_QUEUE_SLOT] = "slot", [RPC_QUEUE_SESSION] = "session", [RPC_QUEUE_SEND] = "send",
	[RPC_QUEUE_XMIT] = "xmit", [RPC_QUEUE_PENDING] = "pending",
};

const char *rpc_queue_wait(struct span queue)
{
	static const char *const waits[RPC_QUEUES] = {
		[RPC_QUEUE_SLOT] = "for an RPC slot",
		[RPC_QUEUE_SESSION] = "for a session slot",
		[RPC_QUEUE_SEND] = "to be sent",
		[RPC_QUEUE_PENDING] = "for its reply",
	};
	const char *const *name = ARRAY_FIND(x, rpc_queue_names, RPC_QUEUES, span_is(queue, *x));

	return name ? waits[name - rpc_queue_names] ?: "" : "";
}

const char *const rpc_kind_names[RPC_KINDS] = { "read", "write", "metadata", "other" };

enum rpc_kind rpc_kind_of(const char *op)
{
	return !strcmp(op, "READ") || !strcmp(op, "READ_PLUS") ? RPC_KIND_READ :
	       !strcmp(op, "WRITE") || !strcmp(op, "COMMIT")   ? RPC_KIND_WRITE :
	       !strcmp(op, LABEL_OTHER)                        ? RPC_KIND_OTHER :
								 RPC_KIND_METADATA;
}

const char *const rpc_fact_names[RPC_FACTS] = {
#define TABLE_ROW(fact, name, sets) name,
#include "facts.inc"
};

uint64_t rpc_facts(enum fact_set set)
{
	static const uint16_t sets[RPC_FACTS] = {
#define TABLE_ROW(fact, name, sets) [RPC_FACT_##fact] = sets,
#include "facts.inc"
	};
	uint64_t facts = 0;

	for (int f = 0; f < RPC_FACTS; f++)
		if (sets[f] & set)
			facts |= RPC_FACT_BIT(f);
	return facts;
}

/* ---- sums ---- */

#define SUMS_WORDS (sizeof(struct rpc_sums) / sizeof(__u64))

void rpc_sums_add(struct rpc_sums *to, const struct rpc_sums *from)
{
	for (size_t i = 0; i < SUMS_WORDS; i++)
		((__u64 *)to)[i] += ((const __u64 *)from)[i];
}

void rpc_sums_subtract(struct rpc_sums *from, const struct rpc_sums *sums)
{
	for (size_t i = 0; i < SUMS_WORDS; i++)
		((__u64 *)from)[i] -= ((const __u64 *)sums)[i];
}

uint64_t rpc_kinds_sum(const __u64 *by_kind)
{
	uint64_t sum = 0;

	for (int k = 0; k < RPC_KINDS; k++)
		sum += by_kind[k];
	return sum;
}

/* ---- durations ---- */

/* Without a sum, all calls are in the first bucket, of 0 ns, and the last one, where the source mountstats counts. This holds
 * for most phases of most calls, and a file has a thousand histograms. */

uint64_t time_histogram_count(const struct time_histogram *h)
{
	uint64_t count = 0;

	if (!h->sum_ns)
		return h->bucket[0] + h->bucket[TIME_OVERFLOW];
	for (int i = 0; i < TIME_BUCKETS; i++)
		count += h->bucket[i];
	return count;
}

void time_histogram_add(struct time_histogram *to, const struct time_histogram *from)
{
	if (!from->sum_ns) {
		to->bucket[0] += from->bucket[0];
		to->bucket[TIME_OVERFLOW] += from->bucket[TIME_OVERFLOW];
		return;
	}
	to->sum_ns += from->sum_ns;
	for (int i = 0; i < TIME_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

uint64_t time_histogram_quantile(const struct time_histogram *h, double q)
{
	uint64_t count = time_histogram_count(h), below = 0;
	double rank = q * (double)count;

	if (!count)
		return 0;
	for (uint32_t i = 0; i < TIME_OVERFLOW; i++) {
		below += h->bucket[i];
		if (below && (double)below >= rank)
			return histogram_bound(i, TIME_SHIFT);
	}
	return UINT64_MAX;
}

/* ---- entries ---- */

const char *endpoint_text(char *text, const struct endpoint *e)
{
	bool brackets = e->port && strchr(e->address, ':');
	int len = snprintf(text, ENDPOINT_SIZE, "%s%s%s", brackets ? "[" : "", e->address,
			   brackets ? "]" : "");

	if (e->port)
		snprintf(text + len, ENDPOINT_SIZE - (size_t)len, ":%u", e->port);
	return text;
}

void calls_free(struct calls *c)
{
	table_free_part(c, offsetof(struct snapshot, calls));
	*c = (struct calls){};
}

enum rpc_queue server_oldest(const struct rpc_server_state *v)
{
	int oldest = 0;

	for (int q = 1; q < RPC_QUEUES; q++)
		if (v->oldest_ns[q] > v->oldest_ns[oldest])
			oldest = q;
	return oldest;
}

const char *calls_victims(char *text, const struct calls *c, const char *server, bool others)
{
	const struct rpc_server_state *v = CALLS_FIND(x, c, server, server, true);
	const struct calls_by *oldest = NULL;
	const char *mount = "";
	char more[32] = "", call[RPC_OP_LEN + SLOW_COMM_LEN + 32] = "";
	const char *owner = "", *op = "";
	unsigned int mounts = 0, known = 0;

	CALLS_EACH(o, c, owner_call, server)
		if (o->oldest_ns > (oldest ? oldest->oldest_ns : 0))
			oldest = o;
	if (oldest)
		owner = oldest->owner;
	/* One that the owner of the oldest call uses, if it is known. */
	CALLS_EACH(m, c, mount, server) {
		bool used = CALLS_FIND(x, c, owner_mount, server,
				       !strcmp(x->owner, owner) &&
					       !strcmp(x->mountpoint, m->mountpoint));

		known += used;
		if (!mounts++ || used)
			mount = m->mountpoint;
	}
	if (mounts > 1 && (!others || known != 1))
		snprintf(more, sizeof(more), others ? "one of %u mounts" : " and %u more",
			 mounts - !others);
	if (v)
		op = v->oldest_op;
	if (v && *op && v->oldest_pid)
		snprintf(call, sizeof(call), "%s of %s %" PRIu32 "%s", op,
			 *v->oldest_comm ? v->oldest_comm : "process", v->oldest_pid,
			 *owner ? ", " : "");
	else if (*op || *owner)
		snprintf(call, sizeof(call), "%s%s", op, *op && *owner ? " of " : "");
	*text = 0;
	if (mounts || *call || *owner)
		snprintf(text, VICTIMS_TEXT, " (%s%s%s%s%s%s)", others && *more ? "" : mount, more,
			 mounts && (*call || *owner) ? "; " : "",
			 *call  ? "oldest call: " :
			 *owner ? "oldest call of " :
				  "",
			 call, owner);
	return text;
}
