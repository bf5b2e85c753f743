// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sink that writes a snapshot as a metrics file: which figures go into which family. */
#include "sinks/metrics.h"

#include <string.h>

#include "snapshot/fault_group.h"
#include "sinks/metrics_writer.h"
#include "version.h"

static void write_transport_counter(struct metrics_writer *w, const struct snapshot *s,
				    enum metric_id metric, enum rpc_fact fact, size_t offset,
				    const char *(*format)(char *number, uint64_t value))
{
	char number[NUMBER_SIZE];

	write_family(w, metric);
	for (size_t i = 0; i < s->calls.transport_count && snapshot_knows(&s->calls, fact); i++) {
		const struct rpc_transport_state *t = &s->calls.transports[i];
		uint64_t value;

		if (t->named_only)
			continue;
		memcpy(&value, (const char *)t + offset, sizeof(value));
		SAMPLE(w, format(number, value), { "server", t->server }, { "transport", t->name });
	}
}

static void write_transport_info(struct metrics_writer *w, const struct rpc_transport_state *t)
{
	char local[ENDPOINT_SIZE], remote[ENDPOINT_SIZE];

	if (*t->remote.address)
		SAMPLE(w, "1", { "server", t->server }, { "transport", t->name },
		       { "protocol", t->protocol }, { "local", endpoint_text(local, &t->local) },
		       { "remote", endpoint_text(remote, &t->remote) });
}

/* All transports of a server share its session, whose waits count for the first of them. */
static bool is_first_transport(const struct snapshot *s, const struct rpc_transport_state *t)
{
	const struct rpc_transport_state *first = s->calls.transports;

	while (strcmp(first->server, t->server) != 0)
		first++;
	return first == t;
}

