// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads what both BPF sources record in the same form: series, errors, depths.
 *
 * A series has the figures of one op of one server: a histogram and a sum of whole calls, the same for each phase, and
 * bytes. A program adds a call to some twenty of these words, one after the other, while user space reads them. There is
 * no lock: programs on tracepoints may not take one.
 *
 * Invariant: of each snapshot, the phases' counts are the calls, and their sums add up to the sum of the calls.
 *
 * A copy is therefore good only if no program was at work. Each program counts `started` before it writes and `finished`
 * after it. The reader takes `finished`, copies all words, then takes `started`. If both are the same number, each call
 * that had begun by the end of the copy had ended before its begin: the copy has whole calls only. Otherwise bpf_copy()
 * tries again. After 500 pauses of 1 ms in a snapshot it takes what there is: a virtual CPU that does not run could hold
 * it up for ever. Such a copy has a call in part, and the next snapshot has the rest of it.
 *
 *   finished 1000, started 1000   copy: 1,000 calls
 *   finished 1000, started 1001   a call came meanwhile: again
 *   finished 1001, started 1001   copy: 1,001 calls
 *
 * Each series has a copy for each shard, at most four: with more CPUs than that, several share one. Fewer programs are
 * then at work on one copy, and CPUs seldom wait for each other's cache lines.
 *
 * Most calls do not wait. Their zeros would cost five more additions for each call, therefore the programs record waits that were
 * there. The calls without one are what is left: of 1,000 calls of which 30 waited for a slot, 970 are added to the first
 * bucket of `slot` here. */
#include "rpc/rpc_series.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "base/process.h"
#include "base/safe_text.h"
#include "rpc_tracepoints.h"

/* For the phases before setup, the kernel side records only waits that there were. If a copy has a call in part, it is not known
 * whether that call has waited. Therefore the calls are those that were @finished before the copy. These may be too few: the
 * figure never goes below the one before. */
static void add_calls_without(struct rpc_series_reader *r, uint32_t index, uint64_t finished,
			      bool in_part)
{
	for (int p = 0; p < RPC_PHASE_SETUP; p++) {
		uint64_t *without = &r->without[index][p], with = 0;

		for (int b = 0; b < PHASE_BUCKETS; b++)
			with += r->copy.phase[p][b];
		if (in_part)
			rpc_monotonic(without, counted_since(finished, with));
		else
			*without = counted_since(finished, with);
		r->copy.phase[p][0] += *without;
	}
}

const struct rpc_series *rpc_series_copy(struct rpc_series_reader *r, uint32_t index)
{
	const volatile struct rpc_series *series = &r->series[index];
	const struct bpf_value from = { series, sizeof(*series), &series->started,
					&series->finished };
	uint64_t finished;
	bool whole = bpf_copy(&r->copy, &from, &r->pauses_left, &finished);

	add_calls_without(r, index, finished, !whole);
	return &r->copy;
}

void rpc_series_add(struct rpc_op *op, const struct rpc_series *copy)
{
	for (int b = 0; b < TIME_BUCKETS; b++)
		op->total.bucket[b] += copy->total[b];
	op->total.sum_ns += copy->total_ns;
	for (int p = 0; p < RPC_PHASES; p++) {
		for (int b = 0; b < PHASE_BUCKETS; b++)
			op->phase[p].bucket[phase_bucket_as_time(b)] += copy->phase[p][b];
		op->phase[p].sum_ns += copy->phase_ns[p];
	}
	op->sent_bytes += copy->sent_bytes;
	op->received_bytes += copy->received_bytes;
}

/* Values of series_info are alike in both sources. */
_Static_assert(sizeof(struct rpc_series_info) == sizeof(struct rpc_event_series_key) &&
		       offsetof(struct rpc_series_info, name) ==
			       offsetof(struct rpc_event_series_key, op),
	       "server and op are at the same places");

