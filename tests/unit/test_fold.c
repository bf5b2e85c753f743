// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that no family grows beyond its bound, that folding loses nothing, and that what was shown once stays what
 * it was while more comes. */
#include "unit.h"
#include "snapshot.h"

/* Entry number n has figures that no other has, so that a sum shows which of them are in it. */
static void add_entries(struct snapshot *s, unsigned int first, unsigned int end)
{
	for (unsigned int n = first; n < end; n++) {
		char server[LABEL_SIZE];
		struct rpc_op *op;
		struct rpc_transport_state *t;
		struct rpc_server_state *v;

		snprintf(server, sizeof(server), "nas-%u", n);
		op = snapshot_op(&s->calls, server, "READ");
		assert_non_null(op);
		op->total.sum_ns = 1000003 * n + 1;
		op->total.bucket[n % TIME_BUCKETS] = n + 1;
		op->total.bucket[TIME_OVERFLOW] += 1;
		for (unsigned int p = 0; p < RPC_PHASES; p++) {
			op->phase[p].sum_ns = 17 * n + p;
			op->phase[p].bucket[(n + p) % TIME_BUCKETS] = n * p + 1;
		}
		op->sent_bytes = n * n;
		op->received_bytes = n * n * n;
		snapshot_error(&s->calls, server, "READ", "EIO")->count = 3 * n + 1;
		t = snapshot_transport(&s->calls, server, "tcp/0");
		assert_non_null(t);
		snprintf(t->remote.address, sizeof(t->remote.address), "192.0.2.%u", n);
		strcpy(t->local.address, "192.0.2.254");
		t->alive = n % 2;
		t->retransmits = t->oldest_ns = t->slots_max = n;
		t->timeouts = 2 * n;
		t->disconnects = 3 * n;
		t->connects = 4 * n;
		t->slots_allocated = 5 * n;
		t->slots_in_flight = 6 * n;
		t->replies = 7 * n;
		t->rtt_ns = 8 * n;
		for (unsigned int l = 0; l < RPC_LIMITS; l++)
			t->saturated_ns[l] = n * 1000 + l;
		v = snapshot_server(&s->calls, server);
		assert_non_null(v);
		for (unsigned int q = 0; q < RPC_QUEUES; q++) {
			v->depth[q].sum = n + q;
			v->depth[q].bucket[n % DEPTH_BUCKETS] = n + 1;
			v->depth_max[q] = n * (q + 1);
			v->oldest_ns[q] = n * (q + 7);
		}
	}
}

/* What all entries hold together. */
struct sums {
	struct time_histogram total;
	struct time_histogram phase[RPC_PHASES];
	uint64_t bytes[2];
	uint64_t errors;
	uint64_t counters[4];
	uint64_t saturated_ns[RPC_LIMITS];
	uint64_t slots[2];
	struct depth_histogram depth[RPC_QUEUES];
};

static struct sums sum_up(const struct snapshot *s)
{
	static struct sums sums;

	sums = (struct sums){};
	for (size_t i = 0; i < s->calls.op_count; i++) {
		time_histogram_add(&sums.total, &s->calls.ops[i].total);
		for (int p = 0; p < RPC_PHASES; p++)
			time_histogram_add(&sums.phase[p], &s->calls.ops[i].phase[p]);
		sums.bytes[0] += s->calls.ops[i].sent_bytes;
		sums.bytes[1] += s->calls.ops[i].received_bytes;
	}
	for (size_t i = 0; i < s->calls.error_count; i++)
		sums.errors += s->calls.errors[i].count;
	for (size_t i = 0; i < s->calls.transport_count; i++) {
		const struct rpc_transport_state *t = &s->calls.transports[i];

		sums.counters[0] += t->retransmits;
		sums.counters[1] += t->timeouts;
		sums.counters[2] += t->disconnects;
		sums.counters[3] += t->connects;
		for (int l = 0; l < RPC_LIMITS; l++)
			sums.saturated_ns[l] += t->saturated_ns[l];
		sums.slots[0] += t->slots_allocated;
		sums.slots[1] += t->slots_in_flight;
	}
	for (size_t i = 0; i < s->calls.server_count; i++)
		for (int q = 0; q < RPC_QUEUES; q++) {
			sums.depth[q].sum += s->calls.servers[i].depth[q].sum;
			for (int b = 0; b < DEPTH_BUCKETS; b++)
				sums.depth[q].bucket[b] += s->calls.servers[i].depth[q].bucket[b];
		}
	return sums;
}

