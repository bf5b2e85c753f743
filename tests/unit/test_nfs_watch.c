// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that stalls and saturated limits are reported once when they begin and once when they end. */
#include "unit.h"
#include "limits/nfs_watch.h"

static struct nfs_span spans[64];
static size_t span_count;
static struct snapshot before;

static void begin(void)
{
	span_count = 0;
	snapshot_free(&before);
	before = (struct snapshot){};
}

static void on_span(void *context, const struct nfs_span *span)
{
	(void)context;
	assert_true(span_count < COUNT(spans));
	spans[span_count++] = *span;
}

/* A snapshot at @seconds of one server. */
static void add(struct nfs_watch *w, uint64_t seconds, double oldest, double saturated,
		uint64_t unknown)
{
	struct snapshot s = { .time_ns = seconds * SECOND, .calls.unknown = unknown };
	struct delta d = {};
	struct rpc_server_state *v = snapshot_server(&s.calls, "nfs1");
	struct rpc_transport_state *t = snapshot_transport(&s.calls, "nfs1", "tcp/0");

	assert_true(v && t);
	v->oldest_ns[RPC_QUEUE_PENDING] = (uint64_t)(oldest * 1e9);
	t->saturated_ns[RPC_LIMIT_SLOT] = (uint64_t)(saturated * 1e9);
	assert_int_equal(delta_make(&d, &before, &s), 0);
	nfs_watch_add(w, &d, on_span, NULL);
	delta_free(&d);
	snapshot_free(&before);
	before = s;
}

TEST(a_stall_is_reported_twice)
{
	struct nfs_watch w = {};

	begin();
	add(&w, 100, 9.9, 0, 0);
	assert_int_equal(span_count, 0);
	add(&w, 115, 24.9, 0, 0);
	add(&w, 130, 39.9, 0, 0);
	assert_int_equal(span_count, 1);
	assert_string_equal(spans[0].kind, "nfs_stall");
	assert_string_equal(spans[0].name, "pending");
	assert_string_equal(spans[0].server, "nfs1");
	assert_int_equal(spans[0].begin_ns / SECOND, 90);
	assert_int_equal(spans[0].end_ns, 0);
	add(&w, 145, 2, 0, 0);
	add(&w, 160, 2, 0, 0);
	assert_int_equal(span_count, 2);
	assert_int_equal(spans[1].begin_ns, spans[0].begin_ns);
	assert_int_equal(spans[1].end_ns / SECOND, 145);
	nfs_watch_free(&w);
	begin();
}

TEST(a_limit_that_is_reached_again_and_again_is_one)
{
	struct nfs_watch w = {};

	begin();
	add(&w, 100, 0, 50, 0); /* what was before the first snapshot counts for nothing */
	add(&w, 110, 0, 54, 0);
	assert_int_equal(span_count, 0);
	add(&w, 120, 0, 60, 0);
	assert_int_equal(span_count, 1);
	assert_string_equal(spans[0].kind, "nfs_saturation");
	assert_string_equal(spans[0].name, "slot");
	assert_int_equal(spans[0].begin_ns / SECOND, 110);
	add(&w, 130, 0, 61, 0);
	add(&w, 170, 0, 75, 0);
	add(&w, 180, 0, 75, 0);
	add(&w, 229, 0, 75, 0);
	assert_int_equal(span_count, 1);
	add(&w, 231, 0, 75, 0);
	assert_int_equal(span_count, 2);
	assert_int_equal(spans[1].end_ns / SECOND, 170);
	nfs_watch_free(&w);
	begin();
}

TEST(what_is_not_measured_is_not_saturated)
{
	struct nfs_watch w = {};

	begin();
	add(&w, 100, 0, 0, RPC_ALL_FACTS);
	add(&w, 110, 0, 10, RPC_ALL_FACTS);
	assert_int_equal(span_count, 0);
	/* The counts of another source begin again: what it has counted is of this interval. */
	add(&w, 120, 0, 4.9, 0);
	assert_int_equal(span_count, 0);
	add(&w, 130, 0, 0, 0);
	add(&w, 140, 0, 20, 0);
	add(&w, 150, 0, 5, 0);
	assert_int_equal(span_count, 1);
	nfs_watch_free(&w);
	begin();
}
