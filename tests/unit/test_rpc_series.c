// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Proves that a series can be read while a call is being recorded: no bucket falls from one reading to the next, and
 * every phase counts every call that has been recorded. */
#include <pthread.h>
#include <unistd.h>

#include "unit.h"
#include "rpc/rpc_series.h"

#define SLOT RPC_PHASE_SLOT

static struct rpc_series series;
static struct rpc_series_reader reader;
static struct rpc_op before;

BEFORE_EACH()
{
	series = (struct rpc_series){};
	before = (struct rpc_op){};
	assert_int_equal(rpc_series_open(&reader, 1), 0);
	reader.series = &series;
}

AFTER_EACH()
{
	free(reader.copy);
	free(reader.without);
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

	reader.pauses_left = 500;
	call(0);
	begin();
	assert_int_equal(pthread_create(&program, NULL, go_on, NULL), 0);
	op = read_series();
	pthread_join(program, NULL);
	assert_int_equal(op.phase[SLOT].bucket[0], 1);
	assert_int_equal(time_histogram_count(&op.phase[SLOT]), 2);
	assert_int_equal(reader.copy->started, reader.copy->finished);
	assert_true(reader.pauses_left > 0);
}

TEST(waits_no_longer_than_allowed)
{
	reader.pauses_left = 2;
	begin();
	read_series();
	assert_int_equal(reader.pauses_left, 0);
}