/* Of each family @now begins with the first @count entries of @before. */
static void assert_first_are_the_same(size_t count)
{
	const struct calls *a = &now.calls, *b = &before.calls;

	assert_memory_equal(a->ops, b->ops, count * sizeof(*a->ops));
	assert_memory_equal(a->errors, b->errors, count * sizeof(*a->errors));
	assert_memory_equal(a->transports, b->transports, count * sizeof(*a->transports));
	assert_memory_equal(a->servers, b->servers, count * sizeof(*a->servers));
}

static void assert_counts(const char *expected)
{
	assert_printed(expected, "%zu ops %zu errors %zu transports %zu servers %lu folded",
		       now.calls.op_count, now.calls.error_count, now.calls.transport_count,
		       now.calls.server_count, now.calls.folded_entries);
}

TEST(what_is_within_the_bound_is_left_as_it_is)
{
	snapshot_fold(&now, 8);
	assert_counts("0 ops 0 errors 0 transports 0 servers 0 folded");
	add_entries(&now, 0, 10);
	add_entries(&before, 0, 10);
	snapshot_fold(&now, 10 * RPC_PHASES);
	assert_first_are_the_same(10);
	assert_counts("10 ops 10 errors 10 transports 10 servers 0 folded");
}

/* The largest family of each kind of entry has one label set per phase, error, limit and queue. */
TEST(no_family_has_more_than_the_bound_and_one)
{
	for (size_t max = 8; max < 120; max++) {
		add_entries(&now, 0, 100);
		snapshot_fold(&now, max);
		assert_true((now.calls.op_count - 1) * RPC_PHASES <= max);
		assert_true(now.calls.error_count - 1 <= max);
		assert_true((now.calls.transport_count - 1) * RPC_LIMITS <= max);
		assert_true((now.calls.server_count - 1) * RPC_QUEUES <= max);
		/* and no fewer than there may be */
		assert_true(now.calls.op_count * RPC_PHASES > max);
		assert_true(now.calls.transport_count * RPC_LIMITS > max);
		assert_true(now.calls.server_count * RPC_QUEUES > max);
		snapshot_free(&now);
	}
}

TEST(the_rest_is_named_other_in_every_label_and_counted)
{
	const struct calls *c = &now.calls;

	add_entries(&now, 0, 50);
	snapshot_fold(&now, 40);
	assert_counts("6 ops 41 errors 14 transports 9 servers 134 folded");
	assert_int_equal(c->folded_entries, (50 - 5) + (50 - 40) + (50 - 13) + (50 - 8));
	assert_printed("other other, other other other, other other, no address '', other",
		       "%s %s, %s %s %s, %s %s, no address '%s%s', %s", c->ops[5].server,
		       c->ops[5].op, c->errors[40].server, c->errors[40].op, c->errors[40].status,
		       c->transports[13].server, c->transports[13].name,
		       c->transports[13].remote.address, c->transports[13].local.address,
		       c->servers[8].server);
}

TEST(sums_are_preserved_exactly)
{
	static const size_t bounds[] = { 8, 9, 40, 100, 399, 400 };
	static struct sums expected, got;

	add_entries(&before, 0, 50);
	expected = sum_up(&before);
	for (size_t i = 0; i < COUNT(bounds); i++) {
		add_entries(&now, 0, 50);
		snapshot_fold(&now, bounds[i]);
		got = sum_up(&now);
		assert_memory_equal(&got, &expected, sizeof(got));
		snapshot_free(&now);
	}
}

