// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The families about calls: distributions and sums by server and kind, calls and seconds by op; with more detail all of it by op. */
#include "sinks/metrics_writer.h"

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

/* Adds the ops of each server and kind to one that has the kind's name; without kinds, those of each server to one. */
static struct calls sum_ops(const struct calls *c, bool kinds)
{
	struct calls sums = { .unknown = c->unknown };

	ARRAY_EACH(o, c->ops, c->op_count) {
		struct rpc_op *to = snapshot_op(&sums, o->server,
						kinds ? rpc_kind_names[rpc_kind_of(o->op)] : "");

		time_histogram_add(&to->total, &o->total);
		for (int p = 0; p < RPC_PHASES; p++)
			to->phase[p].sum_ns += o->phase[p].sum_ns;
		to->sent_bytes += o->sent_bytes;
		to->received_bytes += o->received_bytes;
	}
	return sums;
}

static void write_servers(struct metrics_writer *w, const struct calls *c)
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

/* Writes a family with the numbers of each entry's sums that are not 0. Their @label has the values @names. */
#define SUMS(NAME, list, count, label, names, field, format, ...)                        \
	do {                                                                             \
		write_family(w, METRIC_NFS_##NAME);                                      \
		ARRAY_EACH(e, list, count)                                               \
			for (size_t n = 0; n < COUNT(e->sums.field); n++)                \
				if (e->sums.field[n])                                    \
					SAMPLE(w, format(e->sums.field[n]), __VA_ARGS__, \
					       { label, names[n] });                     \
	} while (0)
#define MOUNT_SUMS(NAME, ...)                                                \
	SUMS(MOUNT_##NAME, c->mount_calls, c->mount_call_count, __VA_ARGS__, \
	     { "server", e->server }, { "export", e->export }, { "mountpoint", e->mountpoint })
#define OWNER_SUMS(NAME, ...)                                                \
	SUMS(OWNER_##NAME, c->owner_calls, c->owner_call_count, __VA_ARGS__, \
	     { "server", e->server }, { "owner", e->owner })

static void write_mounts(struct metrics_writer *w, const struct calls *c)
{
	MOUNT_SUMS(CALLS, "kind", rpc_kind_names, calls, INTEGER);
	MOUNT_SUMS(SECONDS, "kind", rpc_kind_names, total_ns, SECONDS);
	MOUNT_SUMS(PHASE_SECONDS, "phase", rpc_phase_names, phase_ns, SECONDS);
	MOUNT_SUMS(SENT_BYTES, "kind", rpc_kind_names, sent_bytes, INTEGER);
	MOUNT_SUMS(RECEIVED_BYTES, "kind", rpc_kind_names, received_bytes, INTEGER);
	EACH(NFS_MOUNT_ERRORS, c->mount_calls, c->mount_call_count, rpc_kinds_sum(e->sums.errors),
	     INTEGER(rpc_kinds_sum(e->sums.errors)), { "server", e->server },
	     { "export", e->export }, { "mountpoint", e->mountpoint });
}

static void write_owners(struct metrics_writer *w, const struct calls *c)
{
	OWNER_SUMS(CALLS, "kind", rpc_kind_names, calls, INTEGER);
	OWNER_SUMS(SECONDS, "kind", rpc_kind_names, total_ns, SECONDS);
	OWNER_SUMS(WAIT_SECONDS, "kind", rpc_kind_names, wait_ns, SECONDS);
	OWNER_SUMS(SENT_BYTES, "kind", rpc_kind_names, sent_bytes, INTEGER);
	OWNER_SUMS(RECEIVED_BYTES, "kind", rpc_kind_names, received_bytes, INTEGER);
	EACH(NFS_OWNER_OLDEST_CALL_SECONDS, c->owner_calls, c->owner_call_count, e->oldest_ns,
	     SECONDS(e->oldest_ns), { "server", e->server }, { "owner", e->owner });
}

void call_metrics_write(struct metrics_writer *w, const struct snapshot *s)
{
	write_servers(w, &s->calls);
	write_ops(w, &s->calls);
	EACH(RPC_ERRORS, s->calls.errors, s->calls.error_count, true, INTEGER(e->count),
	     { "server", e->server }, { "op", e->op }, { "status", e->status });
	if (snapshot_knows(&s->calls, RPC_FACT_MOUNTS))
		write_mounts(w, &s->calls);
	if (snapshot_knows(&s->calls, RPC_FACT_OWNERS))
		write_owners(w, &s->calls);
}
