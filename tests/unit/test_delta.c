// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves the difference between two snapshots: a counter that fell began again, together with the others of its
 * entry. */
#include "unit.h"
#include "session/session.h"
#include "snapshot.h"

BEFORE_EACH()
{
	before.time_ns = 100 * SECOND;
	now.time_ns = 110 * SECOND;
}

/* The calls of an op, each of a millisecond. */
static void set_op(struct snapshot *s, const char *name, uint64_t calls, uint64_t bytes)
{
	struct rpc_op *o = not_null(snapshot_op(&s->calls, "nas", name));

	o->total.bucket[40] = calls;
	o->total.sum_ns = calls * SECOND / 1000;
	o->phase[RPC_PHASE_RTT] = o->total;
	o->sent_bytes = bytes;
}

static void assert_op(size_t at, const char *name, uint64_t calls, uint64_t bytes)
{
	const struct rpc_op *o = &d.calls.ops[at];

	assert_true(at < d.calls.op_count);
	assert_printed(formatted("%s %lu %lu %lu %lu", name, calls, calls * MS, calls * MS, bytes),
		       "%s %lu %lu %lu %lu", o->op, time_histogram_count(&o->total),
		       o->total.sum_ns, o->phase[RPC_PHASE_RTT].sum_ns, o->sent_bytes);
}

TEST(what_has_changed_is_the_difference_wherever_it_is)
{
	set_op(&before, "READ", 10, 100);
	set_op(&before, "IDLE", 10, 100);
	set_op(&before, "GONE", 10, 100);
	set_op(&before, "WRITE", 10, 100);
	set_op(&now, "WRITE", 15, 101);
	set_op(&now, "IDLE", 10, 100);
	set_op(&now, "NEW", 7, 70);
	set_op(&now, "READ", 11, 100);
	subtract();
	assert_int_equal(d.ns, 10 * SECOND);
	assert_int_equal(d.calls.op_count, 3);
	assert_op(0, "WRITE", 5, 1);
	assert_op(1, "NEW", 7, 70);
	assert_op(2, "READ", 1, 0);
}

/* The source mountstats has no distribution, and short calls no time. */
TEST(calls_count_without_their_times)
{
	set_op(&before, "READ", 10, 0);
	set_op(&now, "READ", 10, 0);
	now.calls.ops[0].total.bucket[0] = 3;
	now.calls.ops[0].total.bucket[TIME_OVERFLOW] = 4;
	subtract();
	assert_int_equal(time_histogram_count(&d.calls.ops[0].total), 7);
}

TEST(without_a_snapshot_at_the_begin_there_is_no_difference)
{
	before.time_ns = 0;
	set_op(&now, "READ", 10, 100);
	subtract();
	assert_int_equal(d.calls.op_count, 0);
	assert_int_equal(d.ns, 0);
	assert_ptr_equal(d.end, &now);
}

/* Fewer calls with more bytes, or more calls with fewer bytes: both began again. */
TEST(the_counters_of_an_entry_begin_again_together)
{
	set_op(&before, "READ", 10, 100);
	set_op(&before, "WRITE", 10, 100);
	set_op(&now, "READ", 4, 300);
	set_op(&now, "WRITE", 12, 3);
	subtract();
	assert_op(0, "READ", 4, 300);
	assert_op(1, "WRITE", 12, 3);
}

TEST(other_entries_follow_the_same_rule)
{
	const struct fault xid = { .device = "0000:c1:00.0", .code = 79, .severity = "fatal" };

	for (int i = 0; i < 2; i++) {
		struct snapshot *s = i ? &now : &before;

		snapshot_error(&s->calls, "nas", "READ", "EIO")->count = i ? 3 : 9;
		snapshot_server(&s->calls, "nas")->credentials_ns = i ? 5 : 8;
		s->calls.servers[0].depth[RPC_QUEUE_PENDING].sum = i ? 100 : 7;
		snapshot_fault(&s->faults, &xid)->count = i ? 1 : 2;
		snapshot_kernel_event(&s->faults, false, "oom_kill", "")->count = i ? 4 : 6;
		s->calls.cpu_waiting_ns = i ? 9 : 5;
	}
	subtract();
	assert_printed("3 5 100 1 4 4", "%lu %lu %lu %lu %lu %lu", d.calls.errors[0].count,
		       d.calls.servers[0].credentials_ns,
		       d.calls.servers[0].depth[RPC_QUEUE_PENDING].sum, d.faults.faults[0].count,
		       d.faults.kernel_events[0].count, d.cpu_waiting_ns);
	before.calls.cpu_waiting_ns = 0;
	subtract();
	assert_int_equal(d.cpu_waiting_ns, 0);
}

