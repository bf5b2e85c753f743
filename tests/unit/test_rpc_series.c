// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a series can be read while a call is being recorded: no bucket falls from one reading to the next, and
 * every phase counts every call that has been recorded; that a task's status gets the name that the kernel's sources or
 * the RFCs give it, each name once, and that an unknown one stays readable. */
#include <pthread.h>
#include <unistd.h>

#include "unit.h"
#include "base/clock.h"
#include "rpc/rpc_series.h"
#include "made_up_map.h"

static void read_entry(const struct bpf_map *map, uint32_t index, void *value);
static const struct rpc_series *table_of(size_t values);
#define bpf_array_read read_entry
#define bpf_map__fd(map) 0
#define bpf_values_map_first(map, values, protection) table_of(values)
#define bpf_values_unmap_first(map, values, address) assert_int_equal(values, COUNT(table))
static struct rpc_series table[6]; /* of three numbers, two shards each */
#include "../../user/rpc/rpc_series.c"

#define SLOT RPC_PHASE_SLOT

static struct rpc_series series;
static struct rpc_series_reader reader;
static struct rpc_op before;

BEFORE_EACH()
{
	series = (struct rpc_series){};
	before = (struct rpc_op){};
	memset(&reader, 0, sizeof(reader));
	reader.shards = 1;
	reader.series = &series;
}

/* As bpf/rpc_phases.bpf.h does: first what each call has, ... */
static void begin(void)
{
	series.started++;
	series.total[40]++;
	series.total_ns += 1000000;
}

/* ... then its phases, and of the waits those that there were. */
static void phases(uint64_t waited)
{
	static const int always[] = { RPC_PHASE_RTT, RPC_PHASE_FINISH, RPC_PHASE_SETUP };

	for (size_t i = 0; i < COUNT(always); i++) {
		series.phase[always[i]][5]++;
		series.phase_ns[always[i]] += 1000;
	}
	if (waited) {
		series.phase[SLOT][3]++;
		series.phase_ns[SLOT] += waited;
	}
}

static void call(uint64_t waited)
{
	begin();
	phases(waited);
	series.finished++;
}

/* Reads the series, in which nothing may have fallen since the last time. */
static struct rpc_op read_series(void)
{
	struct rpc_op op = {};

	rpc_series_add(&op, rpc_series_copy(&reader, 0));
	for (int b = 0; b < TIME_BUCKETS; b++)
		for (int p = 0; p < RPC_PHASES; p++)
			if (op.phase[p].bucket[b] < before.phase[p].bucket[b])
				fail_msg("phase %s, bucket %d: %lu, then %lu", rpc_phase_names[p],
					 b, before.phase[p].bucket[b], op.phase[p].bucket[b]);
	before = op;
	return op;
}

static void assert_complete(uint64_t calls, uint64_t waited)
{
	struct rpc_op op = read_series();

	assert_int_equal(time_histogram_count(&op.total), calls);
	for (int p = 0; p < RPC_PHASES; p++)
		assert_int_equal(time_histogram_count(&op.phase[p]), calls);
	assert_int_equal(op.phase[SLOT].bucket[0], calls - waited);
}

static void assert_facts(int first, const char *array, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		assert_printed(rpc_fact_names[first + i], "%s.%s", array, names[i]);
}

TEST(facts_of_an_array_are_in_the_order_of_its_enum)
{
	assert_facts(RPC_FACT_PHASE, "phase", rpc_phase_names, RPC_PHASES);
	assert_facts(RPC_FACT_SATURATED, "saturated", rpc_limit_names, RPC_LIMITS);
	assert_facts(RPC_FACT_DEPTH, "depth", rpc_queue_names, RPC_QUEUES);
	assert_facts(RPC_FACT_DEPTH_MAX, "depth_max", rpc_queue_names, RPC_QUEUES);
	assert_facts(RPC_FACT_OLDEST, "oldest", rpc_queue_names, RPC_QUEUES);
}

TEST(calls_that_did_not_wait_are_in_the_first_bucket)
{
	assert_complete(0, 0);
	call(0);
	assert_complete(1, 0);
	call(5000);
	assert_complete(2, 1);
}

/* A call is recorded in some 300 ns, but what records it may be interrupted. */
TEST(nothing_falls_if_a_call_is_recorded_for_long)
{
	for (unsigned int i = 0; i < 10; i++)
		call(0);
	assert_complete(10, 0);
	begin();
	read_series();
	phases(5000);
	read_series();
	series.finished++;
	assert_complete(11, 1);
}

/* The CPU of a virtual machine does not run for some milliseconds. */
static void *go_on(void *unused)
{
	usleep(20000);
	phases(5000);
	__sync_fetch_and_add(&series.finished, 1);
	return unused;
}

