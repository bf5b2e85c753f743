// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The families about calls: distributions by server, sums by op, and with more detail both by op. */
#include "sinks/metrics_writer.h"

/* Writes a histogram of times, with the labels. */
#define TIMES(w, number, h, ...)                                    \
	HISTOGRAM_SAMPLE(w, (h)->bucket, TIME_OVERFLOW, TIME_SHIFT, \
			 format_nanoseconds(number, (h)->sum_ns), __VA_ARGS__)

/* The ops of a server: @first and those behind it. */
static void write_kinds(struct metrics_writer *w, const struct snapshot *s,
			const struct rpc_op *first)
{
	struct time_histogram sums[RPC_KINDS] = {};
	bool met[RPC_KINDS] = {};
	char number[NUMBER_SIZE];

	for (const struct rpc_op *o = first; o < s->calls.ops + s->calls.op_count; o++) {
		enum rpc_kind kind = rpc_kind_of(o->op);

		if (strcmp(o->server, first->server) != 0)
			continue;
		met[kind] = true;
		time_histogram_add(&sums[kind], &o->total);
	}
	for (int k = 0; k < RPC_KINDS; k++)
		if (met[k])
			TIMES(w, number, &sums[k], { "server", first->server },
			      { "kind", rpc_kind_names[k] });
}

static void write_phases(struct metrics_writer *w, const struct snapshot *s,
			 const struct rpc_op *first)
{
	struct time_histogram sums[RPC_PHASES] = {};
	char number[NUMBER_SIZE];

	for (const struct rpc_op *o = first; o < s->calls.ops + s->calls.op_count; o++)
		for (int p = 0; p < RPC_PHASES && !strcmp(o->server, first->server); p++)
			time_histogram_add(&sums[p], &o->phase[p]);
	for (int p = 0; p < RPC_PHASES; p++)
		if (snapshot_knows(&s->calls, RPC_FACT_PHASE + p))
			TIMES(w, number, &sums[p], { "server", first->server },
			      { "phase", rpc_phase_names[p] });
}

static bool is_first_of_server(const struct snapshot *s, const struct rpc_op *o)
{
	const struct rpc_op *first = s->calls.ops;

	while (strcmp(first->server, o->server) != 0)
		first++;
	return first == o;
}

static void write_servers(struct metrics_writer *w, const struct snapshot *s)
{
	write_family(w, METRIC_RPC_SECONDS);
	ARRAY_EACH(o, s->calls.ops, s->calls.op_count)
		if (is_first_of_server(s, o))
			write_kinds(w, s, o);
	write_family(w, METRIC_RPC_PHASE_SECONDS);
	ARRAY_EACH(o, s->calls.ops, s->calls.op_count)
		if (is_first_of_server(s, o))
			write_phases(w, s, o);
}

static void write_op_sums(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	EACH(RPC_OP_CALLS, s->calls.ops, s->calls.op_count, true,
	     format_integer(number, time_histogram_count(&e->total)), { "server", e->server },
	     { "op", e->op });
	EACH(RPC_OP_SECONDS, s->calls.ops, s->calls.op_count, true,
	     format_nanoseconds(number, e->total.sum_ns), { "server", e->server }, { "op", e->op });
	write_family(w, METRIC_RPC_OP_PHASE_SECONDS);
	ARRAY_EACH(o, s->calls.ops, s->calls.op_count)
		for (int p = 0; p < RPC_PHASES; p++)
			if (snapshot_knows(&s->calls, RPC_FACT_PHASE + p))
				SAMPLE(w, format_nanoseconds(number, o->phase[p].sum_ns),
				       { "server", o->server }, { "op", o->op },
				       { "phase", rpc_phase_names[p] });
}

static void write_op_histograms(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	write_family(w, METRIC_RPC_OP_DURATION_SECONDS);
	ARRAY_EACH(o, s->calls.ops, s->calls.op_count)
		TIMES(w, number, &o->total, { "server", o->server }, { "op", o->op });
	write_family(w, METRIC_RPC_OP_PHASE_DURATION_SECONDS);
	ARRAY_EACH(o, s->calls.ops, s->calls.op_count)
		for (int p = 0; p < RPC_PHASES; p++)
			if (snapshot_knows(&s->calls, RPC_FACT_PHASE + p))
				TIMES(w, number, &o->phase[p], { "server", o->server },
				      { "op", o->op }, { "phase", rpc_phase_names[p] });
}

/* The source tracepoints takes bytes from mountstats, which does not show each mount. A call of an op always has bytes: 0 means
 * unknown. */