TEST(tcps_counters_begin_again_alone)
{
	static const struct {
		uint64_t retransmits, segments, lost;
		const char *expected; /* differences, in that order */
	} cases[] = {
		{ 12, 1500, 30, "2 500 10" },
		{ 12, 400, 25, "2 400 25" }, /* a new connection */
		{ 3, 1500, 30, "3 500 10" }, /* a new observation */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		for (int n = 0; n < 2; n++) {
			struct rpc_transport_state *t =
				snapshot_transport(n ? &now.calls : &before.calls, "nas", "tcp/0");

			t->retransmits = n ? cases[i].retransmits : 10;
			t->segments = n ? cases[i].segments : 1000;
			t->segments_lost = n ? cases[i].lost : 20;
		}
		subtract();
		assert_printed(cases[i].expected, "%lu %lu %lu", d.calls.transports[0].retransmits,
			       d.calls.transports[0].segments, d.calls.transports[0].segments_lost);
	}
	/* What came before a connection was first seen. */
	snapshot_transport(&now.calls, "nas", "tcp/1")->segments = 700;
	snapshot_transport(&now.calls, "nas", "tcp/1")->retransmits = 7;
	snapshot_transport(&now.calls, "nas", "tcp/1")->connects = 2;
	snapshot_transport(&before.calls, "nas", "tcp/0")->connects = 1;
	snapshot_transport(&now.calls, "nas", "tcp/0")->connects = 3;
	subtract();
	assert_printed("2 0 7 0 2", "%zu %lu %lu %lu %lu", d.calls.transport_count,
		       d.calls.transports[1].segments, d.calls.transports[1].retransmits,
		       d.calls.transports[1].connects, d.calls.transports[0].connects);
}

/* 1,000 READs by one source, 1,200 by the next: none of its counts is lower, but all of them are new. */
TEST(all_counts_of_another_source_are_new)
{
	struct session t = {};
	uint64_t calls = 0;

	set_op(&before, "READ", 1000, 100);
	before.calls.source_number = 1;
	snapshot_transport(&before.calls, "nas", "tcp/0")->retransmits = 3;
	set_op(&now, "READ", 1200, 150);
	now.calls.source = RPC_SOURCE_BTF;
	now.calls.source_number = 2;
	snapshot_transport(&now.calls, "nas", "tcp/0")->retransmits = 5;
	snapshot_transport(&now.calls, "nas", "tcp/0")->segments = 7; /* of the connection */
	subtract();
	assert_op(0, "READ", 1200, 150);
	assert_printed("5 0", "%lu %lu", d.calls.transports[0].retransmits,
		       d.calls.transports[0].segments);
	/* The sum of the differences is what all sources have counted. */
	snapshot_server(&before.calls, "nas");
	snapshot_server(&now.calls, "nas");
	for (uint64_t i = 0; i < 3; i++) {
		struct snapshot s = { .time_ns = (90 + i) * SECOND, .calls.source_number = 1 };

		snapshot_server(&s.calls, "nas");
		if (i)
			set_op(&s, "READ", i == 2 ? 1000 : 10, 0);
		assert_int_equal(session_add(&t, &s), 0);
		calls += i ? time_histogram_count(&t.interval.calls.ops[0].total) : 0;
	}
	assert_int_equal(session_add(&t, &now), 0);
	calls += time_histogram_count(&t.interval.calls.ops[0].total);
	assert_int_equal(calls, 1000 + 1200);
	assert_int_equal(t.servers[0].sums.calls, calls);
	assert_printed("1 source btf", "%zu %s %s", t.event_count,
		       session_event_names[t.events[0].kind], t.events[0].name);
	session_free(&t);
}

/* A server whose counters begin again within the session: 400 calls with 300 MB, 6 s without a slot. */
TEST(a_session_adds_the_events_of_its_intervals)
{
	struct session t = {};
	const struct session_point *sums;

	for (uint64_t turn = 0; turn < 3; turn++) {
		struct snapshot s = { .time_ns = (1 + turn) * SECOND };
		struct rpc_transport_state *c = snapshot_transport(&s.calls, "nas", "tcp/0");

		snapshot_server(&s.calls, "nas");
		c->retransmits = 10 * turn;
		c->timeouts = 20 * turn;
		c->disconnects = 30 * turn;
		c->connects = 40 * turn;
		assert_int_equal(session_add(&t, &s), 0);
	}
	sums = &t.servers[0].sums;
	assert_printed("20 40 60 80", "%lu %lu %lu %lu", sums->retransmits, sums->timeouts,
		       sums->disconnects, sums->connects);
	session_free(&t);
}