static void write_transports(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

#define COUNTER(NAME, FACT, field, format)                                \
	write_transport_counter(w, s, METRIC_RPC_##NAME, RPC_FACT_##FACT, \
				offsetof(struct rpc_transport_state, field), format)
	COUNTER(RETRANSMITS, RETRANSMITS, retransmits, format_integer);
	COUNTER(TIMEOUTS, TIMEOUTS, timeouts, format_integer);
	COUNTER(DISCONNECTS, DISCONNECTS, disconnects, format_integer);
	COUNTER(CONNECTS, CONNECTS, connects, format_integer);
	COUNTER(REPLIES, REPLIES, replies, format_integer);
	COUNTER(RTT_SECONDS, REPLIES, rtt_ns, format_nanoseconds);
#undef COUNTER
	write_family(w, METRIC_RPC_TRANSPORT_INFO);
	for (size_t i = 0; i < s->calls.transport_count; i++)
		write_transport_info(w, &s->calls.transports[i]);

	write_family(w, METRIC_RPC_SATURATED_SECONDS);
	for (size_t i = 0; i < s->calls.transport_count; i++) {
		const struct rpc_transport_state *t = &s->calls.transports[i];

		for (int l = 0; l < RPC_LIMITS; l++)
			if (snapshot_knows(&s->calls, RPC_FACT_SATURATED + l) && !t->named_only &&
			    (l != RPC_LIMIT_SESSION || t->saturated_ns[l] ||
			     is_first_transport(s, t)))
				SAMPLE(w, format_nanoseconds(number, t->saturated_ns[l]),
				       { "server", t->server }, { "transport", t->name },
				       { "limit", rpc_limit_names[l] });
	}
	write_family(w, METRIC_RPC_SLOTS);
	for (size_t i = 0; i < s->calls.transport_count; i++) {
		const struct rpc_transport_state *t = &s->calls.transports[i];
		const struct {
			const char *name;
			enum rpc_fact fact;
			uint32_t value;
		} kinds[] = {
			{ "max", RPC_FACT_SLOTS_MAX, t->slots_max },
			{ "allocated", RPC_FACT_SLOTS_ALLOCATED, t->slots_allocated },
			{ "in_flight", RPC_FACT_SLOTS_IN_FLIGHT, t->slots_in_flight },
		};

		for (size_t k = 0; t->alive && k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (snapshot_knows(&s->calls, kinds[k].fact))
				SAMPLE(w, format_integer(number, kinds[k].value),
				       { "server", t->server }, { "transport", t->name },
				       { "kind", kinds[k].name });
	}
}

static void write_servers(struct metrics_writer *w, const struct snapshot *s)
{
	const struct rpc_server_state *end = s->calls.servers + s->calls.server_count;
	char number[NUMBER_SIZE];

	write_family(w, METRIC_RPC_QUEUE_DEPTH);
	for (const struct rpc_server_state *v = s->calls.servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++) {
			const struct metric_label labels[] = { { "server", v->server },
							       { "queue", rpc_queue_names[q] } };

			if (!snapshot_knows(&s->calls, RPC_FACT_DEPTH + q))
				continue;
			write_histogram(w, labels, LABEL_COUNT(labels), v->depth[q].bucket,
					DEPTH_OVERFLOW, DEPTH_SHIFT,
					format_integer(number, v->depth[q].sum));
		}
	write_family(w, METRIC_RPC_QUEUE_DEPTH_MAX);
	for (const struct rpc_server_state *v = s->calls.servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (snapshot_knows(&s->calls, RPC_FACT_DEPTH_MAX + q))
				SAMPLE(w, format_integer(number, v->depth_max[q]),
				       { "server", v->server }, { "queue", rpc_queue_names[q] });
	write_family(w, METRIC_RPC_OLDEST_WAITER_SECONDS);
	for (const struct rpc_server_state *v = s->calls.servers; v < end; v++)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (q != RPC_QUEUE_XMIT && snapshot_knows(&s->calls, RPC_FACT_OLDEST + q))
				SAMPLE(w, format_nanoseconds(number, v->oldest_ns[q]),
				       { "server", v->server }, { "queue", rpc_queue_names[q] });
}

static void write_bounds(struct metrics_writer *w, const struct snapshot *s)
{
	const struct episode_stats *end = s->calls.episodes + s->calls.episode_count, *e;
	char number[NUMBER_SIZE];

	write_family(w, METRIC_RPC_LIMIT);
	for (size_t i = 0; i < s->calls.server_count; i++)
		if (s->calls.servers[i].bound_by)
			SAMPLE(w, "1", { "server", s->calls.servers[i].server },
			       { "limit", s->calls.servers[i].bound_by });
#define EACH_EPISODE(h, overflow, shift, sum)                                                      \
	for (e = s->calls.episodes; e < end; e++) {                                                \
		const struct metric_label labels[] = { { "server", e->server },                    \
						       { "kind", e->kind } };                      \
		write_histogram(w, labels, LABEL_COUNT(labels), (h).bucket, overflow, shift, sum); \
	}
	write_family(w, METRIC_CHECKPOINT_EPISODE_SECONDS);
	EACH_EPISODE(e->seconds, TIME_OVERFLOW, TIME_SHIFT,
		     format_nanoseconds(number, e->seconds.sum_ns))
	write_family(w, METRIC_CHECKPOINT_EPISODE_BYTES);
	EACH_EPISODE(e->bytes, DEPTH_OVERFLOW, EPISODE_BYTES_SHIFT,
		     format_integer(number, e->bytes.sum))
#undef EACH_EPISODE
}

static void write_mounts(struct metrics_writer *w, const struct snapshot *s)
{
	write_family(w, METRIC_RPC_SERVER_INFO);
	for (size_t i = 0; i < s->calls.storage_count; i++)
		SAMPLE(w, "1", { "server", s->calls.storages[i].server },
		       { "storage", s->calls.storages[i].storage });
	write_family(w, METRIC_NFS_MOUNT_INFO);
	for (size_t i = 0; i < s->calls.mount_count; i++)
		SAMPLE(w, "1", { "server", s->calls.mounts[i].server },
		       { "export", s->calls.mounts[i].export },
		       { "mountpoint", s->calls.mounts[i].mountpoint },
		       { "version", s->calls.mounts[i].version });
}

static void write_unverified(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE], code[16];

	write_family(w, METRIC_GPU_XID_UNVERIFIED);
	for (size_t i = 0; i < s->faults.unverified_count; i++) {
		snprintf(code, sizeof(code), "%u", s->faults.unverified[i].code);
		SAMPLE(w, format_integer(number, s->faults.unverified[i].count),
		       { "gpu", s->faults.unverified[i].gpu }, { "xid", code });
	}
}

static void write_paths(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	write_family(w, METRIC_GPU_FAULT_REPORTS);
	for (int p = 0; p < FAULT_PATHS && s->faults.gpu_watched; p++)
		SAMPLE(w, format_integer(number, s->faults.fault_paths[p]),
		       { "path", fault_path_names[p] });
}

/* A family with a sample for each group of faults: of one device and code. */
static void write_groups(struct metrics_writer *w, const struct fault_counts *counts,
			 const struct fault_group *groups, bool nvswitch, enum metric_id family)
{
	char number[NUMBER_SIZE], code[16];

	write_family(w, family);
	for (size_t i = 0; i < counts->fault_count; i++) {
		const struct fault *f = &counts->faults[i];
		const struct fault_group *g = &groups[i];
		const char *value = NULL;

		if (f->nvswitch != nvswitch || !(g->last > 0))
			continue;
		if (family == METRIC_GPU_XID_INCIDENTS)
			value = format_integer(number, g->incidents);
		else if (family == METRIC_GPU_XID_RECENT_INCIDENTS)
			value = format_integer(number, g->recent);
		else if (family == METRIC_GPU_XID_BOOTS && g->boots > 1)
			value = format_integer(number, g->boots);
		else if (family == METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS ||
			 family == METRIC_NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS)
			value = format_timestamp(number, g->last);
		else if (family != METRIC_GPU_XID_BOOTS && g->first > 0)
			value = format_timestamp(number, g->first);
		snprintf(code, sizeof(code), "%u", f->code);
		if (value)
			SAMPLE(w, value, { nvswitch ? "device" : "gpu", f->device },
			       { nvswitch ? "sxid" : "xid", code });
	}
}

/* Each fault by its severity and action. */
static void write_errors(struct metrics_writer *w, const struct fault_counts *counts, bool nvswitch)
{
	const struct fault *end = counts->faults + counts->fault_count;
	char number[NUMBER_SIZE], code[16];

	write_family(w, nvswitch ? METRIC_NVSWITCH_SXID_ERRORS : METRIC_GPU_XID_ERRORS);
	for (const struct fault *f = counts->faults; f < end; f++) {
		if (f->nvswitch != nvswitch)
			continue;
		format_integer(number, f->count);
		snprintf(code, sizeof(code), "%u", f->code);
		if (nvswitch)
			SAMPLE(w, number, { "device", f->device }, { "sxid", code },
			       { "severity", f->severity });
		else
			SAMPLE(w, number, { "gpu", f->device }, { "xid", code },
			       { "severity", f->severity }, { "action", f->action });
	}
}

static void write_faults(struct metrics_writer *w, const struct snapshot *s)
{
	static const enum metric_id of_gpus[] = {
		METRIC_GPU_XID_INCIDENTS,
		METRIC_GPU_XID_RECENT_INCIDENTS,
		METRIC_GPU_XID_BOOTS,
		METRIC_GPU_XID_FIRST_TIMESTAMP_SECONDS,
		METRIC_GPU_XID_LAST_TIMESTAMP_SECONDS,
	};
	const struct fault_counts *counts = &s->faults;
	/* Summed once, for each sum looks at all faults. There are some 4,000 at most (faults/faults.h). */
	struct fault_group groups[counts->fault_count + 1];

	/* A group's series are written for its first fault, if its time is known. */
	for (size_t i = 0; i < counts->fault_count; i++) {
		groups[i] = (struct fault_group){};
		if (!fault_group_sum(s, &counts->faults[i], &groups[i]))
			groups[i].last = 0;
	}
	write_errors(w, counts, false);
	for (size_t i = 0; i < sizeof(of_gpus) / sizeof(of_gpus[0]); i++)
		write_groups(w, counts, groups, false, of_gpus[i]);
	write_unverified(w, s);
	write_errors(w, counts, true);
	write_groups(w, counts, groups, true, METRIC_NVSWITCH_SXID_FIRST_TIMESTAMP_SECONDS);
	write_groups(w, counts, groups, true, METRIC_NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS);
	write_paths(w, s);
}

static void write_kernel_events(struct metrics_writer *w, const struct snapshot *s)
{
	const struct kernel_event *end = s->faults.kernel_events + s->faults.kernel_event_count;
	char number[NUMBER_SIZE];
	const struct kernel_event *e;

	write_family(w, METRIC_GPU_DRIVER_ERRORS);
	for (e = s->faults.kernel_events; e < end; e++)
		if (e->gpu_driver)
			SAMPLE(w, format_integer(number, e->count), { "gpu", e->device },
			       { "kind", e->kind });
	write_family(w, METRIC_GPU_DRIVER_ERROR_LAST_TIMESTAMP_SECONDS);
	for (e = s->faults.kernel_events; e < end; e++)
		if (e->gpu_driver)
			SAMPLE(w, format_timestamp(number, e->last), { "gpu", e->device },
			       { "kind", e->kind });
	write_family(w, METRIC_GPU_RECOVERED_TIMESTAMP_SECONDS);
	for (size_t i = 0; i < s->faults.recovery_count; i++)
		SAMPLE(w, format_timestamp(number, s->faults.recoveries[i].time),
		       { "gpu", s->faults.recoveries[i].gpu },
		       { "evidence", s->faults.recoveries[i].evidence });
	write_family(w, METRIC_GPU_PAST_FAILURES);
	for (size_t i = 0; i < s->faults.gpu_count; i++)
		if (s->faults.gpus[i].past_failures)
			SAMPLE(w, format_integer(number, s->faults.gpus[i].past_failures),
			       { "gpu", s->faults.gpus[i].gpu });
	write_family(w, METRIC_GPU_GSP_RATE_LIMITED);
	for (size_t i = 0; i < s->faults.gpu_count; i++)
		SAMPLE(w, s->faults.gpus[i].rate_limited ? "1" : "0",
		       { "gpu", s->faults.gpus[i].gpu });
	write_family(w, METRIC_GPU_INFO);
	for (size_t i = 0; i < s->faults.gpu_count; i++)
		if (*s->faults.gpus[i].uuid || *s->faults.gpus[i].serial)
			SAMPLE(w, "1", { "gpu", s->faults.gpus[i].gpu },
			       { "uuid", s->faults.gpus[i].uuid },
			       { "serial", s->faults.gpus[i].serial });
	write_family(w, METRIC_KERNEL_EVENTS);
	for (e = s->faults.kernel_events; e < end; e++)
		if (!e->gpu_driver)
			SAMPLE(w, format_integer(number, e->count), { "kind", e->kind },
			       { "device", e->device });
	write_family(w, METRIC_KERNEL_LOG_LOST_RECORDS);
	if (s->faults.gpu_watched)
		write_sample(w, "_total", NULL, 0, format_integer(number, s->faults.log_lost));
}

static void write_health(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	write_family(w, METRIC_NODE_HEALTH);
	for (size_t i = 0; i < s->self.health_count; i++)
		SAMPLE(w, format_integer(number, (uint64_t)s->self.health[i].level),
		       { "check", s->self.health[i].check });
	write_family(w, METRIC_NODE_FINDING_INFO);
	for (const struct finding_state *f = s->self.findings;
	     f < s->self.findings + s->self.finding_count; f++)
		SAMPLE(w, "1", { "check", f->check }, { "device", f->device }, { "code", f->code });
}

static void write_self(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	write_family(w, METRIC_HOOK_ATTACHED);
	for (size_t i = 0; i < s->self.hook_count; i++)
		SAMPLE(w, s->self.hooks[i].attached ? "1" : "0", { "hook", s->self.hooks[i].name });
	write_family(w, METRIC_RPC_SOURCE);
	for (int i = RPC_SOURCE_NONE + 1; i < RPC_SOURCES; i++)
		SAMPLE(w, (int)s->calls.source == i ? "1" : "0", { "source", rpc_source_names[i] });
	write_family(w, METRIC_EVENTS_DROPPED);
	for (size_t i = 0; i < s->self.drop_count; i++)
		SAMPLE(w, format_integer(number, s->self.drops[i].count),
		       { "reason", s->self.drops[i].reason });
	write_family(w, METRIC_FOLDED_ENTRIES);
	write_sample(w, "", NULL, 0, format_integer(number, s->calls.folded_entries));
	write_family(w, METRIC_EXPORT_SECONDS);
	snprintf(number, sizeof(number), "%.6f", s->self.export_seconds);
	write_sample(w, "", NULL, 0, number);
	write_family(w, METRIC_EXPORT_ERRORS);
	write_sample(w, "_total", NULL, 0, format_integer(number, s->self.export_errors));
	write_family(w, METRIC_MEMORY_BYTES);
	SAMPLE(w, format_integer(number, s->self.resident_bytes), { "kind", "resident" });
	SAMPLE(w, format_integer(number, s->self.map_bytes), { "kind", "maps" });
	SAMPLE(w, format_integer(number, s->self.trace_bytes), { "kind", "trace" });
	SAMPLE(w, format_integer(number, s->self.program_bytes), { "kind", "programs" });
	write_family(w, METRIC_PROGRAM_RUN_SECONDS);
	for (size_t i = 0; i < s->self.program_count; i++)
		SAMPLE(w, format_nanoseconds(number, s->self.programs[i].ns),
		       { "program", s->self.programs[i].name });
	write_family(w, METRIC_PROGRAM_RUNS);
	for (size_t i = 0; i < s->self.program_count; i++)
		SAMPLE(w, format_integer(number, s->self.programs[i].runs),
		       { "program", s->self.programs[i].name });
	write_family(w, METRIC_BUILD_INFO);
	SAMPLE(w, "1", { "version", XIDSCOPE_VERSION });
}

void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format,
		       enum metric_detail detail)
{
	struct metrics_writer w = { .out = out,
				    .format = format,
				    .detail = detail,
				    .bounds_known =
					    snapshot_knows(&s->calls, RPC_FACT_DISTRIBUTION) ?
						    UINT64_MAX :
						    BOUND_INFINITY };

	call_metrics_write(&w, s);
	write_transports(&w, s);
	write_servers(&w, s);
	write_bounds(&w, s);
	write_mounts(&w, s);
	write_faults(&w, s);
	write_kernel_events(&w, s);
	write_health(&w, s);
	write_self(&w, s);
	if (format == FORMAT_OPENMETRICS)
		fputs("# EOF\n", out);
}