TEST(gauges_of_the_rest_are_those_of_its_greatest)
{
	add_entries(&now, 0, 50);
	for (size_t i = 0; i < now.calls.transport_count; i++)
		now.calls.transports[i].alive = false;
	keep_snapshot(&before, &now);
	snapshot_fold(&before, 40);
	assert_false(before.calls.transports[13].alive);
	now.calls.transports[15].alive = true;
	snapshot_fold(&now, 40);
	assert_true(now.calls.transports[13].alive);
	assert_int_equal(now.calls.transports[13].slots_max, 49);
	for (unsigned int q = 0; q < RPC_QUEUES; q++) {
		assert_int_equal(now.calls.servers[8].depth_max[q], 49 * (q + 1));
		assert_int_equal(now.calls.servers[8].oldest_ns[q], 49 * (q + 7));
	}
}

TEST(what_only_describes_is_left_out_and_counted)
{
	struct nfs_mount mount = {};

	for (unsigned int n = 0; n < 20; n++) {
		snprintf(mount.server, sizeof(mount.server), "nas-%u", n);
		assert_non_null(snapshot_mount(&now.calls, &mount));
		assert_non_null(snapshot_storage(&now.calls, mount.server));
	}
	snapshot_fold(&now, 20);
	assert_printed("0 20", "%lu %zu", now.calls.folded_entries, now.calls.mount_count);
	snapshot_fold(&now, 8);
	assert_printed("24: 8 nas-7, 8 nas-7", "%lu: %zu %s, %zu %s", now.calls.folded_entries,
		       now.calls.mount_count, now.calls.mounts[7].server, now.calls.storage_count,
		       now.calls.storages[7].server);
}

/* The rest may be one. */
TEST(a_rest_of_transports_has_no_addresses)
{
	for (unsigned int rest = 1; rest < 4; rest++) {
		add_entries(&now, 0, 2 + rest);
		snapshot_fold(&now, 2 * RPC_LIMITS);
		assert_int_equal(now.calls.transport_count, 3);
		assert_string_equal(now.calls.transports[1].remote.address, "192.0.2.1");
		assert_string_equal(now.calls.transports[2].remote.address, "");
		assert_string_equal(now.calls.transports[2].local.address, "");
		snapshot_free(&now);
	}
}

TEST(the_first_come_stay_as_more_come)
{
	uint64_t count = 0;

	add_entries(&before, 0, 5);
	for (unsigned int n = 6; n < 60; n++) {
		add_entries(&now, 0, n);
		snapshot_fold(&now, 40);
		assert_first_are_the_same(5);
		assert_true(now.calls.folded_entries >= count);
		count = now.calls.folded_entries;
		snapshot_free(&now);
	}
}

/* Adds what the kernel's full tables have put under "other". */
static void add_others(struct snapshot *s)
{
	snapshot_op(&s->calls, "other", "other")->sent_bytes += 123456;
	snapshot_error(&s->calls, "other", "other", "other")->count += 123456;
	snapshot_transport(&s->calls, "other", "other")->connects += 123456;
	snapshot_server(&s->calls, "other")->depth[RPC_QUEUE_SLOT].sum += 123456;
}

/* Two samples with the same labels would make the whole file invalid. */
TEST(what_is_named_other_takes_the_rest)
{
	static struct sums expected, got;

	for (unsigned int at = 0; at < 60; at++) {
		size_t ops = 0, errors = 0, transports = 0, servers = 0;

		add_entries(&now, 0, at);
		add_others(&now);
		add_entries(&now, at, 60);
		/* Not these two alone. */
		snapshot_op(&now.calls, "other", "READ");
		snapshot_error(&now.calls, "other", "other", "EIO");
		expected = sum_up(&now);
		snapshot_fold(&now, 40);
		got = sum_up(&now);
		for (size_t i = 0; i < now.calls.op_count; i++)
			ops += !strcmp(now.calls.ops[i].server, "other");
		for (size_t i = 0; i < now.calls.error_count; i++)
			errors += !strcmp(now.calls.errors[i].server, "other");
		for (size_t i = 0; i < now.calls.transport_count; i++)
			transports += !strcmp(now.calls.transports[i].server, "other");
		for (size_t i = 0; i < now.calls.server_count; i++)
			servers += !strcmp(now.calls.servers[i].server, "other");
		assert_true(ops == 1 && errors == 1 && transports == 1 && servers == 1);
		assert_true(now.calls.op_count <= 6 && now.calls.error_count <= 41 &&
			    now.calls.transport_count <= 14 && now.calls.server_count <= 9);
		assert_memory_equal(&got, &expected, sizeof(got));
		snapshot_free(&now);
	}
}

