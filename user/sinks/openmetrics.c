// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sink that writes a snapshot as a metrics file: which figures go into which family. */
#include "sinks/metrics.h"

#include "version.h"

/* ---- calls: distributions and sums by server and kind, calls and seconds by op; with more detail all of it by op ---- */

/* Writes a histogram of times, with the labels. */
#define TIMES(w, h, ...)                                                                  \
	HISTOGRAM_SAMPLE(w, (h)->bucket, TIME_OVERFLOW, TIME_SHIFT, SECONDS((h)->sum_ns), \
			 __VA_ARGS__)

/* Families that calls have by kind and by op. */
struct call_families {
	const char *label;
	enum metric_id duration, sent, received;
};

static const struct call_families by_kind = { "kind", METRIC_RPC_SECONDS, METRIC_RPC_SENT_BYTES,
					      METRIC_RPC_RECEIVED_BYTES };
static const struct call_families by_op = { "op", METRIC_RPC_OP_DURATION_SECONDS,
					    METRIC_RPC_OP_SENT_BYTES,
					    METRIC_RPC_OP_RECEIVED_BYTES };

/* Bytes that are 0 are unknown: a call always has bytes. */
static void write_calls(struct metrics_writer *w, const struct calls *c,
			const struct call_families *f)
{
	write_family(w, f->duration);
	ARRAY_EACH(o, c->ops, c->op_count)
		TIMES(w, &o->total, { "server", o->server }, { f->label, o->op });
	EACH_OF(f->sent, c->ops, c->op_count, e->sent_bytes, INTEGER(e->sent_bytes),
		{ "server", e->server }, { f->label, e->op });
	EACH_OF(f->received, c->ops, c->op_count, e->received_bytes, INTEGER(e->received_bytes),
		{ "server", e->server }, { f->label, e->op });
}

/* Each known phase @p of each op @o. */
#define PHASES_EACH(o, p, c)                         \
	ARRAY_EACH(o, (c)->ops, (c)->op_count)       \
		for (int p = 0; p < RPC_PHASES; p++) \
			if (snapshot_knows(c, RPC_FACT_PHASE + p))

/* The file has three kinds: ops that found no room in the kernel's table are metadata there, which is all but READ and WRITE. */
#define KINDS RPC_KIND_OTHER

/* Adds the ops of each server and kind to one that has the kind's name; without kinds, those of each server to one. */
static struct calls sum_ops(const struct calls *c, bool kinds)
{
	struct calls sums = { .unknown = c->unknown };

	ARRAY_EACH(o, c->ops, c->op_count) {
		enum rpc_kind of = rpc_kind_of(o->op), kind = of < KINDS ? of : RPC_KIND_METADATA;
		struct rpc_op *to =
			snapshot_op(&sums, o->server, kinds ? rpc_kind_names[kind] : "");

		time_histogram_add(&to->total, &o->total);
		for (int p = 0; p < RPC_PHASES; p++)
			to->phase[p].sum_ns += o->phase[p].sum_ns;
		to->sent_bytes += o->sent_bytes;
		to->received_bytes += o->received_bytes;
	}
	return sums;
}

static void write_call_sums(struct metrics_writer *w, const struct calls *c)
{
	struct calls kinds = sum_ops(c, true), servers = sum_ops(&kinds, false);

	write_calls(w, &kinds, &by_kind);
	write_family(w, METRIC_RPC_PHASE_SECONDS);
	PHASES_EACH(o, p, &servers)
		SAMPLE(w, SECONDS(o->phase[p].sum_ns), { "server", o->server },
		       { "phase", rpc_phase_names[p] });
	calls_free(&kinds);
	calls_free(&servers);
}

static void write_ops(struct metrics_writer *w, const struct calls *c)
{
	EACH(RPC_OP_CALLS, c->ops, c->op_count, true, INTEGER(time_histogram_count(&e->total)),
	     { "server", e->server }, { "op", e->op });
	EACH(RPC_OP_SECONDS, c->ops, c->op_count, true, SECONDS(e->total.sum_ns),
	     { "server", e->server }, { "op", e->op });
	write_calls(w, c, &by_op);
	write_family(w, METRIC_RPC_OP_PHASE_SECONDS);
	PHASES_EACH(o, p, c)
		SAMPLE(w, SECONDS(o->phase[p].sum_ns), { "server", o->server }, { "op", o->op },
		       { "phase", rpc_phase_names[p] });
	write_family(w, METRIC_RPC_OP_PHASE_DURATION_SECONDS);
	PHASES_EACH(o, p, c)
		TIMES(w, &o->phase[p], { "server", o->server }, { "op", o->op },
		      { "phase", rpc_phase_names[p] });
}