/* Writes the op of a series to @op, and returns the label of its server. */
static const char *name_series(const struct rpc_series_reader *r, const struct rpc_names *names,
			       uint32_t series, char op[RPC_OP_LEN])
{
	struct rpc_series_info info = { .key.server = series - RPC_OP_SERIES, .name = LABEL_OTHER };

	if (series && series < RPC_OP_SERIES)
		bpf_array_read(r->maps.series_info, series, &info);
	snprintf(op, RPC_OP_LEN, "%.*s", RPC_OP_LEN - 1, info.name);
	return series ? names->server(names->context, info.key.server) : LABEL_OTHER;
}

/* Adds series number @i, of all shards. */
static void read_one(struct rpc_series_reader *r, uint32_t i, const struct rpc_names *names,
		     struct calls *c)
{
	const struct rpc_series *copy;
	struct rpc_op *op = NULL;
	char name[RPC_OP_LEN];
	const char *server;

	for (uint32_t shard = 0; shard < r->shards; shard++) {
		copy = rpc_series_copy(r, i * r->shards + shard);
		if (!copy->started)
			continue;
		/* Named after its first call: before that, the number may get another op. */
		if (!op) {
			server = name_series(r, names, i, name);
			if (!*server)
				return;
			op = snapshot_op(c, server, name);
		}
		rpc_series_add(op, copy);
	}
}

struct ordered_error {
	struct rpc_error_key key;
	struct rpc_error_count value;
};

COMPARE_BY(by_order, struct ordered_error, value.order)

/* Adds the errors of the first @count series, in the order in which they were first seen. */
static void read_errors(const struct rpc_series_reader *r, uint32_t count,
			const struct rpc_names *names, struct calls *c)
{
	int fd = bpf_map__fd(r->maps.errors);
	char status[RPC_STATUS_LEN], op[RPC_OP_LEN];
	FREED struct ordered_error *list = NULL;
	struct ordered_error next;
	struct rpc_error *error;
	const char *server;
	void *last = NULL;
	size_t errors = 0;

	while (errors < RPC_MAX_ERRORS && !bpf_map_get_next_key(fd, last, &next.key)) {
		last = &next.key;
		if (!bpf_map_lookup_elem(fd, last, &next.value))
			*ARRAY_APPEND(list, errors) = next;
	}
	if (errors)
		qsort(list, errors, sizeof(*list), by_order);
	ARRAY_EACH(e, list, errors) {
		/* Its server may be newer than this reading. */
		server = e->key.series < count ? name_series(r, names, e->key.series, op) : "";
		if (!*server)
			continue;
		nfs_status_name(e->key.status, status, sizeof(status));
		error = snapshot_error(c, server, op, status);
		error->count += e->value.count;
		error->share = (uint32_t)e->value.share;
	}
}

int rpc_series_read(struct rpc_series_reader *r, uint32_t count, const struct rpc_names *names,
		    struct calls *c)
{
	const size_t values = (size_t)count * r->shards;

	r->series = bpf_values_map_first(r->maps.series, values, PROT_READ);
	if (!r->series)
		return -errno;
	r->pauses_left = BPF_COPY_PAUSES;
	/* "other" comes last, so that it does not change the order of the rest. */
	for (uint32_t i = 1; i <= count; i++)
		read_one(r, i % count, names, c);
	bpf_values_unmap_first(r->maps.series, values, (const void *)r->series);
	r->series = NULL;
	read_errors(r, count, names, c);
	return 0;
}

void rpc_series_clear(struct rpc_series_reader *r, uint32_t series)
{
	struct rpc_error_key key, next;
	int fd = bpf_map__fd(r->maps.errors);
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	memset(&r->copy, 0, sizeof(r->copy));
	for (uint32_t i = series * r->shards; i < (series + 1) * r->shards; i++) {
		bpf_map_update_elem(bpf_map__fd(r->maps.series), &i, &r->copy, BPF_ANY);
		memset(r->without[i], 0, sizeof(r->without[i]));
	}
	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.series == series)
			bpf_map_delete_elem(fd, &key);
	}
}

/* ---- depths, drops ---- */