TEST(waits_for_a_program_that_was_interrupted)
{
	pthread_t program;
	struct rpc_op op;

	reader.pauses_left = 1000000;
	call(0);
	begin();
	assert_int_equal(pthread_create(&program, NULL, go_on, NULL), 0);
	op = read_series();
	pthread_join(program, NULL);
	assert_int_equal(op.phase[SLOT].bucket[0], 1);
	assert_int_equal(time_histogram_count(&op.phase[SLOT]), 2);
	assert_int_equal(reader.copy.started, reader.copy.finished);
	assert_true(reader.pauses_left > 0);
}

TEST(waits_no_longer_than_allowed)
{
	reader.pauses_left = 2;
	begin();
	read_series();
	assert_int_equal(reader.pauses_left, 0);
}

/* ---- the figures of a server ---- */

#define EPOCH 6

static struct rpc_server_stats stats[6]; /* of three servers, two shards each */

static struct rpc_series_info info[] = { {},
					 { .key.server = 1, .name = "WRITE" },
					 { .key.server = 0, .name = "READ" } };

static void read_entry(const struct bpf_map *map, uint32_t index, void *value)
{
	if (map)
		*(struct rpc_series_info *)value = info[index];
	else
		*(struct rpc_server_stats *)value = stats[index];
}

TEST(the_figures_of_a_server_are_the_sums_of_its_shards)
{
	struct rpc_server_state server = {};
	const struct rpc_server_stats *a = &stats[2], *b = &stats[3];

	for (size_t i = 0; i < COUNT(stats); i++) {
		for (size_t w = 0; w < sizeof(*stats) / sizeof(uint64_t); w++)
			((uint64_t *)&stats[i])[w] = (w + 1) << 4 * i;
		memset(stats[i].peak, 0, sizeof(stats[i].peak));
		for (unsigned int q = 0; q < RPC_QUEUES; q++)
			stats[i].peak[q] =
				(struct rpc_peak){ { (uint64_t)EPOCH << 32 | (9 * i + q),
						     (uint64_t)(EPOCH - 1) << 32 | 99 } };
	}
	reader.shards = 2;
	rpc_stats_read(&reader, 1, EPOCH, &server);
#define ADDED(name, ...) assert_int_equal(server.name, a->name + b->name);
	RPC_SERVER_COUNTS(ADDED, ADDED)
	ADDED(gaps.count)
	ADDED(gaps.sum) ADDED(gaps.squares) for (unsigned int q = 0; q < RPC_QUEUES; q++)
	{
		assert_int_equal(server.depth_max[q], 27 + q);
		assert_int_equal(server.depth[q].sum, a->depth_sum[q] + b->depth_sum[q]);
		for (int i = 0; i < DEPTH_BUCKETS; i++)
			assert_int_equal(server.depth[q].bucket[i],
					 a->depth[q][i] + b->depth[q][i]);
	}
}

/* Errnos; the kernel's own numbers, of include/linux/errno.h; of NFSv4's (RFC 8881, section 15.1) some of each part of the
 * list, its ends, and both sides of its gaps; what has no name. */
TEST(a_status_has_its_name_or_is_shown_as_a_number)
{
	const char *at =
		"-1 EPERM, -5 EIO, -11 EAGAIN, -13 EACCES, -116 ESTALE, -110 ETIMEDOUT, "
		"-111 ECONNREFUSED, -127 EKEYEXPIRED, -121 EREMOTEIO, -133 EHWPOISON, "
		"-512 ERESTARTSYS, -521 EBADHANDLE, -522 ENOTSYNC, -523 EBADCOOKIE, -524 ENOTSUPP, "
		"-525 ETOOSMALL, -526 ESERVERFAULT, -527 EBADTYPE, -528 EJUKEBOX, "
		"-529 EIOCBQUEUED, -530 ERECALLCONFLICT, -10001 NFS4ERR_BADHANDLE, "
		"-10003 NFS4ERR_BAD_COOKIE, -10008 NFS4ERR_DELAY, -10011 NFS4ERR_EXPIRED, "
		"-10013 NFS4ERR_GRACE, -10018 NFS4ERR_RESOURCE, -10022 NFS4ERR_STALE_CLIENTID, "
		"-10025 NFS4ERR_BAD_STATEID, -10026 NFS4ERR_BAD_SEQID, -10033 NFS4ERR_NO_GRACE, "
		"-10036 NFS4ERR_BADXDR, -10044 NFS4ERR_OP_ILLEGAL, -10047 NFS4ERR_ADMIN_REVOKED, "
		"-10052 NFS4ERR_BADSESSION, -10053 NFS4ERR_BADSLOT, "
		"-10055 NFS4ERR_CONN_NOT_BOUND_TO_SESSION, -10058 NFS4ERR_LAYOUTTRYLATER, "
		"-10063 NFS4ERR_SEQ_MISORDERED, -10068 NFS4ERR_RETRY_UNCACHED_REP, "
		"-10072 NFS4ERR_HASH_ALG_UNSUPP, -10074 NFS4ERR_CLIENTID_BUSY, "
		"-10078 NFS4ERR_DEADSESSION, -10087 NFS4ERR_DELEG_REVOKED, 0 0, 5 -5, -511 511, "
		"-9999 9999, -10000 10000, -10002 10002, -10073 10073, -20000 20000, "
		"-2147483648 2147483648, 2147483647 -2147483647";
	char name[RPC_STATUS_LEN], expected[64];
	int status, len, rows = 0;

	for (; sscanf(at, "%d %63[^,]%n", &status, expected, &len) == 2; rows++) {
		nfs_status_name(status, name, sizeof(name));
		assert_string_equal(name, expected);
		at += len + (at[len] == ',');
	}
	assert_int_equal(rows, 54);
}