/* sunrpc was unloaded while its tables were full, and loaded again: what was counted before has such entries amidst. */
TEST(a_reload_leaves_one_other)
{
	size_t others = 0;

	add_entries(&before, 0, 3);
	add_others(&before);
	add_entries(&now, 3, 20);
	add_others(&now);
	assert_int_equal(calls_add(&before.calls, &now.calls), 0);
	snapshot_fold(&before, 40);
	for (size_t i = 0; i < before.calls.op_count; i++)
		others += !strcmp(before.calls.ops[i].op, "other");
	assert_int_equal(others, 1);
	assert_int_equal(before.calls.ops[3].sent_bytes > 123456 * 2, 1);
}

/* Adds an entry of ones to an empty one: behind its labels and details no number may stay 0. */
TEST(no_counter_is_forgotten)
{
	for (int id = TABLE_OPS; id <= TABLE_SERVERS; id++) {
		const struct table *t = &tables[id];
		char *from = malloc(t->size), *to = calloc(1, t->size);

		assert_true(from && to);
		memset(from, 1, t->size);
		table_add(t, to, from, true);
		for (const struct field *f = t->fields; f < t->fields + t->field_count; f++)
			for (size_t i = 0;
			     f->role >= FIELD_COUNTER && f->role != FIELD_SMALLEST && i < f->size;
			     i++)
				if (!to[f->offset + i])
					fail_msg("table %d forgets the number at byte %zu", id,
						 f->offset + i);
		free(from);
		free(to);
	}
}

TEST(counts_go_on_from_those_before)
{
	const struct rpc_transport_state *t;
	add_entries(&before, 0, 7);
	snapshot_drop(&before.self, "rpc_waiter", 3);
	snapshot_program(&before.self, "p", 5, 50);
	before.calls.transports[1].alive = true;
	before.calls.transports[2].named_only = true;
	before.calls.servers[2].depth_max[0] = 9;
	before.calls.servers[2].oldest_ns[0] = 9;
	assert_int_equal(calls_add(&now.calls, &before.calls), 0);
	self_add(&now.self, &before.self);
	t = &now.calls.transports[5];
	assert_counts("7 ops 7 errors 6 transports 7 servers 0 folded");
	assert_int_equal(now.calls.ops[6].total.sum_ns, before.calls.ops[6].total.sum_ns);
	assert_printed("24 42 48, 19", "%lu %lu %lu, %lu", t->connects, t->replies, t->rtt_ns,
		       now.calls.errors[6].count);
	/* What was the state then is not the state now. */
	assert_printed("0 0 0, 0 0", "%d %u %lu, %u %lu", now.calls.transports[1].alive,
		       t->slots_max, t->oldest_ns, now.calls.servers[2].depth_max[0],
		       now.calls.servers[2].oldest_ns[0]);
	/* What comes then is added. */
	snapshot_op(&now.calls, "nas-6", "READ")->total.sum_ns += 1;
	snapshot_drop(&now.self, "rpc_waiter", 4);
	snapshot_program(&now.self, "p", 1, 10);
	assert_int_equal(now.calls.op_count, 7);
	assert_int_equal(now.calls.ops[6].total.sum_ns, before.calls.ops[6].total.sum_ns + 1);
	assert_printed("1: 7, 1: 6 60", "%zu: %lu, %zu: %lu %lu", now.self.drop_count,
		       now.self.drops[0].count, now.self.program_count, now.self.programs[0].runs,
		       now.self.programs[0].ns);
}