uint32_t rpc_peak_of(const struct rpc_peak *peak, uint32_t epoch)
{
	uint64_t value = peak->value[epoch & 1];

	return value >> 32 == epoch ? (uint32_t)value : 0;
}

void rpc_stats_read(const struct rpc_series_reader *r, uint32_t number, uint32_t epoch,
		    struct rpc_server_state *server)
{
	struct rpc_server_stats stats;

	for (uint32_t i = number * r->shards; i < (number + 1) * r->shards; i++) {
		bpf_array_read(r->maps.server_stats, i, &stats);
#define ADD(name, ...) server->name += stats.name;
		RPC_SERVER_COUNTS(ADD, ADD)
		server->gaps.count += stats.gaps.count;
		server->gaps.sum += stats.gaps.sum;
		server->gaps.squares += stats.gaps.squares;
		for (int q = 0; q < RPC_QUEUES; q++) {
			struct depth_histogram *h = &server->depth[q];

			RAISE(server->depth_max[q], rpc_peak_of(&stats.peak[q], epoch));
			h->sum += stats.depth_sum[q];
			for (int b = 0; b < DEPTH_BUCKETS; b++)
				h->bucket[b] += stats.depth[q][b];
		}
	}
}

bool rpc_raise_age(uint64_t *max, uint64_t now, uint64_t since)
{
	if (!since || since >= now || *max >= now - since)
		return false;
	*max = now - since;
	return true;
}

void rpc_name_oldest(struct rpc_server_state *server, uint64_t now, uint64_t since,
		     const char op[RPC_OP_LEN], uint32_t process)
{
	if (since + NAMED_AGE_NS > now)
		return;
	label_from_bytes(server->oldest_op, sizeof(server->oldest_op), op, strnlen(op, RPC_OP_LEN));
	server->oldest_pid = process;
	process_comm((int)process, since, server->oldest_comm, sizeof(server->oldest_comm));
}

uint64_t rpc_monotonic(uint64_t *maximum, uint64_t value)
{
	RAISE(*maximum, value);
	return *maximum;
}

static const struct {
	long error;
	char name[RPC_STATUS_LEN];
} status_names[] = {
#define TABLE_ROW(error, name) { error, name },
#include "nfs_statuses.inc"
};

void nfs_status_name(int status, char *name, size_t size)
{
	long error = -(long)status;
	const __typeof__(status_names[0]) *row =
		ARRAY_FIND(n, status_names, COUNT(status_names), n->error == error);
	const char *found = row                      ? row->name :
			    error > 0 && error < 512 ? strerrorname_np((int)error) :
						       NULL;

	if (found)
		snprintf(name, size, "%s", found);
	else
		snprintf(name, size, "%ld", error);
}

static const char *const drop_names[RPC_DROPS] = {
	[RPC_DROP_WAITER] = "rpc_waiter",         [RPC_DROP_SERVER] = "rpc_server",
	[RPC_DROP_TRANSPORT] = "rpc_transport",   [RPC_DROP_SERIES] = "rpc_series",
	[RPC_DROP_ERROR] = "rpc_error",           [RPC_DROP_CLIPPED] = "rpc_wait_clipped",
	[RPC_DROP_CLIENT] = "rpc_client",         [RPC_DROP_OWNER] = "rpc_owner",
	[RPC_DROP_OWNER_GONE] = "rpc_owner_gone",
};

void rpc_drops_add(struct snapshot *s, const __u64 *dropped)
{
	for (int i = 0; i < RPC_DROPS; i++)
		snapshot_drop(&s->self, drop_names[i], dropped[i]);
}

uint64_t rpc_hooks_add(struct snapshot *s, const struct bpf_hooks *h, unsigned int except)
{
	for (size_t i = 0; i < h->count; i++)
		if (!bpf_hook_attached(h, i))
			s->calls.unknown |= rpc_facts(h->table[i].facts);
	s->self.map_bytes += h->memory.maps;
	s->self.program_bytes += h->memory.programs;
	return bpf_hooks_count(h, except, snapshot_program, &s->self);
}