/* Writes a family with the numbers @value of each entry @e, for each @n below @count_of, that are not 0. */
#define SUMS(NAME, list, count, label, names, count_of, value, format, ...)   \
	do {                                                                  \
		write_family(w, METRIC_NFS_##NAME);                           \
		ARRAY_EACH(e, list, count)                                    \
			for (int n = 0; n < (count_of); n++)                  \
				if (value)                                    \
					SAMPLE(w, format(value), __VA_ARGS__, \
					       { label, (names)[n] });        \
	} while (0)
#define MOUNT_SUMS(NAME, ...)                                                \
	SUMS(MOUNT_##NAME, c->mount_calls, c->mount_call_count, __VA_ARGS__, \
	     { "server", e->server }, { "export", e->export }, { "mountpoint", e->mountpoint })
#define OWNER_SUMS(NAME, ...)                                                \
	SUMS(OWNER_##NAME, c->owner_calls, c->owner_call_count, __VA_ARGS__, \
	     { "server", e->server }, { "owner", e->owner })
#define BY_KIND(field)                 \
	"kind", rpc_kind_names, KINDS, \
		e->sums.field[n] + (n == RPC_KIND_METADATA ? e->sums.field[RPC_KIND_OTHER] : 0)

static void write_mount_calls(struct metrics_writer *w, const struct calls *c)
{
	MOUNT_SUMS(CALLS, BY_KIND(calls), INTEGER);
	MOUNT_SUMS(SECONDS, BY_KIND(total_ns), SECONDS);
	MOUNT_SUMS(PHASE_SECONDS, "phase", rpc_phase_names, RPC_PHASES, e->sums.phase_ns[n],
		   SECONDS);
	MOUNT_SUMS(SENT_BYTES, BY_KIND(sent_bytes), INTEGER);
	MOUNT_SUMS(RECEIVED_BYTES, BY_KIND(received_bytes), INTEGER);
	EACH(NFS_MOUNT_ERRORS, c->mount_calls, c->mount_call_count, rpc_kinds_sum(e->sums.errors),
	     INTEGER(rpc_kinds_sum(e->sums.errors)), { "server", e->server },
	     { "export", e->export }, { "mountpoint", e->mountpoint });
}

static void write_owner_calls(struct metrics_writer *w, const struct calls *c)
{
	OWNER_SUMS(CALLS, BY_KIND(calls), INTEGER);
	OWNER_SUMS(SECONDS, BY_KIND(total_ns), SECONDS);
	OWNER_SUMS(WAIT_SECONDS, BY_KIND(wait_ns), SECONDS);
	OWNER_SUMS(SENT_BYTES, BY_KIND(sent_bytes), INTEGER);
	OWNER_SUMS(RECEIVED_BYTES, BY_KIND(received_bytes), INTEGER);
	EACH(NFS_OWNER_OLDEST_CALL_SECONDS, c->owner_calls, c->owner_call_count, e->oldest_ns,
	     SECONDS(e->oldest_ns), { "server", e->server }, { "owner", e->owner });
}
#undef BY_KIND

static void write_call_families(struct metrics_writer *w, const struct snapshot *s)
{
	write_call_sums(w, &s->calls);
	write_ops(w, &s->calls);
	EACH(RPC_ERRORS, s->calls.errors, s->calls.error_count, true, INTEGER(e->count),
	     { "server", e->server }, { "op", e->op }, { "status", e->status });
	if (snapshot_knows(&s->calls, RPC_FACT_MOUNTS))
		write_mount_calls(w, &s->calls);
	if (snapshot_knows(&s->calls, RPC_FACT_OWNERS))
		write_owner_calls(w, &s->calls);
}

/* ---- transports, servers, mounts ---- */

/* Adds a transport to the one without a name that stands for all of its server. */
static void add_transport(struct calls *sums, const struct calls *c,
			  const struct rpc_transport_state *t)
{
	const struct rpc_server_state *v = CALLS_FIND(x, c, server, t->server, true);
	struct rpc_transport_state *to = snapshot_transport(sums, t->server, "");

	if (v)
		memcpy(to->saturated_ns, v->saturated_ns, sizeof(to->saturated_ns));
#define ADD(name, ...) to->name += t->name;
	TRANSPORT_COUNTS(ADD)
	if (!t->alive)
		return;
	to->alive = true;
	to->slots_max += t->slots_max;
	to->slots_allocated += t->slots_allocated;
	to->slots_in_flight += t->slots_in_flight;
}

static void write_slots(struct metrics_writer *w, const struct calls *c,
			const struct rpc_transport_state *t)
{
	const struct {
		const char *name;
		enum rpc_fact fact;
		uint32_t value;
	} kinds[] = {
		{ "max", RPC_FACT_SLOTS_MAX, t->slots_max },
		{ "allocated", RPC_FACT_SLOTS_ALLOCATED, t->slots_allocated },
		{ "in_flight", RPC_FACT_SLOTS_IN_FLIGHT, t->slots_in_flight },
	};
	for (size_t k = 0; t->alive && k < COUNT(kinds); k++)
		if (snapshot_knows(c, kinds[k].fact))
			SAMPLE(w, INTEGER(kinds[k].value), { "server", t->server },
			       { "transport", t->name }, { "kind", kinds[k].name });
}

static void write_transports(struct metrics_writer *w, const struct calls *c)
{
#define COUNTER(NAME, FACT, field, format)                                                      \
	EACH(RPC_##NAME, c->transports, c->transport_count, snapshot_knows(c, RPC_FACT_##FACT), \
	     format(e->field), { "server", e->server }, { "transport", e->name })
#define COUNT_OF(name, NAME, ...) COUNTER(NAME, NAME, name, INTEGER);
	TRANSPORT_COUNTS(COUNT_OF)
	COUNTER(REPLIES, REPLIES, replies, INTEGER);
	COUNTER(RTT_SECONDS, REPLIES, rtt_ns, SECONDS);
#undef COUNTER
	EACH(RPC_TRANSPORT_INFO, c->transports, c->transport_count, *e->remote.address, "1",
	     { "server", e->server }, { "transport", e->name }, { "protocol", e->protocol },
	     { "local", ENDPOINT(&e->local) }, { "remote", ENDPOINT(&e->remote) });
	write_family(w, METRIC_RPC_SATURATED_SECONDS);
	ARRAY_EACH(t, c->transports, c->transport_count) {
		/* All transports of a server share its session, whose waits count for the first of them. */
		bool first = CALLS_FIND(x, c, transport, t->server, true) == t;

		for (int l = 0; l < RPC_LIMITS; l++)
			if (snapshot_knows(c, RPC_FACT_SATURATED + l) &&
			    (l != RPC_LIMIT_SESSION || t->saturated_ns[l] || first))
				SAMPLE(w, SECONDS(t->saturated_ns[l]), { "server", t->server },
				       { "transport", t->name }, { "limit", rpc_limit_names[l] });
	}
	write_family(w, METRIC_RPC_SLOTS);
	ARRAY_EACH(t, c->transports, c->transport_count)
		write_slots(w, c, t);
}

static void write_transport_sums(struct metrics_writer *w, const struct calls *c)
{
	struct calls sums = { .unknown = c->unknown };

	ARRAY_EACH(t, c->transports, c->transport_count)
		add_transport(&sums, c, t);
	write_transports(w, &sums);
	calls_free(&sums);
}

static void write_servers(struct metrics_writer *w, const struct calls *c)
{
#define EACH_SERVER(NAME, known, value) \
	EACH(NAME, c->servers, c->server_count, known, value, { "server", e->server })
	EACH_SERVER(RPC_SLOWEST_RTT_SECONDS, e->slowest_rtt_ns, SECONDS(e->slowest_rtt_ns));
	EACH_SERVER(RPC_SESSION_DRAINING_SECONDS, snapshot_knows(c, RPC_FACT_DRAINING),
		    SECONDS(e->draining_ns));
#define NOT_SHOWN(name)
#define SHOWN(name, FAMILY, format, known) EACH_SERVER(FAMILY, e->known, format(e->name));
	RPC_SERVER_COUNTS(NOT_SHOWN, SHOWN)
#undef EACH_SERVER
	write_family(w, METRIC_RPC_QUEUE_DEPTH);
	ARRAY_EACH(v, c->servers, c->server_count)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (snapshot_knows(c, RPC_FACT_DEPTH + q))
				HISTOGRAM_SAMPLE(w, v->depth[q].bucket, DEPTH_OVERFLOW, DEPTH_SHIFT,
						 INTEGER(v->depth[q].sum), { "server", v->server },
						 { "queue", rpc_queue_names[q] });
	write_family(w, METRIC_RPC_QUEUE_DEPTH_MAX);
	ARRAY_EACH(v, c->servers, c->server_count)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (snapshot_knows(c, RPC_FACT_DEPTH_MAX + q))
				SAMPLE(w, INTEGER(v->depth_max[q]), { "server", v->server },
				       { "queue", rpc_queue_names[q] });
	write_family(w, METRIC_RPC_OLDEST_WAITER_SECONDS);
	ARRAY_EACH(v, c->servers, c->server_count)
		for (int q = 0; q < RPC_QUEUES; q++)
			if (q != RPC_QUEUE_XMIT && snapshot_knows(c, RPC_FACT_OLDEST + q))
				SAMPLE(w, SECONDS(v->oldest_ns[q]), { "server", v->server },
				       { "queue", rpc_queue_names[q] });
	EACH(RPC_OLDEST_CALL_SECONDS, c->servers, c->server_count, *e->oldest_op,
	     SECONDS(e->oldest_ns[RPC_QUEUE_PENDING]), { "server", e->server },
	     { "op", e->oldest_op });
}

/* Whether @m lies below a later mount of the same export. They differ in the version, which readahead has no label of. */
static bool is_covered(const struct calls *c, const struct nfs_mount *m)
{
	return ARRAY_FIND(x, m + 1, c->mounts + c->mount_count - m - 1,
			  !strcmp(x->mountpoint, m->mountpoint) && !strcmp(x->export, m->export) &&
				  !strcmp(x->server, m->server));
}

/* How NFS is mounted, and by which modules. */
static void write_mounts(struct metrics_writer *w, const struct calls *c)
{
	write_family(w, METRIC_NFS_MOUNT_INFO);
	ARRAY_EACH(m, c->mounts, c->mount_count) {
		struct metric_label labels[4 + NFS_OPTIONS] = { { "server", m->server },
								{ "export", m->export },
								{ "mountpoint", m->mountpoint },
								{ "version", m->version } };

		for (int o = 0; o < NFS_OPTIONS; o++)
			labels[4 + o] = (struct metric_label){ nfs_option_names[o], m->options[o] };
		write_sample(w, "", labels, COUNT(labels), "1");
	}
	EACH(NFS_MOUNT_READAHEAD_BYTES, c->mounts, c->mount_count,
	     e->readahead_known && !is_covered(c, e), INTEGER(e->readahead_bytes),
	     { "server", e->server }, { "export", e->export }, { "mountpoint", e->mountpoint });
	EACH(SUNRPC_INFO, c->modules, c->module_count, true, "1", { "module", e->name },
	     { "build", e->build }, { "origin", e->origin });
}

static void write_limits(struct metrics_writer *w, const struct calls *c)
{
	EACH(RPC_LIMIT, c->servers, c->server_count, e->bound_by, "1", { "server", e->server },
	     { "limit", e->bound_by });
	write_family(w, METRIC_CHECKPOINT_EPISODE_SECONDS);
	ARRAY_EACH(e, c->episodes, c->episode_count)
		HISTOGRAM_SAMPLE(w, e->seconds.bucket, TIME_OVERFLOW, TIME_SHIFT,
				 SECONDS(e->seconds.sum_ns), { "server", e->server },
				 { "kind", e->kind });
	write_family(w, METRIC_CHECKPOINT_EPISODE_BYTES);
	ARRAY_EACH(e, c->episodes, c->episode_count)
		HISTOGRAM_SAMPLE(w, e->bytes.bucket, DEPTH_OVERFLOW, EPISODE_BYTES_SHIFT,
				 INTEGER(e->bytes.sum), { "server", e->server },
				 { "kind", e->kind });
	EACH(RPC_SERVER_INFO, c->storages, c->storage_count, true, "1", { "server", e->server },
	     { "storage", e->storage });
	write_mounts(w, c);
	EACH(NFS_STUCK_TASKS, c->stuck, c->stuck_count, true, INTEGER(e->tasks),
	     { "mountpoint", e->mountpoint }, { "state", e->rpc ? "rpc" : "no_rpc" });
	EACH(NFS_OLDEST_STUCK_TASK_SECONDS, c->stuck, c->stuck_count, true, SECONDS(e->oldest_ns),
	     { "mountpoint", e->mountpoint }, { "state", e->rpc ? "rpc" : "no_rpc" });
}

/* A family with a sample for each group of faults of one device and code: its first fault, if its time is known. */
#define EACH_GROUP(NAME, of_nvswitch, of, by, value)                                   \
	EACH(NAME, counts->faults, counts->fault_count,                                \
	     e->nvswitch == (of_nvswitch) && GROUP.last > 0, value, { of, e->device }, \
	     { by, INTEGER(e->code) })
#define GROUP groups[e - counts->faults]

static void write_faults(struct metrics_writer *w, const struct snapshot *s)
{
	const struct fault_counts *counts = &s->faults;
	/* Summed once, because each sum looks at all faults, some 4,000 at most (faults/faults.h). */
	struct fault_group groups[counts->fault_count + 1];

	for (size_t i = 0; i < counts->fault_count; i++)
		if (!fault_group_sum(s, &counts->faults[i], &groups[i]))
			groups[i].last = 0;
	EACH(GPU_XID_ERRORS, counts->faults, counts->fault_count, !e->nvswitch, INTEGER(e->count),
	     { "gpu", e->device }, { "xid", INTEGER(e->code) }, { "severity", e->severity },
	     { "action", e->action });
	EACH_GROUP(GPU_XID_RECENT_INCIDENTS, false, "gpu", "xid", INTEGER(GROUP.recent));
	EACH_GROUP(GPU_XID_LAST_TIMESTAMP_SECONDS, false, "gpu", "xid", TIMESTAMP(GROUP.last));
	EACH(GPU_XID_UNVERIFIED, s->faults.unverified, s->faults.unverified_count, true,
	     INTEGER(e->count), { "gpu", e->gpu }, { "xid", INTEGER(e->code) });
	EACH(NVSWITCH_SXID_ERRORS, counts->faults, counts->fault_count, e->nvswitch,
	     INTEGER(e->count), { "device", e->device }, { "sxid", INTEGER(e->code) },
	     { "severity", e->severity });
	EACH_GROUP(NVSWITCH_SXID_LAST_TIMESTAMP_SECONDS, true, "device", "sxid",
		   TIMESTAMP(GROUP.last));
	write_family(w, METRIC_GPU_FAULT_AUTHORITY);
	for (int i = 0; i < AUTHORITIES && s->faults.gpu_watched; i++)
		SAMPLE(w, (int)s->faults.authority == i ? "1" : "0",
		       { "authority", fault_authority_names[i] });
}
#undef GROUP
#undef EACH_GROUP

static void write_kernel_events(struct metrics_writer *w, const struct fault_counts *c)
{
	EACH(GPU_DRIVER_ERRORS, c->kernel_events, c->kernel_event_count, e->gpu_driver,
	     INTEGER(e->count), { "gpu", e->device }, { "kind", e->kind });
	EACH(GPU_RECOVERED_TIMESTAMP_SECONDS, c->recoveries, c->recovery_count, true,
	     TIMESTAMP(e->time), { "gpu", e->gpu }, { "evidence", e->evidence });
	EACH(GPU_INFO, c->gpus, c->gpu_count, *e->uuid || *e->serial, "1", { "gpu", e->gpu },
	     { "uuid", e->uuid }, { "serial", e->serial });
	EACH(KERNEL_EVENTS, c->kernel_events, c->kernel_event_count, !e->gpu_driver,
	     INTEGER(e->count), { "kind", e->kind }, { "device", e->device });
	write_family(w, METRIC_KERNEL_LOG_LOST_RECORDS);
	if (c->gpu_watched)
		write_sample(w, "_total", NULL, 0, INTEGER(c->log_lost));
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	return ARRAY_FIND(n, names, count, !strcmp(*n, name));
}

/* At --detail node the rules, hooks and reasons that are well have one sample together. An alert looks for each of these hooks
 * in the past, and at increases of all other reasons, which must be seen at 0. */
static void write_states(struct metrics_writer *w, const struct self *s)
{
	static const char *const hooks[] = { "kernel_log", "printk_console", "trace_events" };
	static const char *const harmless[] = { "printk_others", "rpc_owner_gone", "slow_call" };
	bool all = w->detail > DETAIL_NODE;
	EACH(NODE_HEALTH, s->health, s->health_count, all || e->level, INTEGER((uint64_t)e->level),
	     { "check", e->check });
	if (!all)
		SAMPLE(w, "0", { "check", LABEL_OTHER });
	EACH(HOOK_ATTACHED, s->hooks, s->hook_count,
	     all || !e->attached || is_one_of(e->name, hooks, COUNT(hooks)),
	     e->attached ? "1" : "0", { "hook", e->name });
	if (!all)
		SAMPLE(w, "1", { "hook", LABEL_OTHER });
	EACH(EVENTS_DROPPED, s->drops, s->drop_count,
	     all || e->count || !is_one_of(e->reason, harmless, COUNT(harmless)), INTEGER(e->count),
	     { "reason", e->reason });
}

static void write_self(struct metrics_writer *w, const struct snapshot *s)
{
	write_states(w, &s->self);
	EACH(NODE_FINDING_INFO, s->self.findings, s->self.finding_count, true, "1",
	     { "check", e->check }, { "device", e->device }, { "code", e->code });
	write_family(w, METRIC_RPC_SOURCE);
	for (int i = RPC_SOURCE_NONE + 1; i < RPC_SOURCES; i++)
		SAMPLE(w, (int)s->calls.source == i ? "1" : "0", { "source", rpc_source_names[i] });
	write_family(w, METRIC_LEFT_OUT_ENTRIES);
	write_sample(w, "", NULL, 0, INTEGER(s->calls.left_out_entries));
	write_family(w, METRIC_EXPORT_SECONDS);
	write_sample(w, "", NULL, 0, TIMESTAMP(s->self.export_seconds));
	write_family(w, METRIC_EXPORT_ERRORS);
	write_sample(w, "_total", NULL, 0, INTEGER(s->self.export_errors));
	write_family(w, METRIC_MEMORY_BYTES);
	SAMPLE(w, INTEGER(s->self.resident_bytes), { "kind", "resident" });
	SAMPLE(w, INTEGER(s->self.map_bytes), { "kind", "maps" });
	SAMPLE(w, INTEGER(s->self.trace_bytes), { "kind", "trace" });
	SAMPLE(w, INTEGER(s->self.program_bytes), { "kind", "programs" });
	if (s->self.other_bytes)
		SAMPLE(w, INTEGER(s->self.other_bytes), { "kind", "other" });
	EACH(PROGRAM_RUN_SECONDS, s->self.programs, s->self.program_count, true, SECONDS(e->ns),
	     { "program", e->name });
	EACH(PROGRAM_RUNS, s->self.programs, s->self.program_count, true, INTEGER(e->runs),
	     { "program", e->name });
	write_family(w, METRIC_BUILD_INFO);
	SAMPLE(w, "1", { "version", XIDSCOPE_VERSION });
}

void openmetrics_write(FILE *out, const struct snapshot *s, enum metrics_format format,
		       enum metric_detail detail)
{
	struct metrics_writer w; /* its line, of many kB, needs no zeros */

	w.out = out;
	w.format = format;
	w.detail = detail;
	w.bounds_known =
		snapshot_knows(&s->calls, RPC_FACT_DISTRIBUTION) ? UINT64_MAX : METRIC_INFINITY;
	write_call_families(&w, s);
	if (detail == DETAIL_NODE)
		write_transport_sums(&w, &s->calls);
	else
		write_transports(&w, &s->calls);
	write_servers(&w, &s->calls);
	write_limits(&w, &s->calls);
	write_faults(&w, s);
	write_kernel_events(&w, &s->faults);
	write_self(&w, s);
	if (format == FORMAT_OPENMETRICS)
		fputs("# EOF\n", out);
}