TEST(no_two_numbers_share_a_name)
{
	static char seen[10200][RPC_STATUS_LEN];

	for (int i = 1; i < (int)COUNT(seen); i++) {
		nfs_status_name(-i, seen[i], sizeof(seen[i]));
		for (int j = *seen[i] == 'E' ? 1 : *seen[i] == 'N' ? 10000 : i; j < i; j++)
			if (!strcmp(seen[i], seen[j]))
				fail_msg("%d and %d are both %s", i, j, seen[i]);
	}
}

TEST(every_name_fits_whole)
{
	char name[128];

	for (int i = 0; i < 11000; i++) {
		nfs_status_name(-i, name, sizeof(name));
		assert_true(strlen(name) < RPC_STATUS_LEN);
		assert_true(strlen(name) < sizeof(((struct rpc_error *)0)->status));
	}
}
/* Of a call that waits for long: its op, and the process that made it, if that still runs. */
TEST(the_oldest_call_is_named_with_its_process)
{
	const uint64_t now = monotonic_ns() + 100 * NAMED_AGE_NS;
	struct rpc_server_state server = {};

	rpc_name_oldest(&server, now, now - NAMED_AGE_NS + 1, "READ", (uint32_t)getpid());
	assert_string_equal(server.oldest_op, "");
	rpc_name_oldest(&server, now, now - NAMED_AGE_NS, "READ", (uint32_t)getpid());
	assert_printed(formatted("READ %d test_rpc_series", getpid()), "%s %u %s", server.oldest_op,
		       server.oldest_pid, server.oldest_comm);
}

static const struct rpc_series *table_of(size_t values)
{
	assert_int_equal(values, COUNT(table));
	return table;
}

static struct {
	struct rpc_error_key key;
	struct rpc_error_count value;
} errors[] = { { { .series = 2, .status = -5 }, { .count = 3, .order = 9, .share = 7 } },
	       { { .series = 3, .status = -13 }, { .count = 4, .order = 1 } },
	       { { .series = 1, .status = -5 }, { .count = 5, .order = 8, .share = 6 } },
	       { { .series = 0, .status = -28 }, { .count = 6, .order = 7 } } };

static const char *server_name(const void *context, uint32_t server)
{
	return server < 2 ? ((const char *const *)context)[server] : LABEL_OTHER;
}

/* Server 1 is newer than the reading: what it has counted waits for the next one. */
TEST(a_reading_has_the_ops_of_the_servers_that_it_knows)
{
	static const char *servers[] = { "nas-1", "" };
	const struct rpc_names names = { .server = server_name, .context = servers };
	struct calls calls = {};
	struct rpc_error *e;

	for (size_t i = 0; i < COUNT(table); i++) {
		table[i].started = table[i].finished = i;
		table[i].total[7] = i;
		table[i].sent_bytes = 10 * i;
	}
	MAKE_UP_MAP(errors, key, value);
	reader.shards = 2;
	reader.maps.series_info = (void *)1;
	assert_int_equal(rpc_series_read(&reader, 3, &names, &calls), 0);
	assert_int_equal(calls.op_count, 2);
	assert_printed("nas-1 READ 9 90", "%s %s %lu %lu", calls.ops[0].server, calls.ops[0].op,
		       calls.ops[0].total.bucket[7], calls.ops[0].sent_bytes);
	assert_printed("other other 1 10", "%s %s %lu %lu", calls.ops[1].server, calls.ops[1].op,
		       calls.ops[1].total.bucket[7], calls.ops[1].sent_bytes);
	assert_int_equal(calls.error_count, 2);
	e = calls.errors;
	assert_printed("other other ENOSPC 6 0", "%s %s %s %lu %u", e->server, e->op, e->status,
		       e->count, e->share);
	assert_printed("nas-1 READ EIO 3 7", "%s %s %s %lu %u", e[1].server, e[1].op, e[1].status,
		       e[1].count, e[1].share);
	assert_null(reader.series);
	calls_free(&calls);
}
