// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves what the verdict says of limits above the calls: readahead, dirty pages, syncs, attributes. */
#include "unit.h"
#include "limits/verdict.h"
#include "snapshot.h"

#define SERVER "nas"
#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* In one second: calls that take so long each, and their bytes. */
static void add(const char *op, uint64_t calls, uint64_t ns, uint64_t bytes)
{
	struct rpc_op *o = snapshot_op(&now.calls, SERVER, op);
	struct rpc_server_state *s = snapshot_server(&now.calls, SERVER);
	struct mount_calls *m = snapshot_mount_calls(&now.calls, SERVER, "/x", "/mnt");

	assert_true(o && s && m);
	histogram_record(&o->total, calls, ns);
	for (int p = 0; p < RPC_PHASES; p++)
		histogram_record(&o->phase[p], calls, p == RPC_PHASE_RTT ? ns : 0);
	o->received_bytes += calls * bytes;
	m->sums.calls[rpc_kind_of(op)] += calls;
	m->sums.total_ns[rpc_kind_of(op)] += calls * ns;
	s->depth[RPC_QUEUE_PENDING].bucket[0] += calls;
	s->depth[RPC_QUEUE_PENDING].sum += calls * (calls * ns / SECOND);
}

static struct nfs_mount *mount(void)
{
	static const struct nfs_mount like = { .server = SERVER,
					       .export = "/x",
					       .mountpoint = "/mnt" };
	struct nfs_mount *m = snapshot_mount(&now.calls, &like);

	assert_non_null(m);
	return m;
}

static void read_ahead(uint64_t set, uint64_t window)
{
	mount()->readahead_known = true;
	mount()->readahead_bytes = set;
	mount()->window_bytes = window;
}

static struct verdict judge(void)
{
	struct limit_sums sums = {};
	struct delta d = {};
	struct verdict v;

	before.time_ns = 1;
	now.time_ns = 1 + SECOND;
	assert_int_equal(delta_make(&d, &before, &now), 0);
	assert_int_equal(limit_sums_add(&sums, &d), 0);
	v = verdict_of(&sums, SERVER);
	delta_free(&d);
	limit_sums_free(&sums);
	return v;
}

static struct verdict expect(enum bound bound, enum confidence confidence)
{
	struct verdict v = judge();

	assert_string_equal(bound_names[v.bound_by], bound_names[bound]);
	assert_int_equal(v.confidence, confidence);
	return v;
}

TEST(a_buffered_reader_with_two_windows_in_flight_is_limited_by_readahead)
{
	struct verdict v;

	add("READ", 400, 5 * MS, 128 * KIB); /* two at once */
	read_ahead(128 * KIB, 128 * KIB);
	v = expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(v.setting, "read_ahead_kb");
	assert_string_equal(v.value, "512");
	assert_string_equal(v.mountpoint, "/mnt");
	assert_false(v.remount);
	assert_true(v.gain_expected == 0 && v.gain_at_most == 4);
	mount()->window_bytes = 256 * KIB; /* half of it is in flight, as after posix_fadvise() */
	assert_true(expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM).gain_at_most == 8);
	mount()->window_bytes = 128 * KIB;
	/* A slow server makes no difference. */
	add("READ", 40, 50 * MS, 128 * KIB);
	expect(BOUND_READAHEAD, CONFIDENCE_LOW); /* four at once: several readers */
}

TEST(a_reader_that_does_not_wait_or_is_direct_or_reads_at_random_is_not)
{
	add("READ", 100, 5 * MS, 128 * KIB); /* half a window */
	read_ahead(128 * KIB, 128 * KIB);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	add("READ", 280, 5 * MS, 128 * KIB);
	expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	mount()->window_bytes = 0;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	mount()->window_bytes = 64 * KIB;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
	read_ahead(128 * KIB, 128 * KIB);
	mount()->readahead_known = false;
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM);
}

TEST(more_readahead_than_16_mib_is_not_proposed)
{
	struct verdict v;

	add("READ", 500, 50 * MS, MIB);
	read_ahead(8 * MIB, 15 * MIB); /* posix_fadvise() doubles it */
	v = expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(v.value, "16384");
	assert_true(v.gain_at_most > 2.3 && v.gain_at_most < 2.5);
	read_ahead(16 * MIB, 15 * MIB);
	v = expect(BOUND_READAHEAD, CONFIDENCE_MEDIUM);
	assert_string_equal(v.setting, "");
	assert_non_null(strstr(v.sentence, "More would hurt"));
}

TEST(dirty_pages_at_a_limit_that_is_in_flight_are_writeback)
{
	struct verdict v;

	add("WRITE", 100, 50 * MS, MIB); /* 5 MiB in flight */
	now.calls.dirty_limit_bytes = 16 * MIB;
	now.calls.dirty_bytes = 12 * MIB;
	v = expect(BOUND_WRITEBACK, CONFIDENCE_MEDIUM);
	assert_string_equal(v.setting, "vm.dirty_bytes");
	assert_string_equal(v.value, "67108864");
	assert_true(v.gain_expected == 0 && v.gain_at_most == 4);
	mount()->direct_writes = true;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
	mount()->direct_writes = false;
	now.calls.dirty_bytes = 4 * MIB;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
	now.calls.dirty_limit_bytes = 1024 * MIB; /* a writer faster than the server */
	now.calls.dirty_bytes = 1000 * MIB;
	expect(BOUND_SERVER, CONFIDENCE_MEDIUM);
}

TEST(one_sync_after_the_other_is_writeback)
{
	add("WRITE", 50, 5 * MS, 64 * KIB);
	expect(BOUND_APPLICATION, CONFIDENCE_MEDIUM); /* of which mount is not known */
	assert_false(mount()->direct_writes);
	add("COMMIT", 50, 12 * MS, 0);
	assert_string_equal(expect(BOUND_WRITEBACK, CONFIDENCE_MEDIUM).setting, "");
	add("WRITE", 250, 5 * MS, 64 * KIB); /* more than one at once */
	expect(BOUND_SERVER, CONFIDENCE_LOW);
}

TEST(calls_for_attributes_are_metadata)
{
	struct verdict v;

	add("GETATTR", 500, MS, 100);
	add("LOOKUP", 300, MS, 100);
	add("READ", 20, 10 * MS, 100);
	strcpy(mount()->options[NFS_AC], "3,60,30,60");
	strcpy(mount()->options[NFS_LOOKUPCACHE], "all");
	v = expect(BOUND_METADATA, CONFIDENCE_HIGH);
	assert_string_equal(v.setting, "nocto,actimeo");
	assert_string_equal(v.value, "600");
	assert_true(v.remount && v.gain_at_most == 0);
	strcpy(mount()->options[NFS_AC], "600,600,600,600");
	assert_string_equal(expect(BOUND_METADATA, CONFIDENCE_HIGH).setting, "");
	strcpy(mount()->options[NFS_AC], "noac");
	assert_string_equal(expect(BOUND_METADATA, CONFIDENCE_HIGH).setting, "ac,nocto,actimeo");
	add("LOOKUP", 400, MS, 100);
	strcpy(mount()->options[NFS_LOOKUPCACHE], "none");
	assert_string_equal(expect(BOUND_METADATA, CONFIDENCE_HIGH).value, "all");
	add("READ", 100, 10 * MS, 100);
	expect(BOUND_SERVER, CONFIDENCE_LOW);
	add("OPEN", 2000, MS, 100); /* attributes are less than half of it */
	assert_string_equal(expect(BOUND_METADATA, CONFIDENCE_HIGH).setting, "");
}
