// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Proves that no family grows beyond its bound, that folding loses nothing, and
 * that what was shown once stays what it was while more comes.
 */
#include "unit.h"
#include "snapshot/fold.h"
#include "snapshot/merge.h"

/* Entry number n has figures that no other has, so that a sum shows which of them
 * are in it. */
static void add_entries(struct snapshot *s, unsigned int first, unsigned int end)
{
	for (unsigned int n = first; n < end; n++) {
		char server[LABEL_SIZE];
		struct rpc_op *op;
		struct rpc_transport_state *t;
		struct rpc_server_state *v;

		snprintf(server, sizeof(server), "nas-%u", n);
		op = snapshot_op(s, server, "READ");
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
		snapshot_error(s, server, "READ", "EIO")->count = 3 * n + 1;
		t = snapshot_transport(s, server, "tcp/0");
		assert_non_null(t);
		snprintf(t->remote.address, sizeof(t->remote.address), "192.0.2.%u", n);
		strcpy(t->local.address, "192.0.2.254");
		t->alive = n % 2;
		t->retransmits = n;
		t->timeouts = 2 * n;
		t->disconnects = 3 * n;
		t->connects = 4 * n;
		t->replies = 7 * n;
		t->rtt_ns = 8 * n;
		t->oldest_ns = n;
		for (unsigned int l = 0; l < RPC_LIMITS; l++)
			t->saturated_ns[l] = n * 1000 + l;
		t->slots_max = n;
		t->slots_allocated = 5 * n;
		t->slots_in_flight = 6 * n;
		v = snapshot_server(s, server);
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
	for (size_t i = 0; i < s->op_count; i++) {
		time_histogram_add(&sums.total, &s->ops[i].total);
		for (int p = 0; p < RPC_PHASES; p++)
			time_histogram_add(&sums.phase[p], &s->ops[i].phase[p]);
		sums.bytes[0] += s->ops[i].sent_bytes;
		sums.bytes[1] += s->ops[i].received_bytes;
	}
	for (size_t i = 0; i < s->error_count; i++)
		sums.errors += s->errors[i].count;
	for (size_t i = 0; i < s->transport_count; i++) {
		const struct rpc_transport_state *t = &s->transports[i];

		sums.counters[0] += t->retransmits;
		sums.counters[1] += t->timeouts;
		sums.counters[2] += t->disconnects;
		sums.counters[3] += t->connects;
		for (int l = 0; l < RPC_LIMITS; l++)
			sums.saturated_ns[l] += t->saturated_ns[l];
		sums.slots[0] += t->slots_allocated;
		sums.slots[1] += t->slots_in_flight;
	}
	for (size_t i = 0; i < s->server_count; i++)
		for (int q = 0; q < RPC_QUEUES; q++) {
			sums.depth[q].sum += s->servers[i].depth[q].sum;
			for (int b = 0; b < DEPTH_BUCKETS; b++)
				sums.depth[q].bucket[b] += s->servers[i].depth[q].bucket[b];
		}
	return sums;
}

TEST(what_is_within_the_bound_is_left_as_it_is)
{
	struct snapshot s = {}, same = {};

	add_entries(&s, 0, 10);
	add_entries(&same, 0, 10);
	snapshot_fold(&s, 10 * RPC_PHASES);
	assert_int_equal(s.op_count, 10);
	assert_memory_equal(s.ops, same.ops, 10 * sizeof(*s.ops));
	assert_memory_equal(s.errors, same.errors, 10 * sizeof(*s.errors));
	assert_memory_equal(s.transports, same.transports, 10 * sizeof(*s.transports));
	assert_memory_equal(s.servers, same.servers, 10 * sizeof(*s.servers));
	assert_int_equal(s.error_count, 10);
	assert_int_equal(s.transport_count, 10);
	assert_int_equal(s.server_count, 10);
	assert_int_equal(s.folded_entries, 0);
	snapshot_free(&s);
	snapshot_free(&same);
}

TEST(an_empty_snapshot_stays_empty)
{
	struct snapshot s = {};

	snapshot_fold(&s, 8);
	assert_int_equal(s.op_count + s.error_count + s.transport_count + s.server_count, 0);
	assert_int_equal(s.folded_entries, 0);
	snapshot_free(&s);
}

/* The largest family of each kind of entry has one label set per phase, error,
 * limit and queue. */
TEST(no_family_has_more_than_the_bound_and_one)
{
	for (size_t max = 8; max < 120; max++) {
		struct snapshot s = {};

		add_entries(&s, 0, 100);
		snapshot_fold(&s, max);
		assert_true((s.op_count - 1) * RPC_PHASES <= max);
		assert_true(s.error_count - 1 <= max);
		assert_true((s.transport_count - 1) * RPC_LIMITS <= max);
		assert_true((s.server_count - 1) * RPC_QUEUES <= max);
		/* and no fewer than there may be */
		assert_true(s.op_count * RPC_PHASES > max);
		assert_true(s.transport_count * RPC_LIMITS > max);
		assert_true(s.server_count * RPC_QUEUES > max);
		snapshot_free(&s);
	}
}

TEST(the_rest_is_named_other_in_every_label)
{
	struct snapshot s = {};

	add_entries(&s, 0, 50);
	snapshot_fold(&s, 40);
	assert_int_equal(s.op_count, 6);
	assert_string_equal(s.ops[5].server, "other");
	assert_string_equal(s.ops[5].op, "other");
	assert_int_equal(s.error_count, 41);
	assert_string_equal(s.errors[40].server, "other");
	assert_string_equal(s.errors[40].op, "other");
	assert_string_equal(s.errors[40].status, "other");
	assert_int_equal(s.transport_count, 14);
	assert_string_equal(s.transports[13].server, "other");
	assert_string_equal(s.transports[13].name, "other");
	assert_string_equal(s.transports[13].remote.address, "");
	assert_string_equal(s.transports[13].local.address, "");
	assert_int_equal(s.server_count, 9);
	assert_string_equal(s.servers[8].server, "other");
	snapshot_free(&s);
}

TEST(sums_are_preserved_exactly)
{
	static const size_t bounds[] = { 8, 9, 40, 100, 399, 400 };
	struct snapshot whole = {};
	static struct sums expected, got;

	add_entries(&whole, 0, 50);
	expected = sum_up(&whole);
	for (size_t i = 0; i < COUNT(bounds); i++) {
		struct snapshot s = {};

		add_entries(&s, 0, 50);
		snapshot_fold(&s, bounds[i]);
		got = sum_up(&s);
		assert_memory_equal(&got, &expected, sizeof(got));
		snapshot_free(&s);
	}
	snapshot_free(&whole);
}

TEST(gauges_of_the_rest_are_those_of_its_greatest)
{
	struct snapshot s = {};

	add_entries(&s, 0, 50);
	s.transports[14].alive = false;
	s.transports[15].alive = true;
	snapshot_fold(&s, 40);
	assert_true(s.transports[13].alive);
	assert_int_equal(s.transports[13].slots_max, 49);
	for (unsigned int q = 0; q < RPC_QUEUES; q++) {
		assert_int_equal(s.servers[8].depth_max[q], 49 * (q + 1));
		assert_int_equal(s.servers[8].oldest_ns[q], 49 * (q + 7));
	}
	snapshot_free(&s);
}

TEST(what_only_describes_is_left_out_and_counted)
{
	struct nfs_mount mount = {};
	struct snapshot s = {};
	char server[LABEL_SIZE];

	for (unsigned int n = 0; n < 20; n++) {
		snprintf(server, sizeof(server), "nas-%u", n);
		strcpy(mount.server, server);
		assert_non_null(snapshot_mount(&s, &mount));
		assert_non_null(snapshot_storage(&s, server));
	}
	snapshot_fold(&s, 20);
	assert_int_equal(s.folded_entries, 0);
	assert_int_equal(s.mount_count, 20);
	snapshot_fold(&s, 8);
	assert_int_equal(s.mount_count, 8);
	assert_int_equal(s.storage_count, 8);
	assert_string_equal(s.mounts[7].server, "nas-7");
	assert_string_equal(s.storages[7].server, "nas-7");
	assert_int_equal(s.folded_entries, 24);
	snapshot_free(&s);
}

/* The rest may be one. */
TEST(a_rest_of_transports_has_no_addresses)
{
	for (unsigned int rest = 1; rest < 4; rest++) {
		struct snapshot s = {};

		add_entries(&s, 0, 2 + rest);
		snapshot_fold(&s, 2 * RPC_LIMITS);
		assert_int_equal(s.transport_count, 3);
		assert_string_equal(s.transports[1].remote.address, "192.0.2.1");
		assert_string_equal(s.transports[2].remote.address, "");
		assert_string_equal(s.transports[2].local.address, "");
		snapshot_free(&s);
	}
}

TEST(a_rest_of_dead_transports_is_dead)
{
	struct snapshot s = {};

	add_entries(&s, 0, 20);
	for (size_t i = 0; i < s.transport_count; i++)
		s.transports[i].alive = false;
	snapshot_fold(&s, 8);
	assert_false(s.transports[s.transport_count - 1].alive);
	snapshot_free(&s);
}

TEST(what_was_folded_is_counted)
{
	struct snapshot s = {};

	add_entries(&s, 0, 50);
	snapshot_fold(&s, 40);
	assert_int_equal(s.folded_entries, (50 - 5) + (50 - 40) + (50 - 13) + (50 - 8));
	snapshot_free(&s);
}

TEST(the_first_come_stay_as_more_come)
{
	struct snapshot before = {};
	uint64_t count = 0;

	add_entries(&before, 0, 5);
	for (unsigned int n = 6; n < 60; n++) {
		struct snapshot s = {};

		add_entries(&s, 0, n);
		snapshot_fold(&s, 40);
		assert_memory_equal(s.ops, before.ops, 5 * sizeof(*s.ops));
		assert_memory_equal(s.errors, before.errors, 5 * sizeof(*s.errors));
		assert_memory_equal(s.transports, before.transports, 5 * sizeof(*s.transports));
		assert_memory_equal(s.servers, before.servers, 5 * sizeof(*s.servers));
		assert_true(s.folded_entries >= count);
		count = s.folded_entries;
		snapshot_free(&s);
	}
	snapshot_free(&before);
}

/* Adds what the kernel's full tables have put under "other". */
static void add_others(struct snapshot *s)
{
	snapshot_op(s, "other", "other")->sent_bytes += 123456;
	snapshot_error(s, "other", "other", "other")->count += 123456;
	snapshot_transport(s, "other", "other")->connects += 123456;
	snapshot_server(s, "other")->depth[RPC_QUEUE_SLOT].sum += 123456;
}

/* Two samples with the same labels would make the whole file invalid. */
TEST(what_is_named_other_takes_the_rest)
{
	static struct sums expected, got;

	for (unsigned int at = 0; at < 60; at++) {
		size_t ops = 0, errors = 0, transports = 0, servers = 0;
		struct snapshot s = {};

		add_entries(&s, 0, at);
		add_others(&s);
		add_entries(&s, at, 60);
		/* Not these two alone. */
		snapshot_op(&s, "other", "READ");
		snapshot_error(&s, "other", "other", "EIO");
		expected = sum_up(&s);
		snapshot_fold(&s, 40);
		got = sum_up(&s);
		for (size_t i = 0; i < s.op_count; i++)
			ops += !strcmp(s.ops[i].server, "other");
		for (size_t i = 0; i < s.error_count; i++)
			errors += !strcmp(s.errors[i].server, "other");
		for (size_t i = 0; i < s.transport_count; i++)
			transports += !strcmp(s.transports[i].server, "other");
		for (size_t i = 0; i < s.server_count; i++)
			servers += !strcmp(s.servers[i].server, "other");
		assert_true(ops == 1 && errors == 1 && transports == 1 && servers == 1);
		assert_true(s.op_count <= 6 && s.error_count <= 41 && s.transport_count <= 14 &&
			    s.server_count <= 9);
		assert_memory_equal(&got, &expected, sizeof(got));
		snapshot_free(&s);
	}
}

/* sunrpc was unloaded while its tables were full, and loaded again: what was counted
 * before has such entries amidst. */
TEST(a_reload_leaves_one_other)
{
	struct snapshot past = {}, s = {};
	size_t others = 0;

	add_entries(&past, 0, 3);
	add_others(&past);
	add_entries(&s, 3, 20);
	add_others(&s);
	assert_int_equal(snapshot_add_calls(&past, &s), 0);
	snapshot_fold(&past, 40);
	for (size_t i = 0; i < past.op_count; i++)
		others += !strcmp(past.ops[i].op, "other");
	assert_int_equal(others, 1);
	assert_int_equal(past.ops[3].sent_bytes > 123456 * 2, 1);
	snapshot_free(&past);
	snapshot_free(&s);
}

/* Adds an entry of ones to an empty one: behind its labels, which end before @first,
 * no number may stay 0. */
#define ASSERT_ADDS_ALL(type, first, add)                                                          \
	do {                                                                                       \
		static struct type from, to;                                                       \
		uint64_t numbers[sizeof(to) / sizeof(uint64_t)];                                   \
		size_t i = offsetof(struct type, first) / sizeof(uint64_t);                        \
		memset(&from, 1, sizeof(from));                                                    \
		add(&to, &from);                                                                   \
		memcpy(numbers, &to, sizeof(numbers));                                             \
		for (; i < sizeof(numbers) / sizeof(numbers[0]); i++)                              \
			if (!numbers[i])                                                           \
				fail_msg(#add " forgets the number at byte %zu of " #type, 8 * i); \
	} while (0)

TEST(no_counter_is_forgotten)
{
	ASSERT_ADDS_ALL(rpc_op, total, rpc_op_add);
	ASSERT_ADDS_ALL(rpc_error, count, rpc_error_add);
	ASSERT_ADDS_ALL(rpc_transport_state, alive, rpc_transport_add);
	ASSERT_ADDS_ALL(rpc_server_state, depth, rpc_server_add);
}

TEST(counts_go_on_from_those_before)
{
	struct snapshot past = {}, now = {};

	add_entries(&past, 0, 7);
	snapshot_drop(&past, "rpc_waiter", 3);
	snapshot_program(&past, "p", 5, 50);
	past.transports[1].alive = true;
	past.transports[2].named_only = true;
	past.servers[2].depth_max[0] = 9;
	past.servers[2].oldest_ns[0] = 9;
	assert_int_equal(snapshot_add_calls(&now, &past), 0);
	assert_int_equal(now.op_count, 7);
	assert_int_equal(now.ops[6].total.sum_ns, past.ops[6].total.sum_ns);
	assert_int_equal(now.transport_count, 6);
	assert_int_equal(now.transports[5].connects, 24);
	assert_int_equal(now.transports[5].replies, 42);
	assert_int_equal(now.transports[5].rtt_ns, 48);
	assert_int_equal(now.transports[5].oldest_ns, 0);
	assert_int_equal(now.errors[6].count, 19);
	/* What was the state then is not the state now. */
	assert_false(now.transports[1].alive);
	assert_int_equal(now.transports[5].slots_max, 0);
	assert_int_equal(now.servers[2].depth_max[0], 0);
	assert_int_equal(now.servers[2].oldest_ns[0], 0);
	/* What comes then is added. */
	snapshot_op(&now, "nas-6", "READ")->total.sum_ns += 1;
	snapshot_drop(&now, "rpc_waiter", 4);
	snapshot_program(&now, "p", 1, 10);
	assert_int_equal(now.op_count, 7);
	assert_int_equal(now.ops[6].total.sum_ns, past.ops[6].total.sum_ns + 1);
	assert_int_equal(now.drop_count, 1);
	assert_int_equal(now.drops[0].count, 7);
	assert_int_equal(now.program_count, 1);
	assert_int_equal(now.programs[0].runs, 6);
	assert_int_equal(now.programs[0].ns, 60);
	snapshot_free(&past);
	snapshot_free(&now);
}