static bool knows_bytes(const struct snapshot *s, const struct rpc_op *o, enum rpc_fact fact)
{
	return snapshot_knows(&s->calls, fact) &&
	       (o->sent_bytes || s->calls.source != RPC_SOURCE_TRACEPOINTS);
}

/* A family whose label has the values @names, and its sums. */
struct sums_family {
	enum metric_id metric;
	size_t offset; /* in struct rpc_sums */
	const char *label; /* "kind", "phase" */
	const char *const *names;
	int count;
	const char *(*format)(char *number, uint64_t value);
};

#define BY_KIND(NAME, field, format)                                                         \
	{                                                                                    \
		METRIC_NFS_##NAME, offsetof(struct rpc_sums, field), "kind", rpc_kind_names, \
			RPC_KINDS, format                                                    \
	}

static const struct sums_family mount_families[] = {
	BY_KIND(MOUNT_CALLS, calls, format_integer),
	BY_KIND(MOUNT_SECONDS, total_ns, format_nanoseconds),
	{ METRIC_NFS_MOUNT_PHASE_SECONDS, offsetof(struct rpc_sums, phase_ns), "phase",
	  rpc_phase_names, RPC_PHASES, format_nanoseconds },
	BY_KIND(MOUNT_SENT_BYTES, sent_bytes, format_integer),
	BY_KIND(MOUNT_RECEIVED_BYTES, received_bytes, format_integer),
	BY_KIND(MOUNT_ERRORS, errors, format_integer),
};

static const struct sums_family owner_families[] = {
	BY_KIND(OWNER_CALLS, calls, format_integer),
	BY_KIND(OWNER_SECONDS, total_ns, format_nanoseconds),
	BY_KIND(OWNER_WAIT_SECONDS, wait_ns, format_nanoseconds),
	BY_KIND(OWNER_SENT_BYTES, sent_bytes, format_integer),
	BY_KIND(OWNER_RECEIVED_BYTES, received_bytes, format_integer),
};

/* Writes the values that are not 0. The last of @labels is the family's own. */
static void write_sums(struct metrics_writer *w, const struct sums_family *f,
		       struct metric_label *labels, size_t count, const struct rpc_sums *sums)
{
	const __u64 *values = (const __u64 *)((const char *)sums + f->offset);
	char number[NUMBER_SIZE];

	for (int n = 0; n < f->count; n++) {
		labels[count - 1] = (struct metric_label){ f->label, f->names[n] };
		if (values[n])
			write_sample(w, "_total", labels, count, f->format(number, values[n]));
	}
}

/* Writes @families for each entry @e of the list. The entry's labels come before the family's own. */
#define SUMS(w, families, list, count, ...)                                 \
	ARRAY_EACH(f, families, COUNT(families)) {                          \
		write_family(w, f->metric);                                 \
		ARRAY_EACH(e, list, count) {                                \
			struct metric_label labels[] = { __VA_ARGS__, {} }; \
			write_sums(w, f, labels, COUNT(labels), &e->sums);  \
		}                                                           \
	}

static void write_owners(struct metrics_writer *w, const struct calls *c)
{
	char number[NUMBER_SIZE];

	SUMS(w, owner_families, c->owner_calls, c->owner_calls_count, { "server", e->server },
	     { "owner", e->owner })
	EACH(NFS_OWNER_OLDEST_CALL_SECONDS, c->owner_calls, c->owner_calls_count, e->oldest_ns,
	     format_nanoseconds(number, e->oldest_ns), { "server", e->server },
	     { "owner", e->owner });
}

void call_metrics_write(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	write_servers(w, s);
	write_op_sums(w, s);
	write_op_histograms(w, s);
	EACH(RPC_SENT_BYTES, s->calls.ops, s->calls.op_count,
	     knows_bytes(s, e, RPC_FACT_SENT_BYTES), format_integer(number, e->sent_bytes),
	     { "server", e->server }, { "op", e->op });
	EACH(RPC_RECEIVED_BYTES, s->calls.ops, s->calls.op_count,
	     knows_bytes(s, e, RPC_FACT_RECEIVED_BYTES), format_integer(number, e->received_bytes),
	     { "server", e->server }, { "op", e->op });
	EACH(RPC_ERRORS, s->calls.errors, s->calls.error_count, true,
	     format_integer(number, e->count), { "server", e->server }, { "op", e->op },
	     { "status", e->status });
	if (snapshot_knows(&s->calls, RPC_FACT_MOUNTS))
		SUMS(w, mount_families, s->calls.mount_calls, s->calls.mount_calls_count,
		     { "server", e->server }, { "export", e->export },
		     { "mountpoint", e->mountpoint })
	if (snapshot_knows(&s->calls, RPC_FACT_OWNERS))
		write_owners(w, &s->calls);
}
