// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The families about calls: distributions and sums by server and kind, calls and seconds by op; with more detail all of it by
 * op. */
#include "sinks/metrics_writer.h"

/* Writes a histogram of times, with the labels. */
#define TIMES(w, h, ...)                                                                  \
	HISTOGRAM_SAMPLE(w, (h)->bucket, TIME_OVERFLOW, TIME_SHIFT, SECONDS((h)->sum_ns), \
			 __VA_ARGS__)

/* Families that calls have by kind and by op. */
struct call_families {
	const char *label;
	enum metric_id duration, phases, sent, received;
};

static const struct call_families by_kind = { "kind", METRIC_RPC_SECONDS, METRIC_RPC_PHASE_SECONDS,
					      METRIC_RPC_SENT_BYTES, METRIC_RPC_RECEIVED_BYTES };
static const struct call_families by_op = { "op", METRIC_RPC_OP_DURATION_SECONDS,
					    METRIC_RPC_OP_PHASE_SECONDS, METRIC_RPC_OP_SENT_BYTES,
					    METRIC_RPC_OP_RECEIVED_BYTES };

/* Bytes that are 0 are unknown: a call always has bytes. */
static void write_calls(struct metrics_writer *w, const struct calls *c,
			const struct call_families *f)
{
	write_family(w, f->duration);
	ARRAY_EACH(o, c->ops, c->op_count)
		TIMES(w, &o->total, { "server", o->server }, { f->label, o->op });
	write_family(w, f->phases);
	ARRAY_EACH(o, c->ops, c->op_count)
		for (int p = 0; p < RPC_PHASES; p++)
			if (snapshot_knows(c, RPC_FACT_PHASE + p))
				SAMPLE(w, SECONDS(o->phase[p].sum_ns), { "server", o->server },
				       { f->label, o->op }, { "phase", rpc_phase_names[p] });
	EACH_OF(f->sent, c->ops, c->op_count, e->sent_bytes, INTEGER(e->sent_bytes),
		{ "server", e->server }, { f->label, e->op });
	EACH_OF(f->received, c->ops, c->op_count, e->received_bytes, INTEGER(e->received_bytes),
		{ "server", e->server }, { f->label, e->op });
}

/* Adds the ops of each kind to one that has the kind's name. */
static void write_kinds(struct metrics_writer *w, const struct calls *c)
{
	struct calls sums = { .unknown = c->unknown };

	ARRAY_EACH(o, c->ops, c->op_count) {
		struct rpc_op *to =
			snapshot_op(&sums, o->server, rpc_kind_names[rpc_kind_of(o->op)]);

		if (!to)
			break;
		time_histogram_add(&to->total, &o->total);
		for (int p = 0; p < RPC_PHASES; p++)
			to->phase[p].sum_ns += o->phase[p].sum_ns;
		to->sent_bytes += o->sent_bytes;
		to->received_bytes += o->received_bytes;
	}
	write_calls(w, &sums, &by_kind);
	calls_free(&sums);
}

static void write_ops(struct metrics_writer *w, const struct calls *c)
{
	EACH(RPC_OP_CALLS, c->ops, c->op_count, true, INTEGER(time_histogram_count(&e->total)),
	     { "server", e->server }, { "op", e->op });
	EACH(RPC_OP_SECONDS, c->ops, c->op_count, true, SECONDS(e->total.sum_ns),
	     { "server", e->server }, { "op", e->op });
	write_calls(w, c, &by_op);
	write_family(w, METRIC_RPC_OP_PHASE_DURATION_SECONDS);
	ARRAY_EACH(o, c->ops, c->op_count)
		for (int p = 0; p < RPC_PHASES; p++)
			if (snapshot_knows(c, RPC_FACT_PHASE + p))
				TIMES(w, &o->phase[p], { "server", o->server }, { "op", o->op },
				      { "phase", rpc_phase_names[p] });
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
	SUMS(w, owner_families, c->owner_calls, c->owner_calls_count, { "server", e->server },
	     { "owner", e->owner })
	EACH(NFS_OWNER_OLDEST_CALL_SECONDS, c->owner_calls, c->owner_calls_count, e->oldest_ns,
	     SECONDS(e->oldest_ns), { "server", e->server }, { "owner", e->owner });
}

void call_metrics_write(struct metrics_writer *w, const struct snapshot *s)
{
	write_kinds(w, &s->calls);
	write_ops(w, &s->calls);
	EACH(RPC_ERRORS, s->calls.errors, s->calls.error_count, true, INTEGER(e->count),
	     { "server", e->server }, { "op", e->op }, { "status", e->status });
	if (snapshot_knows(&s->calls, RPC_FACT_MOUNTS))
		SUMS(w, mount_families, s->calls.mount_calls, s->calls.mount_calls_count,
		     { "server", e->server }, { "export", e->export },
		     { "mountpoint", e->mountpoint })
	if (snapshot_knows(&s->calls, RPC_FACT_OWNERS))
		write_owners(w, &s->calls);
}
