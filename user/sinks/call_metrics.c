// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The families about calls: distributions and sums by server and kind, calls and seconds by op; with more detail all of it by
 * op. */
#include "sinks/metrics_writer.h"

/* Writes a histogram of times, with the labels. */
#define TIMES(w, number, h, ...)                                    \
	HISTOGRAM_SAMPLE(w, (h)->bucket, TIME_OVERFLOW, TIME_SHIFT, \
			 format_nanoseconds(number, (h)->sum_ns), __VA_ARGS__)

/* The calls of a server, by kind. */
struct calls_by_kind {
	const struct calls *of;
	const char *server;
	bool met[RPC_KINDS];
	struct time_histogram total[RPC_KINDS];
	uint64_t phase_ns[RPC_KINDS][RPC_PHASES];
	uint64_t sent_bytes[RPC_KINDS], received_bytes[RPC_KINDS];
};

/* @first is the server's first op. */
static void sum_kinds(struct calls_by_kind *to, const struct calls *of, const struct rpc_op *first)
{
	*to = (struct calls_by_kind){ .of = of, .server = first->server };
	for (const struct rpc_op *o = first; o < of->ops + of->op_count; o++) {
		enum rpc_kind kind = rpc_kind_of(o->op);

		if (strcmp(o->server, first->server) != 0)
			continue;
		to->met[kind] = true;
		time_histogram_add(&to->total[kind], &o->total);
		for (int p = 0; p < RPC_PHASES; p++)
			to->phase_ns[kind][p] += o->phase[p].sum_ns;
		to->sent_bytes[kind] += o->sent_bytes;
		to->received_bytes[kind] += o->received_bytes;
	}
}

static void write_kinds(struct metrics_writer *w, const struct calls_by_kind *c)
{
	char number[NUMBER_SIZE];

	for (int k = 0; k < RPC_KINDS; k++)
		if (c->met[k])
			TIMES(w, number, &c->total[k], { "server", c->server },
			      { "kind", rpc_kind_names[k] });
}

static void write_phases(struct metrics_writer *w, const struct calls_by_kind *c)
{
	char number[NUMBER_SIZE];

	for (int k = 0; k < RPC_KINDS; k++)
		for (int p = 0; p < RPC_PHASES; p++)
			if (c->met[k] && snapshot_knows(c->of, RPC_FACT_PHASE + p))
				SAMPLE(w, format_nanoseconds(number, c->phase_ns[k][p]),
				       { "server", c->server }, { "kind", rpc_kind_names[k] },
				       { "phase", rpc_phase_names[p] });
}

/* 0 is unknown: a call always has bytes. */
static void write_bytes(struct metrics_writer *w, const char *server, const uint64_t *bytes)
{
	char number[NUMBER_SIZE];

	for (int k = 0; k < RPC_KINDS; k++)
		if (bytes[k])
			SAMPLE(w, format_integer(number, bytes[k]), { "server", server },
			       { "kind", rpc_kind_names[k] });
}

static void write_sent(struct metrics_writer *w, const struct calls_by_kind *c)
{
	write_bytes(w, c->server, c->sent_bytes);
}

static void write_received(struct metrics_writer *w, const struct calls_by_kind *c)
{
	write_bytes(w, c->server, c->received_bytes);
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
	static const struct {
		enum metric_id metric;
		void (*write)(struct metrics_writer *w, const struct calls_by_kind *c);
	} families[] = {
		{ METRIC_RPC_SECONDS, write_kinds },
		{ METRIC_RPC_PHASE_SECONDS, write_phases },
		{ METRIC_RPC_SENT_BYTES, write_sent },
		{ METRIC_RPC_RECEIVED_BYTES, write_received },
	};
	struct calls_by_kind c;

	ARRAY_EACH(f, families, COUNT(families)) {
		write_family(w, f->metric);
		ARRAY_EACH(o, s->calls.ops, s->calls.op_count) {
			if (!is_first_of_server(s, o))
				continue;
			sum_kinds(&c, &s->calls, o);
			f->write(w, &c);
		}
	}
}

static void write_op_sums(struct metrics_writer *w, const struct snapshot *s)
{
	char number[NUMBER_SIZE];

	EACH(RPC_OP_CALLS, s->calls.ops, s->calls.op_count, true,
	     format_integer(number, time_histogram_count(&e->total)), { "server", e->server },
	     { "op", e->op });
	EACH(RPC_OP_SECONDS, s->calls.ops, s->calls.op_count, true,
	     format_nanoseconds(number, e->total.sum_ns), { "server", e->server }, { "op", e->op });
	EACH(RPC_OP_SENT_BYTES, s->calls.ops, s->calls.op_count, e->sent_bytes,
	     format_integer(number, e->sent_bytes), { "server", e->server }, { "op", e->op });
	EACH(RPC_OP_RECEIVED_BYTES, s->calls.ops, s->calls.op_count, e->received_bytes,
	     format_integer(number, e->received_bytes), { "server", e->server }, { "op", e->op });
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
